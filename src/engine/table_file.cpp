// Rows go into an in-memory database as they are, and out through COPY in the columns' types.
#include "engine/duckdb_connection.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/temporary_file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/table_file.hpp>
#include <shoal/sql/printer.hpp>

#include <duckdb.h>
#include <fmt/format.h>

#include <set>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

// What a value is stored as before COPY casts it: texts that are no date become NULL there.
const char* stored_type(ColumnType type) {
  switch (type) {
    case ColumnType::integer:
      return "BIGINT";
    case ColumnType::real:
      return "DOUBLE";
    case ColumnType::boolean:
      return "BOOLEAN";
    default:
      return "VARCHAR";
  }
}

const char* written_type(ColumnType type) {
  if (type == ColumnType::date) return "DATE";
  if (type == ColumnType::timestamp) return "TIMESTAMP";
  return stored_type(type);
}

class Appender {
 public:
  explicit Appender(const DuckdbConnection& connection) {
    check(duckdb_appender_create(connection.handle(), nullptr, "t", &appender_));
  }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;
  ~Appender() { duckdb_appender_destroy(&appender_); }

  void add(std::int64_t value) { check(duckdb_append_int64(appender_, value)); }

  void add(const FileValue& value, ColumnType type) {
    if (const auto* flag = std::get_if<bool>(&value); flag && type == ColumnType::boolean) {
      return check(duckdb_append_bool(appender_, *flag));
    }
    if (const auto* whole = std::get_if<std::int64_t>(&value); whole && catalog::is_numeric(type)) {
      return type == ColumnType::integer
                 ? add(*whole)
                 : check(duckdb_append_double(appender_, static_cast<double>(*whole)));
    }
    if (const auto* real = std::get_if<double>(&value); real && type == ColumnType::real) {
      return check(duckdb_append_double(appender_, *real));
    }
    if (const auto* text = std::get_if<std::string>(&value);
        text && std::string_view(stored_type(type)) == "VARCHAR") {
      return check(duckdb_append_varchar_length(appender_, text->data(), text->size()));
    }
    check(duckdb_append_null(appender_));
  }

  void end_row() { check(duckdb_appender_end_row(appender_)); }
  void finish() { check(duckdb_appender_close(appender_)); }

 private:
  void check(duckdb_state state) {
    if (state == DuckDBSuccess) return;
    const char* details = duckdb_appender_error(appender_);
    throw DuckdbFailure(details ? details : "a row cannot be added");
  }

  duckdb_appender appender_ = nullptr;
};

void fill(DuckdbConnection& connection, const std::vector<FileColumn>& columns) {
  std::string types = "i BIGINT";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    types += fmt::format(", c{} {}", i, stored_type(columns[i].type));
  }
  connection.run("CREATE TABLE t (" + types + ")");
  Appender appender(connection);
  for (std::size_t row = 0; row < columns.front().values.size(); ++row) {
    appender.add(static_cast<std::int64_t>(row));
    for (const FileColumn& column : columns) appender.add(column.values[row], column.type);
    appender.end_row();
  }
  appender.finish();
}

std::string copy_sql(const std::vector<FileColumn>& columns, const std::filesystem::path& path,
                     const std::string& note) {
  std::string items;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    items += fmt::format("{}TRY_CAST(c{} AS {}) AS {}", i == 0 ? "" : ", ", i,
                         written_type(columns[i].type),
                         sql::quote_identifier(columns[i].name, sql::Dialect::duckdb));
  }
  return fmt::format(
      "COPY (SELECT {} FROM t ORDER BY i) TO {} (FORMAT parquet, USE_TMP_FILE false, KV_METADATA "
      "{{shoal: "
      "{}}})",
      items, sql::quote_string(path.string(), sql::Dialect::duckdb),
      sql::quote_string(note, sql::Dialect::duckdb));
}

}  // namespace

void check_columns(const std::vector<FileColumn>& columns) {
  if (columns.empty()) {
    throw Error(ErrorCode::invalid_argument, "a file needs at least one column");
  }
  std::set<std::string> names;
  for (const FileColumn& column : columns) {
    if (column.values.size() != columns.front().values.size()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("column {} has {} values and the first one {}; all need as many",
                              printable(column.name, 60), column.values.size(),
                              columns.front().values.size()));
    }
    if (!names.insert(to_lower(column.name)).second) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("two columns of the file are called {}; give one of them another "
                              "name with AS",
                              printable(column.name, 60)));
    }
  }
}

void write_parquet(const std::filesystem::path& path, const std::vector<FileColumn>& columns,
                   const std::string& note) {
  check_columns(columns);
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    throw Error(ErrorCode::conflict,
                fmt::format("{} exists already; remove it or choose another name",
                            printable(path.string(), 200)));
  }
  TemporaryFile partial(path, Readers::usual);
  try {
    DuckdbConnection connection;
    connection.run("SET threads = 1");
    connection.run("SET preserve_insertion_order = true");
    fill(connection, columns);
    connection.run(copy_sql(columns, partial.path(), note));
  } catch (const DuckdbFailure& failure) {
    throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", printable(path.string(), 200),
                                           printable(failure.details(), 300)));
  }
  partial.take_name(IfExists::refuse);
}

}  // namespace shoal::engine
