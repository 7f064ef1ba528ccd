// Writes a table where a policy finds it, and the policy.
#pragma once

#include "neighbors/table_pair.hpp"

#include <filesystem>
#include <string>

namespace shoal::test {

// The policy of generated tables: people.toml in the folder, its data people.csv or
// people.parquet there or public.people on the server; beside it places.csv, which is public.
// Rows are not reread, so it can be written again over other rows.
void write_policy(const Setting& setting, const std::filesystem::path& folder);

// A file beside its policy. Runs the data engine for Parquet.
void write_table_file(const Setting& setting, const Rows& rows,
                      const std::filesystem::path& folder);

// The table of the test's own server.
void fill_server_table(const Setting& setting, const Rows& rows);

}  // namespace shoal::test
