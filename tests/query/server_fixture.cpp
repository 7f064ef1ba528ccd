#include "query/server_fixture.hpp"

#include "support/postgres_server.hpp"

#include <shoal/catalog/policy.hpp>

#include <fmt/format.h>

#include <sstream>

namespace shoal::test {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::string server_type(catalog::ColumnType type) {
  switch (type) {
    case catalog::ColumnType::integer:
      return "BIGINT";
    case catalog::ColumnType::real:
      return "DOUBLE PRECISION";
    case catalog::ColumnType::boolean:
      return "BOOLEAN";
    case catalog::ColumnType::date:
      return "DATE";
    case catalog::ColumnType::timestamp:
      return "TIMESTAMP";
    case catalog::ColumnType::text:
    case catalog::ColumnType::other:
      break;
  }
  return "TEXT";
}

void fill_table(const catalog::Table& table, const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  std::string columns;
  for (const std::string& name : fields_of(line)) {
    columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", name,
                           server_type(table.find_column(name, true)->type));
  }
  std::string rows;
  while (std::getline(lines, line)) {
    std::string row;
    for (const std::string& field : fields_of(line)) {
      row +=
          fmt::format("{}{}", row.empty() ? "" : ", ", field.empty() ? "NULL" : "'" + field + "'");
    }
    rows += fmt::format("{}({})", rows.empty() ? "" : ", ", row);
  }
  PostgresServer::instance().run(
      fmt::format("DROP TABLE IF EXISTS public.{0}; CREATE TABLE public.{0} ({1}); INSERT INTO "
                  "public.{0} VALUES {2}",
                  table.name, columns, rows));
}

}  // namespace

void fill_server(const QueryFixture& fixture) {
  const catalog::Policy policy = catalog::parse_policy(fixture.policy, ".");
  for (const auto& [file, csv] : fixture.files)
    fill_table(*policy.find_table(file.substr(0, file.find('.')), true), csv);
}

std::string server_policy(std::string policy) {
  const std::string file = ".csv\"\nformat = \"csv\"";
  const std::string source = "source = \"";
  for (std::size_t at = policy.find(file); at != std::string::npos; at = policy.find(file)) {
    policy.replace(at, file.size(), "\"\nformat = \"postgresql\"");
    policy.insert(policy.rfind(source, at) + source.size(), "public.");
  }
  return policy;
}

}  // namespace shoal::test
