#include "engine/source.hpp"

#include "engine/csv_rows.hpp"

#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

namespace shoal::engine {

using catalog::ColumnType;

std::string quoted(const std::string& text) {
  return sql::quote_string(text, sql::Dialect::duckdb);
}

std::string identifier(const std::string& name) {
  return sql::quote_identifier(name, sql::Dialect::duckdb);
}

std::string engine_type(ColumnType type) {
  switch (type) {
    case ColumnType::integer:
      return "BIGINT";
    case ColumnType::real:
      return "DOUBLE";
    case ColumnType::boolean:
      return "BOOLEAN";
    case ColumnType::date:
      return "DATE";
    case ColumnType::timestamp:
      return "TIMESTAMP";
    case ColumnType::text:
    case ColumnType::other:
      break;
  }
  return "VARCHAR";
}

std::string converted_field(const catalog::Column& column, bool tells_people_apart) {
  const std::string name = identifier(column.name);
  const std::string type = engine_type(column.type);
  if (column.trim)
    return fmt::format("NULLIF(trim(CAST({} AS VARCHAR), {}), '')", name, quoted(" \t"));
  if (!tells_people_apart || column.type != ColumnType::integer)
    return fmt::format("TRY_CAST({} AS {})", name, type);
  // No dot and no exponent; 0xe is neither.
  return fmt::format(
      "CASE WHEN NOT contains({0}, '.') AND (contains(lower({0}), 'x') OR NOT contains(lower({0}), "
      "'e')) THEN TRY_CAST({0} AS {1}) END",
      name, type);
}

ColumnType policy_type(const std::string& type) {
  for (const char* name :
       {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}) {
    if (type == name) return ColumnType::integer;
  }
  // Whole numbers beyond 64 bits and decimals are read as real numbers: no conversion of them can
  // fail.
  for (const char* name : {"FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT", "UBIGINT"}) {
    if (type == name) return ColumnType::real;
  }
  if (type.starts_with("DECIMAL")) return ColumnType::real;
  if (type == "VARCHAR" || type.starts_with("ENUM") || type == "UUID") return ColumnType::text;
  if (type == "BOOLEAN") return ColumnType::boolean;
  if (type == "DATE") return ColumnType::date;
  if (type.starts_with("TIMESTAMP")) return ColumnType::timestamp;
  return ColumnType::other;
}

std::string csv_source(const std::filesystem::path& path, const catalog::CsvFormat& format,
                       const std::vector<std::string>& columns, const CsvSourceOptions& options) {
  std::string names;
  for (const std::string& column : columns) names += (names.empty() ? "" : ", ") + quoted(column);
  return fmt::format("shoal_csv({}, {}, {}, {}, [{}], {})", quoted(path.string()),
                     quoted(std::string(1, format.delimiter)), quoted(std::string(1, format.quote)),
                     options.has_header, names, options.row_numbers);
}

std::string parquet_source(const std::filesystem::path& path) {
  return fmt::format("read_parquet({}, hive_partitioning = false)", quoted(path.string()));
}

std::vector<std::string> read_csv_header(const std::filesystem::path& path,
                                         const catalog::CsvFormat& format) {
  return read_csv_names(FileBytes(path), {format.delimiter, format.quote, true, 0});
}

std::vector<std::string> csv_names(const std::filesystem::path& path,
                                   const catalog::CsvFormat& format) {
  return format.header.empty() ? read_csv_header(path, format) : format.header;
}

}  // namespace shoal::engine
