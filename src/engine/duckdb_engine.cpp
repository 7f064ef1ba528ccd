#include "engine/chunk_feed.hpp"
#include "engine/coded_rows.hpp"
#include "engine/csv_function.hpp"
#include "engine/duckdb_connection.hpp"
#include "engine/failure.hpp"
#include "engine/grouped_rows.hpp"
#include "engine/number_function.hpp"
#include "engine/settled_rows.hpp"
#include "engine/source.hpp"
#include "engine/table_rows.hpp"
#include "engine/table_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/private_folder.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

namespace shoal::engine {

using catalog::ColumnType;

struct DuckdbEngine::State {
  catalog::Policy policy;
  catalog::Table table;  // the first, whose rows table_rows() reads
  Resources resources;
  std::vector<OpenRows> rows;  // of each table; the connection reads them
  PrivateFolder spill;         // goes after the connection
  DuckdbConnection connection;
  ChunkFeed feed;
  std::vector<std::string> column_order = {};  // of that table's file
};

namespace {

// Attaching reads the schema of the settled rows alone. What fails here is about the file, not
// about a row.
template <typename Action>
auto attach_step(const catalog::Table& table, Action&& action) {
  try {
    return action();
  } catch (const DuckdbFailure&) {
    throw Error(ErrorCode::unavailable,
                fmt::format("the settled rows of table {} cannot be read; check the disk, then let "
                            "the owner run shoal import POLICY",
                            table.name));
  }
}

void close_outside(DuckdbConnection& connection, const std::vector<std::filesystem::path>& paths,
                   const catalog::EngineSettings& settings, const std::filesystem::path& spill) {
  // DuckDB would spill rows into a folder below the process's own, for everybody to read.
  connection.run("SET temp_directory = " + quoted(spill.string()));
  if (settings.threads > 0) connection.run(fmt::format("SET threads = {}", settings.threads));
  if (!settings.memory.empty()) connection.run("SET memory_limit = " + quoted(settings.memory));
  std::string allowed;
  for (const auto& path : paths) allowed += (allowed.empty() ? "" : ", ") + quoted(path.string());
  connection.run(fmt::format("SET allowed_paths = [{}]", allowed));
  connection.csv_reads().allow_only(paths);
  connection.run("SET enable_external_access = false");
  connection.run("SET lock_configuration = true");
}

// Makes each table a view of its name over its settled rows and closes everything else. The columns
// of the first one's file, in their order.
std::vector<std::string> attach_tables(DuckdbConnection& connection, const catalog::Policy& policy,
                                       std::span<const catalog::Table* const> tables,
                                       const std::vector<OpenRows>& rows,
                                       const std::filesystem::path& spill) {
  register_number_function(connection);
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    paths.push_back(rows[i].file.path());
    attach_step(*tables[i], [&] {
      const std::vector<StoredColumn> columns = parquet_columns(connection, paths.back());
      connection.run(view_sql(policy, *tables[i], rows[i].kind, paths.back(), columns));
      if (i > 0) return;
      for (const StoredColumn& column : columns) order.push_back(column.name);
    });
  }
  attach_step(*tables[0], [&] { close_outside(connection, paths, policy.engine, spill); });
  return order;
}

std::vector<OpenRows> settled_rows(const catalog::Policy& policy,
                                   std::span<const catalog::Table* const> tables) {
  std::vector<OpenRows> rows;
  for (const catalog::Table* table : tables) {
    FoundRows found = find_rows(policy, *table);
    if (found.state == RowsState::changed) rows_changed(*table);
    if (found.state == RowsState::none) rows_not_settled(*table);
    rows.push_back(*std::move(found.rows));
  }
  return rows;
}

}  // namespace

DuckdbEngine::DuckdbEngine(const catalog::Policy& policy,
                           std::span<const catalog::Table* const> tables) {
  SHOAL_CHECK(!tables.empty());
  PrivateFolder spill(std::filesystem::temp_directory_path(), "shoal_spill");
  DuckdbConnection connection;
  ChunkFeed feed(connection);
  std::vector<OpenRows> rows = settled_rows(policy, tables);
  std::vector<std::string> order =
      attach_tables(connection, policy, tables, rows, spill.path() / "any_order");
  state_ = std::make_unique<State>(State{policy, *tables[0], resources_of(policy.engine),
                                         std::move(rows), std::move(spill), std::move(connection),
                                         std::move(feed), std::move(order)});
}

DuckdbEngine::DuckdbEngine(const catalog::Policy& policy, const catalog::Table& table)
    : DuckdbEngine(policy, std::array{&table}) {}

DuckdbEngine::DuckdbEngine(DuckdbEngine&&) noexcept = default;
DuckdbEngine& DuckdbEngine::operator=(DuckdbEngine&&) noexcept = default;
DuckdbEngine::~DuckdbEngine() = default;

std::vector<data::GroupedAggregate> DuckdbEngine::aggregate_rows(const std::string& rows,
                                                                 const GroupedRequest& request,
                                                                 const OwnerLog& log) {
  return without_details(log, [&] {
    // By which a join chooses among the rows of a unit (ROW_OF_UNIT of the sql layer).
    state_->connection.run(fmt::format("SET VARIABLE shoal_key = '{:016x}{:016x}'",
                                       request.hash_key[0], request.hash_key[1]));
    return aggregate_grouped_rows(state_->connection, state_->feed, rows, request,
                                  state_->resources, log);
  });
}

std::vector<data::GroupedAggregate> DuckdbEngine::aggregate_groups(const GroupedRequest& request,
                                                                   const OwnerLog& log) {
  return aggregate_rows(sql::print(request.rows, sql::Dialect::duckdb), request, log);
}

// DESCRIBE binds, and neither optimises nor runs.
void DuckdbEngine::check_groups(const GroupedRequest& request, const OwnerLog& log) {
  before_spending(log, [&] {
    const RowQuery query(state_->connection, sql::print(request.rows, sql::Dialect::duckdb),
                         request);
    state_->connection.rows(
        fmt::format("DESCRIBE SELECT {} FROM {}", query.fed.empty() ? "1" : query.fed, query.from));
  });
}

const std::vector<std::string>& DuckdbEngine::column_order() const { return state_->column_order; }

std::uint64_t DuckdbEngine::memory() const { return state_->resources.memory; }

data::TableRows DuckdbEngine::table_rows(const RowRequest& request, const OwnerLog& log) {
  SHOAL_CHECK(!request.in_file_order || request.person_column.empty());
  return {request.columns.size(), [this, request, log](const data::TableRows::Take& take) {
            without_details(log, [&] {
              if (request.in_file_order) {
                // The other connection may hand out rows in any order, which is faster.
                DuckdbConnection in_order(InsertionOrder::kept);
                attach_tables(in_order, state_->policy, std::array{&std::as_const(state_->table)},
                              state_->rows, state_->spill.path() / "in_order");
                read_table_rows(in_order, state_->table, request, take);
              } else {
                read_table_rows(state_->connection, state_->table, request, take);
              }
              return true;
            });
          }};
}

std::int64_t DuckdbEngine::row_count(const OwnerLog& log) {
  if (state_->policy.unit != catalog::PrivacyUnit::row ||
      state_->policy.neighbors != Neighbors::replace_one) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the number of rows of {} is private: only a policy that protects rows "
                            "under replace_one makes it public",
                            state_->table.name));
  }
  return without_details(log, [&] {
    return static_cast<std::int64_t>(
        state_->connection
            .integers("SELECT CAST(COUNT(*) AS HUGEINT) FROM " + identifier(state_->table.name))
            .at(0));
  });
}

data::CodedTable DuckdbEngine::coded_rows(const CodeRequest& request, const OwnerLog& log) {
  return without_details(
      log, [&] { return read_coded_rows(state_->connection, state_->table, request); });
}

namespace {

// A number as groups of rows are named by it: the engine writes 1.0 for 1, and knows a -0.0.
std::string number_name(const std::string& written) {
  return format_number(std::strtod(written.c_str(), nullptr) + 0.0);
}

// What fails on public data says nothing about anybody, but is not for the asker to mend.
template <typename Action>
auto public_step(Action&& action) {
  try {
    return action();
  } catch (const DuckdbFailure&) {
    throw Error(ErrorCode::unavailable,
                "a public table could not be read; let the owner check its file");
  }
}

}  // namespace

std::vector<catalog::Key> DuckdbEngine::public_keys(const sql::Query& query) {
  return public_step([&] {
    const std::string asked = sql::print(query, sql::Dialect::duckdb);
    const auto described = state_->connection.rows("DESCRIBE " + asked);
    std::string columns;
    std::string present;
    for (std::size_t i = 0; i < query.items.size(); ++i) {
      columns += fmt::format("{}CAST(k{} AS VARCHAR)", i == 0 ? "" : ", ", i);
      present += fmt::format("{}k{} IS NOT NULL", i == 0 ? "" : " AND ", i);
    }
    const auto rows = state_->connection.rows(
        fmt::format("SELECT DISTINCT {} FROM ({}) WHERE {} ORDER BY ALL", columns, asked, present));
    std::vector<catalog::Key> keys;
    std::set<catalog::Key> known;
    for (const auto& row : rows) {
      catalog::Key key(row.begin(), row.end());
      for (std::size_t i = 0; i < key.size(); ++i) {
        if (policy_type(described.at(i).at(1)) == ColumnType::real) key[i] = number_name(*key[i]);
      }
      if (known.insert(key).second) keys.push_back(std::move(key));
    }
    return keys;
  });
}

bool DuckdbEngine::is_unique(const std::string& table, const std::string& column) {
  return public_step([&] {
    const std::string name = identifier(column);
    const auto rows = state_->connection.rows(
        fmt::format("SELECT CAST(COUNT({0}) = COUNT(DISTINCT {0}) AS VARCHAR) FROM {1}", name,
                    identifier(table)));
    return rows.at(0).at(0) == "true";
  });
}

}  // namespace shoal::engine
