#include "engine/source.hpp"

#include <shoal/base/file.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <utility>

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

namespace {

// A header longer than this is none.
constexpr std::size_t kMaxHeaderBytes = 1 << 20;

// A buffer holds the four longest lines that are read, and no more: each file takes one, however
// small it is, and a join reads several.
std::string csv_options(const catalog::CsvFormat& format) {
  const std::string quote = quoted(std::string(1, format.quote));
  return fmt::format(
      "delim = {}, quote = {}, escape = {}, auto_detect = false, strict_mode = false, null_padding "
      "= true, "
      "ignore_errors = true, max_line_size = 16777216, buffer_size = 67108864, store_rejects = "
      "false, nullstr = ''",
      quoted(std::string(1, format.delimiter)), quote, quote);
}

}  // namespace

std::string csv_source(const std::filesystem::path& path, const catalog::CsvFormat& format,
                       const std::vector<std::string>& columns) {
  std::string types;
  for (const std::string& column : columns) {
    types += fmt::format("{}{}: 'VARCHAR'", types.empty() ? "" : ", ", quoted(column));
  }
  return fmt::format("read_csv({}, header = true, columns = {{{}}}, {})", quoted(path.string()),
                     types, csv_options(format));
}

std::string parquet_source(const std::filesystem::path& path) {
  return fmt::format("read_parquet({}, hive_partitioning = false)", quoted(path.string()));
}

std::vector<std::string> read_csv_header(const std::filesystem::path& path,
                                         const catalog::CsvFormat& format) {
  std::string head = read_file_head(path, kMaxHeaderBytes);
  if (head.starts_with("\xEF\xBB\xBF")) head.erase(0, 3);
  std::vector<std::string> names;
  std::string field;
  bool quoted_field = false;
  for (std::size_t at = 0; at < head.size(); ++at) {
    const char c = head[at];
    if (quoted_field) {
      if (c != format.quote) {
        field += c;
      } else if (at + 1 < head.size() && head[at + 1] == format.quote) {
        field += head[++at];
      } else {
        quoted_field = false;
      }
    } else if (c == format.quote && field.empty()) {
      quoted_field = true;
    } else if (c == format.delimiter) {
      names.push_back(std::exchange(field, {}));
    } else if (c == '\n' || c == '\r') {
      break;
    } else {
      field += c;
    }
  }
  if (!field.empty() || !names.empty()) names.push_back(field);
  return names;
}

}  // namespace shoal::engine
