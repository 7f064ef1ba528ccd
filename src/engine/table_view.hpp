// What a table's columns are in its file, and the SQL that makes them the policy's.
#pragma once

#include "engine/duckdb_connection.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/rows_manifest.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace shoal::engine {

struct StoredColumn {
  std::string name;
  std::string type;  // the engine's
};

// Every field of a CSV file is text. Throws conflict if it has no header line.
std::vector<StoredColumn> csv_columns(const catalog::Table& table,
                                      const std::filesystem::path& path);
// Throws DuckdbFailure.
std::vector<StoredColumn> parquet_columns(DuckdbConnection& connection,
                                          const std::filesystem::path& path);

// Every column of the policy is in the file, once and with its type. Throws conflict.
void require_schema(const catalog::Table& table, const std::vector<StoredColumn>& columns);

// Whether a column of a file needs no conversion to be the policy's.
bool is_as_stored(const catalog::Column& column, const StoredColumn& in_file);

// The policy's columns as a SELECT list over the file's, in the file's order: NULL for what does
// not convert, and for NaN. Needs shoal_number (number_function.hpp). Throws conflict if the file
// does not have the policy's schema.
std::string converted_columns(const catalog::Policy& policy, const catalog::Table& table,
                              const std::vector<StoredColumn>& columns);

// CREATE VIEW under the table's name, over settled rows.
std::string view_sql(const catalog::Policy& policy, const catalog::Table& table,
                     catalog::SettledKind kind, const std::filesystem::path& path,
                     const std::vector<StoredColumn>& columns);

}  // namespace shoal::engine
