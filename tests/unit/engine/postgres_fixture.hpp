// Rows of grouped_reference.hpp as a table of the test's PostgreSQL server, and requests about
// them.
#pragma once

#include "support/open_grouped_aggregate.hpp"
#include "support/postgres_server.hpp"
#include "unit/engine/grouped_reference.hpp"

#include <shoal/engine/postgres_engine.hpp>

#include <array>

namespace shoal::test {

inline catalog::Table server_table(std::string name, std::string source,
                                   std::vector<catalog::Column> columns) {
  catalog::Table table;
  table.name = std::move(name);
  table.source = std::move(source);
  table.format = catalog::SourceFormat::postgresql;
  table.columns = std::move(columns);
  return table;
}

inline catalog::Column column_of(std::string name, catalog::ColumnType type) {
  catalog::Column column;
  column.name = std::move(name);
  column.type = type;
  return column;
}

class PostgresRows {
 public:
  explicit PostgresRows(bool text_units) : text_units_(text_units) {
    server_.run(fmt::format(
        "DROP TABLE IF EXISTS public.rows; CREATE TABLE public.rows (u {}, k0 INTEGER, k1 "
        "VARCHAR(100), k2 DOUBLE PRECISION, v0 DOUBLE PRECISION, v1 BIGINT, v2 TEXT)",
        text_units ? "TEXT" : "BIGINT"));
    using enum catalog::ColumnType;
    const catalog::Table table =
        server_table("t", "public.rows",
                     {column_of("u", text_units ? text : integer), column_of("k0", integer),
                      column_of("k1", text), column_of("k2", real), column_of("v0", real),
                      column_of("v1", integer), column_of("v2", text)});
    engine_.emplace(catalog::Policy{}, std::array{&table});
  }

  void fill(const std::vector<engine::reference::Row>& rows) {
    server_.run("TRUNCATE public.rows");
    std::string values;
    for (const auto& row : rows) {
      const std::string unit =
          text_units_ && row.unit ? fmt::format("'p{}'", *row.unit) : cell(row.unit);
      values += fmt::format("{}({}, {}, {}, {}, {}, {}, {})", values.empty() ? "" : ", ", unit,
                            cell(row.k0), cell(row.k1), cell(row.k2), cell(row.v0), cell(row.v1),
                            cell(row.v2));
    }
    if (!values.empty()) server_.run("INSERT INTO public.rows VALUES " + values);
  }

  std::vector<OpenGroups> ask(const engine::GroupedRequest& request) {
    const std::string columns = "k0, k1, k2, v0, v1, v2 FROM t";
    std::vector<OpenGroups> groups;
    for (const auto& one : engine_->aggregate_rows(
             (request.has_unit ? "SELECT u, " : "SELECT ") + columns, request, log_))
      groups.push_back(open(one));
    return groups;
  }

 private:
  template <typename Value>
  static std::string cell(const std::optional<Value>& value) {
    return value ? fmt::format("'{}'", *value) : "NULL";
  }

  bool text_units_;
  PostgresServer& server_ = PostgresServer::instance();
  TemporaryFolder folder_{Place::memory};
  OwnerLog log_{folder_ / "log"};
  std::optional<engine::PostgresEngine> engine_;
};

}  // namespace shoal::test
