// Opening a ledger on a PostgreSQL server.
#pragma once

#include "ledger/postgres.hpp"

#include <string>

namespace shoal::ledger {

// Throws invalid_argument unless the schema has a plain name: it is written into statements.
void check_schema_name(const std::string& schema);

// Leaves the connection with the settings that durability rests on, and the schema with the tables
// of a ledger. Throws corrupt, io, unavailable or not_found.
void open_server_ledger(ServerConnection& connection, const std::string& schema,
                        const Options& options);

}  // namespace shoal::ledger
