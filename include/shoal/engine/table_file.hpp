// Writes a small public table, such as an answer, as a Parquet file. Nothing private comes here:
// the values are released ones.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace shoal::engine {

// Dates and timestamps are texts; the first is NULL.
using FileValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct FileColumn {
  std::string name;
  catalog::ColumnType type = catalog::ColumnType::text;
  std::vector<FileValue> values;
};

// Throws invalid_argument for no columns, for columns of different lengths and for names that are
// the same.
void check_columns(const std::vector<FileColumn>& columns);

// Columns of one length, in this order, rows in theirs; `note` goes into the file's metadata under
// the key "shoal". A value that its column's type cannot hold is NULL. The file appears whole or
// not at all. Throws as check_columns does, conflict if it exists, io if it cannot be written.
void write_parquet(const std::filesystem::path& path, const std::vector<FileColumn>& columns,
                   const std::string& note);

}  // namespace shoal::engine
