#include "engine/bounded_sql.hpp"
#include "engine/group_keys.hpp"
#include "engine/group_results.hpp"
#include "engine/postgres_connection.hpp"
#include "engine/postgres_rows.hpp"
#include "engine/postgres_source.hpp"
#include "engine/postgres_types.hpp"

#include <shoal/base/error.hpp>
#include <shoal/engine/postgres_engine.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace shoal::engine {

struct PostgresEngine::State {
  PostgresConnection connection;
  std::string views;  // one common table each of the policy's tables
  std::string first;  // the first table's name
};

namespace {

std::string identifier(const std::string& name) {
  return sql::quote_identifier(name, sql::Dialect::postgresql);
}

// Sums are whole, and 128 bits hold them.
Int128 parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  SHOAL_CHECK(!text.empty());
  Int128 value = 0;
  for (const char c : text) {
    SHOAL_CHECK(c >= '0' && c <= '9');
    const int digit = negative ? '0' - c : c - '0';
    SHOAL_CHECK(!__builtin_mul_overflow(value, Int128{10}, &value));
    SHOAL_CHECK(!__builtin_add_overflow(value, Int128{digit}, &value));
  }
  return value;
}

std::int64_t parse_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  SHOAL_CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

// The first columns of a row, as the bytes of a key.
std::string key_bytes(const PostgresRow& row, std::span<const KeyType> types) {
  std::string bytes;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (row.at(i)) {
      append_key_part(bytes, *row[i], types[i]);
    } else {
      append_null(bytes);
    }
  }
  return bytes;
}

// Reads the groups of one set, a statement for the sums and one for each list of values.
class SetReader {
 public:
  SetReader(PostgresConnection& connection, const GroupShape& shape, const BoundedSql& sql,
            std::span<const std::string> parameters, std::size_t set)
      : connection_(connection),
        shape_(shape),
        sql_(sql),
        parameters_(parameters),
        set_(set),
        types_(types_of(shape.keys, shape.sets[set])) {}

  std::vector<data::ExactGroup> read() {
    read_integers();
    std::size_t leaf = 0;
    for (const std::size_t statistic : shape_.leaves) read_leaves(leaf++, statistic);
    for (std::size_t i = 0; i < shape_.integers.size(); ++i) {
      const catalog::Statistic& statistic = shape_.statistics[shape_.integers[i]];
      if (statistic.kind == catalog::StatisticKind::distinct) read_distinct(i, statistic.value);
    }
    std::vector<data::ExactGroup> groups;
    for (auto& [bytes, group] : groups_) groups.push_back(std::move(group));
    return groups;
  }

 private:
  void read_integers() {
    connection_.rows(sql_.integers(set_), parameters_, [&](const PostgresRow& row) {
      std::string bytes = key_bytes(row, types_);
      data::ExactGroup group;
      group.key = read_key(bytes, types_);
      group.units = parse_count(row.at(types_.size()).value());
      for (std::size_t i = 0; i < shape_.integers.size(); ++i)
        group.sums.push_back(parse_integer(row.at(types_.size() + 1 + i).value()));
      group.leaves.resize(shape_.leaves.size());
      groups_.emplace(std::move(bytes), std::move(group));
    });
  }

  void read_distinct(std::size_t index, std::size_t value) {
    connection_.rows(sql_.distinct(set_, value), parameters_, [&](const PostgresRow& row) {
      if (data::ExactGroup* group = find(row))
        group->sums[index] = parse_count(row.at(types_.size()).value());
    });
  }

  void read_leaves(std::size_t index, std::size_t statistic) {
    const std::size_t value = shape_.statistics[statistic].value;
    connection_.rows(sql_.leaves(set_, value), parameters_, [&](const PostgresRow& row) {
      if (data::ExactGroup* group = find(row)) {
        group->leaves[index].push_back({parse_count(row.at(types_.size()).value()),
                                        parse_count(row.at(types_.size() + 1).value())});
      }
    });
  }

  // None if the group has too few units.
  data::ExactGroup* find(const PostgresRow& row) {
    const auto found = groups_.find(key_bytes(row, types_));
    return found == groups_.end() ? nullptr : &found->second;
  }

  PostgresConnection& connection_;
  const GroupShape& shape_;
  const BoundedSql& sql_;
  std::span<const std::string> parameters_;
  std::size_t set_;
  std::vector<KeyType> types_;
  std::map<std::string, data::ExactGroup> groups_;
};

std::vector<data::GroupedAggregate> read_groups(PostgresConnection& connection,
                                                const std::string& views, const std::string& rows,
                                                const GroupedRequest& request) {
  const GroupShape shape(request);
  const PostgresSnapshot snapshot(connection);
  const BoundedSql sql(shape, request.has_unit, typed_rows(connection, views, rows, request));
  std::vector<std::string> parameters;
  if (sql.has_parameter()) {
    parameters.push_back(
        fmt::format("\\x{:016x}{:016x}", request.hash_key[0], request.hash_key[1]));
  }
  std::vector<data::GroupedAggregate> results;
  for (std::size_t set = 0; set < request.sets.size(); ++set) {
    results.push_back(finish_groups(shape, request.sets[set],
                                    SetReader(connection, shape, sql, parameters, set).read()));
  }
  return results;
}

// What fails on public data says nothing about anybody, but is not for the asker to mend.
template <typename Action>
auto public_step(Action&& action) {
  try {
    return action();
  } catch (const EngineFailure&) {
    throw Error(ErrorCode::unavailable,
                "a public table could not be read; let the owner check the PostgreSQL server");
  }
}

}  // namespace

PostgresEngine::PostgresEngine(const catalog::Policy& policy,
                               std::span<const catalog::Table* const> tables) {
  SHOAL_CHECK(!tables.empty());
  try {
    state_ = std::make_unique<State>();
    state_->first = tables[0]->name;
    check_server(state_->connection);
    for (const catalog::Table* table : tables) {
      SHOAL_CHECK(table->format == catalog::SourceFormat::postgresql);
      state_->views +=
          (state_->views.empty() ? "" : ", ") + postgres_view(state_->connection, policy, *table);
    }
  } catch (const EngineFailure&) {
    throw Error(ErrorCode::unavailable,
                fmt::format("the PostgreSQL server of table {} cannot be asked; check PGHOST, "
                            "PGPORT, PGDATABASE and PGUSER with psql",
                            tables[0]->name));
  }
}

PostgresEngine::PostgresEngine(PostgresEngine&&) noexcept = default;
PostgresEngine& PostgresEngine::operator=(PostgresEngine&&) noexcept = default;
PostgresEngine::~PostgresEngine() = default;

std::vector<data::GroupedAggregate> PostgresEngine::aggregate_rows(const std::string& rows,
                                                                   const GroupedRequest& request,
                                                                   const OwnerLog& log) {
  return without_details(
      log, [&] { return read_groups(state_->connection, state_->views, rows, request); });
}

std::vector<data::GroupedAggregate> PostgresEngine::aggregate_groups(const GroupedRequest& request,
                                                                     const OwnerLog& log) {
  return without_details(log, [&] {
    return read_groups(state_->connection, state_->views,
                       sql::print(request.rows, sql::Dialect::postgresql), request);
  });
}

// Preparing analyses a statement; it is planned and run only when it is executed.
void PostgresEngine::check_groups(const GroupedRequest& request, const OwnerLog& log) {
  before_spending(log, [&] {
    const GroupShape shape(request);
    const std::string rows = sql::print(request.rows, sql::Dialect::postgresql);
    const BoundedSql sql(shape, request.has_unit,
                         typed_rows(state_->connection, state_->views, rows, request));
    for (std::size_t set = 0; set < request.sets.size(); ++set) {
      state_->connection.column_types(sql.integers(set));
    }
  });
}

std::vector<catalog::Key> PostgresEngine::public_keys(const sql::Query& query) {
  return public_step([&] {
    const PostgresSnapshot snapshot(state_->connection);
    const TypedKeys typed =
        typed_keys(state_->connection, state_->views, sql::print(query, sql::Dialect::postgresql));
    std::string columns;
    std::string present;
    for (std::size_t i = 0; i < typed.types.size(); ++i) {
      const std::string name = fmt::format("k{}", i);
      columns += (i == 0 ? "" : ", ") + key_output(name, typed.types[i]);
      present += fmt::format("{}{} IS NOT NULL", i == 0 ? "" : " AND ", name);
    }
    std::vector<catalog::Key> keys;
    state_->connection.rows(
        fmt::format("WITH {} SELECT DISTINCT {} FROM typed WHERE {}", typed.sql, columns, present),
        {}, [&](const PostgresRow& row) {
          keys.push_back(read_key(key_bytes(row, typed.types), typed.types));
        });
    std::sort(keys.begin(), keys.end());
    return keys;
  });
}

bool PostgresEngine::is_unique(const std::string& table, const std::string& column) {
  return public_step([&] {
    bool unique = false;
    state_->connection.rows(fmt::format("WITH {0} SELECT COUNT({1}) = COUNT(DISTINCT {1}) FROM {2}",
                                        state_->views, identifier(column), identifier(table)),
                            {}, [&](const PostgresRow& row) { unique = row.at(0) == "t"; });
    return unique;
  });
}

namespace {

[[noreturn]] void rows_stay(const std::string& table) {
  throw Error(ErrorCode::unsupported,
              fmt::format("table {} is on a PostgreSQL server, whose rows never leave it; models, "
                          "synthesis, holdouts and leaderboards read files: export it and run "
                          "shoal init on the file",
                          table));
}

}  // namespace

data::TableRows PostgresEngine::table_rows(const RowRequest&, const OwnerLog&) {
  rows_stay(state_->first);
}

data::CodedTable PostgresEngine::coded_rows(const CodeRequest&, const OwnerLog&) {
  rows_stay(state_->first);
}

std::int64_t PostgresEngine::row_count(const OwnerLog&) { rows_stay(state_->first); }

const std::vector<std::string>& PostgresEngine::column_order() const { rows_stay(state_->first); }

std::uint64_t PostgresEngine::memory() const { rows_stay(state_->first); }

}  // namespace shoal::engine
