#include "neighbors/table_files.hpp"

#include "support/postgres_server.hpp"

#include <duckdb.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace shoal::test {
namespace {

using Format = catalog::SourceFormat;

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string csv_field(const Cell& cell) {
  if (!cell) return "";
  if (cell->find_first_of(",\"\r\n") == std::string::npos) return *cell;
  std::string text = "\"";
  for (const char c : *cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

std::string csv_text(const Setting& setting, const Rows& rows) {
  std::string text = setting.byte_order_mark ? "\xEF\xBB\xBF" : "";
  text += fmt::format("{}{}", fmt::join(kFields, ","), setting.line_end);
  for (const Row& row : rows) {
    if (row.raw) {
      text += *row.raw;
      continue;
    }
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      text += (i > 0 ? "," : "") + csv_field(row.cells[i]);
    text += setting.line_end;
  }
  if (!setting.last_line_ends && text.ends_with(setting.line_end))
    text.resize(text.size() - setting.line_end.size());
  return text;
}

// On the server and in DuckDB.
std::array<std::string, kFields.size()> typed(const Setting& setting) {
  const bool server = setting.format == Format::postgresql;
  return {"BIGINT",
          "BIGINT",
          setting.numbers_as_decimals ? "NUMERIC" : "DOUBLE PRECISION",
          server ? "TEXT" : "VARCHAR",
          server ? "TEXT" : "VARCHAR",
          "BOOLEAN",
          "DATE",
          setting.milliseconds && !server ? "TIMESTAMP_MS" : "TIMESTAMP",
          "BIGINT",
          server ? "TEXT" : "VARCHAR"};
}

std::string literal(const Cell& cell) {
  if (!cell) return "NULL";
  std::string text = "'";
  for (const char c : *cell) {
    if (c == '\'') text += '\'';
    text += c;
  }
  return text + "'";
}

std::string create_table(const Setting& setting, const std::string& name) {
  std::string columns;
  const auto types = typed(setting);
  for (std::size_t i = 0; i < kFields.size(); ++i)
    columns += fmt::format("{}{} {}", i > 0 ? ", " : "", kFields[i], types[i]);
  return fmt::format("CREATE TABLE {} ({});", name, columns);
}

// What does not convert is NULL in a file, and refused by a server.
std::string insert_rows(const Setting& setting, const std::string& name, const Rows& rows) {
  const auto types = typed(setting);
  std::string text;
  for (const Row& row : rows) {
    std::string values;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const char* cast =
          setting.format == Format::postgresql ? "{}CAST({} AS {})" : "{}TRY_CAST({} AS {})";
      values += fmt::format(fmt::runtime(cast), i > 0 ? ", " : "", literal(row.cells[i]), types[i]);
    }
    text += fmt::format("INSERT INTO {} VALUES ({});", name, values);
  }
  return text;
}

void run_duckdb(const std::string& sql) {
  duckdb_config config = nullptr;
  duckdb_create_config(&config);
  duckdb_set_config(config, "threads", "1");
  duckdb_database database = nullptr;
  if (duckdb_open_ext(nullptr, &database, config, nullptr) != DuckDBSuccess)
    throw std::runtime_error("DuckDB does not open");
  duckdb_destroy_config(&config);
  duckdb_connection connection = nullptr;
  duckdb_connect(database, &connection);
  duckdb_result result;
  const bool good = duckdb_query(connection, sql.c_str(), &result) == DuckDBSuccess;
  const std::string reason = good ? "" : duckdb_result_error(&result);
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  if (!good) throw std::runtime_error(reason + "\n" + sql.substr(0, 500));
}

// DuckDB writes no such text, so its bytes are changed in the file, in pages and statistics alike.
void make_not_utf8(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::string broken(kNotUtf8.size(), '\xFF');
  for (std::size_t at = bytes.find(kNotUtf8); at != std::string::npos; at = bytes.find(kNotUtf8))
    bytes.replace(at, broken.size(), broken);
  write_text(path, bytes);
}

std::string_view source_text(Format format) {
  switch (format) {
    case Format::csv:
      return "source = \"people.csv\"\nformat = \"csv\"\n";
    case Format::parquet:
      return "source = \"people.parquet\"\nformat = \"parquet\"\n";
    case Format::postgresql:
      break;
  }
  return "source = \"public.people\"\nformat = \"postgresql\"\n";
}

}  // namespace

void write_policy(const Setting& setting, const std::filesystem::path& folder) {
  const bool person = setting.unit == catalog::PrivacyUnit::person;
  write_text(folder / "people.toml",
             fmt::format(R"([dataset]
name = "people"
lineage = "people-1"

[privacy]
unit = "{}"
neighbors = "{}"

[budget]
epsilon = 1000
delta = 0.01
ledger = "people.ledger"

[query]
time_steps = 0

[engine]
threads = {}

[table.people]
{}{}
[table.people.column.person]
type = "integer"

[table.people.column.age]
type = "integer"
bounds = [0, 100]

[table.people.column.income]
type = "real"
bounds = [0, 10000]

[table.people.column.sex]
type = "text"
categories = ["m", "f"]

[table.people.column.city]
type = "text"

[table.people.column.member]
type = "boolean"

[table.people.column.born]
type = "date"

[table.people.column.seen]
type = "timestamp"

[table.people.column.y]
type = "integer"
categories = [0, 1, 2]

[table.people.column.note]
type = "text"
)",
                         person ? "person" : "row", to_string(setting.neighbors), setting.threads,
                         source_text(setting.format),
                         person ? "person_column = \"person\"\nmax_rows_per_person = "
                                  "3\nmax_groups_per_person = 2\nmax_rows_per_group = 2\n"
                                : ""));
  if (setting.format == Format::postgresql) return;
  write_text(folder / "places.csv", "city,country\nParis,France\nRome,Italy\nOslo,Norway\n");
  std::ofstream policy(folder / "people.toml", std::ios::app);
  policy << R"(
[table.places]
source = "places.csv"
format = "csv"
public = true

[table.places.column.city]
type = "text"
unique = true

[table.places.column.country]
type = "text"
)";
}

void write_table_file(const Setting& setting, const Rows& rows,
                      const std::filesystem::path& folder) {
  if (setting.format == Format::csv)
    return write_text(folder / "people.csv", csv_text(setting, rows));
  const std::filesystem::path path = folder / "people.parquet";
  std::filesystem::remove(path);
  run_duckdb(
      create_table(setting, "people") + insert_rows(setting, "people", rows) +
      fmt::format("COPY people TO '{}' (FORMAT parquet, COMPRESSION uncompressed)", path.string()));
  make_not_utf8(path);
}

void fill_server_table(const Setting& setting, const Rows& rows) {
  PostgresServer::instance().run("DROP TABLE IF EXISTS public.people;" +
                                 create_table(setting, "public.people") +
                                 insert_rows(setting, "public.people", rows));
}

}  // namespace shoal::test
