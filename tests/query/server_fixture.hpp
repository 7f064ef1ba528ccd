// A fixture's tables moved from CSV files to the test's PostgreSQL server: the same rows, the same
// policy but for where the tables are.
#pragma once

#include "query/query_fixtures.hpp"

namespace shoal::test {

// Makes and fills public.<name> for each file <name>.csv, starting the server if need be. Fields of
// the files hold no commas and no quotes.
void fill_server(const QueryFixture& fixture);

// A policy of the fixture with the tables where fill_server() puts them.
std::string server_policy(std::string policy);

}  // namespace shoal::test
