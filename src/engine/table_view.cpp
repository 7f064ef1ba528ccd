#include "engine/table_view.hpp"

#include "engine/source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::engine {

using catalog::Column;
using catalog::ColumnType;
using catalog::SourceFormat;

namespace {

[[noreturn]] void schema_differs(const catalog::Table& table, const std::string& how) {
  throw Error(
      ErrorCode::conflict,
      fmt::format(
          "the file of table {} does not have the policy's schema: {}; run shoal init again and "
          "compare",
          table.name, how));
}

// The policy's type, NULL for what does not convert, NaN as NULL.
std::string converted_column(const Column& column, const StoredColumn& in_file,
                             bool tells_people_apart) {
  const std::string name = identifier(column.name);
  const std::string value =
      is_as_stored(column, in_file) ? name : converted_field(column, tells_people_apart);
  if (column.type != ColumnType::real) return fmt::format("{} AS {}", value, name);
  return fmt::format("shoal_number({}) AS {}", value, name);
}

}  // namespace

void require_schema(const catalog::Table& table, const std::vector<StoredColumn>& columns) {
  for (const Column& column : table.columns) {
    if (column.type == ColumnType::other) continue;
    const auto named = [&](const StoredColumn& in_file) { return in_file.name == column.name; };
    const auto found = std::find_if(columns.begin(), columns.end(), named);
    if (found == columns.end())
      schema_differs(table, fmt::format("column {} is missing", column.name));
    if (std::count_if(columns.begin(), columns.end(), named) > 1)
      schema_differs(table, fmt::format("column {} is there twice", column.name));
    if (table.format == SourceFormat::parquet && policy_type(found->type) != column.type) {
      schema_differs(table,
                     fmt::format("column {} is {}, the policy says {}", column.name,
                                 to_string(policy_type(found->type)), to_string(column.type)));
    }
  }
}

std::vector<StoredColumn> csv_columns(const catalog::Table& table,
                                      const std::filesystem::path& path) {
  std::vector<StoredColumn> columns;
  for (const std::string& name : csv_names(path, table.csv)) columns.push_back({name, "VARCHAR"});
  if (columns.empty()) schema_differs(table, "it has no header line");
  return columns;
}

std::vector<StoredColumn> parquet_columns(DuckdbConnection& connection,
                                          const std::filesystem::path& path) {
  std::vector<StoredColumn> columns;
  for (const auto& row : connection.rows("DESCRIBE SELECT * FROM " + parquet_source(path)))
    columns.push_back({row.at(0), row.at(1)});
  return columns;
}

bool is_as_stored(const Column& column, const StoredColumn& in_file) {
  if (column.trim) return false;
  return in_file.type == engine_type(column.type) ||
         (column.type == ColumnType::integer && policy_type(in_file.type) == ColumnType::integer);
}

std::string converted_columns(const catalog::Policy& policy, const catalog::Table& table,
                              const std::vector<StoredColumn>& columns) {
  require_schema(table, columns);
  std::string items;
  for (const StoredColumn& in_file : columns) {
    const Column* column = table.find_column(in_file.name, true);
    if (!column || column->type == ColumnType::other) continue;
    items += (items.empty() ? "" : ", ") +
             converted_column(*column, in_file, policy.tells_people_apart(table, column->name));
  }
  return items;
}

std::string view_sql(const catalog::Policy& policy, const catalog::Table& table,
                     catalog::SettledKind kind, const std::filesystem::path& path,
                     const std::vector<StoredColumn>& columns) {
  // A snapshot is converted already, and holds nothing else.
  const std::string items =
      kind == catalog::SettledKind::snapshot ? "*" : converted_columns(policy, table, columns);
  return fmt::format("CREATE VIEW {} AS SELECT {} FROM {}", identifier(table.name), items,
                     parquet_source(path));
}

}  // namespace shoal::engine
