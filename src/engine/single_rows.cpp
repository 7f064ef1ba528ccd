// Groups of rows that are each a unit of its own. Every row is in one group of a set and adds one
// row to it, so plain SQL gives the bounded sums.
#include "engine/grid_sql.hpp"
#include "engine/grouped_rows.hpp"
#include "engine/key_interner.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <map>

namespace shoal::engine {
namespace {

using catalog::Statistic;
using catalog::StatisticKind;

std::string value_sql(const GroupedRequest& request, std::size_t index) {
  const ValueColumn& value = request.values[index];
  const std::string name = fmt::format("v{}", index);
  if (value.use == ValueUse::identity) return name;
  // DuckDB orders NaN above every number, so the clamp would let it through as the upper bound.
  const std::string number =
      value.whole ? name : fmt::format("CASE WHEN isnan({0}) THEN NULL ELSE {0} END", name);
  return grid_steps_sql(number, value.whole, value.range, value.nulls);
}

std::string statistic_sql(const GroupedRequest& request, const Statistic& statistic) {
  if (statistic.kind == StatisticKind::units || statistic.kind == StatisticKind::rows)
    return "COUNT(*)";
  const std::string value = value_sql(request, statistic.value);
  switch (statistic.kind) {
    case StatisticKind::values:
      return fmt::format("COUNT({})", value);
    case StatisticKind::distinct:
      return fmt::format("COUNT(DISTINCT {})", value);
    case StatisticKind::plain_sum:
      return fmt::format("SUM({})", value);
    case StatisticKind::centred_sum:
      return fmt::format("SUM(({}) - ({}))", value, statistic.range.middle());
    case StatisticKind::centred_squares: {
      const std::string centred = fmt::format("(({}) - ({}))", value, statistic.range.middle());
      return fmt::format("SUM({0} * {0} - {1})", centred, square_offset(statistic.range));
    }
    case StatisticKind::units:
    case StatisticKind::rows:
    case StatisticKind::leaves:
      break;
  }
  throw Error(ErrorCode::internal, "no integer statistic");
}

// The key columns of a set, and typed NULLs for the others.
std::string key_items(const GroupedRequest& request, const GroupingSet& set) {
  std::vector<bool> grouped(request.keys.size());
  for (const std::size_t key : set.keys) grouped[key] = true;
  std::string items;
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    items += grouped[i] ? fmt::format("k{}, ", i)
                        : fmt::format("CAST(NULL AS {}) AS k{}, ", engine_type(request.keys[i]), i);
  }
  return items;
}

std::string group_by(const GroupingSet& set, const std::string& more) {
  std::string names = more;
  for (const std::size_t key : set.keys)
    names += fmt::format("{}typed.k{}", names.empty() ? "" : ", ", key);
  return names.empty() ? "" : " GROUP BY " + names;
}

// Of the keys. A column outside the set comes as a NULL of its own type.
std::vector<Storage> storages_of(const RowQuery& rows, const GroupedRequest& request,
                                 std::size_t set) {
  std::vector<Storage> storages;
  for (const KeyType type : request.keys) storages.push_back(storage_of(type));
  for (const std::size_t key : request.sets[set].keys) storages[key] = rows.storages[key];
  return storages;
}

class SetReader {
 public:
  SetReader(DuckdbConnection& connection, const RowQuery& rows, const GroupedRequest& request,
            std::size_t set)
      : connection_(connection),
        rows_(rows),
        request_(request),
        set_(set),
        shape_(request),
        storages_(storages_of(rows, request, set)),
        columns_(shape_, storages_),
        interner_(shape_, columns_),
        numbers_(storages_.size()) {
    block_.groups.resize(request.sets.size());
  }

  std::vector<data::ExactGroup> read() {
    read_integers();
    for (std::size_t i = 0; i < shape_.leaves.size(); ++i) read_leaves(i);
    std::vector<data::ExactGroup> groups;
    for (auto& [number, group] : groups_) groups.push_back(std::move(group));
    return groups;
  }

 private:
  const GroupingSet& set() const { return request_.sets[set_]; }

  void read_integers() {
    std::string items = key_items(request_, set()) + "CAST(COUNT(*) AS HUGEINT)";
    for (const std::size_t index : shape_.integers) {
      items += fmt::format(", CAST(COALESCE({}, 0) AS HUGEINT)",
                           statistic_sql(request_, request_.statistics[index]));
    }
    const std::string sql =
        fmt::format("SELECT {} FROM {}{} HAVING COUNT(*) >= {}", items, rows_.from,
                    group_by(set(), ""), std::max<std::int64_t>(request_.min_units, 1));
    std::vector<Storage> storages = storages_;
    storages.resize(storages.size() + 1 + shape_.integers.size(), Storage::bits128);
    std::vector<KeyType> types;
    for (const std::size_t key : set().keys) types.push_back(request_.keys[key]);
    connection_.chunks(sql, [&](duckdb_data_chunk data) {
      const Chunk chunk(data, storages);
      number(chunk);
      for (std::size_t row = 0; row < chunk.rows; ++row) {
        data::ExactGroup group;
        group.key = read_key(interner_.keys()[set_].bytes(block_.groups[set_][row]), types);
        group.units = static_cast<std::int64_t>(chunk.columns[storages_.size()].integer(row));
        for (std::size_t i = 0; i < shape_.integers.size(); ++i)
          group.sums.push_back(chunk.columns[storages_.size() + 1 + i].integer(row));
        group.leaves.resize(shape_.leaves.size());
        groups_.emplace(block_.groups[set_][row], std::move(group));
      }
    });
  }

  void read_leaves(std::size_t index) {
    const Statistic& statistic = request_.statistics[shape_.leaves[index]];
    const std::string sql = fmt::format(
        "SELECT {}step, COUNT(*) FROM (SELECT *, {} AS step FROM {}) AS typed WHERE step IS NOT "
        "NULL{} ORDER BY step",
        key_items(request_, set()), value_sql(request_, statistic.value), rows_.from,
        group_by(set(), "step"));
    std::vector<Storage> storages = storages_;
    storages.resize(storages.size() + 2, Storage::bits64);
    connection_.chunks(sql, [&](duckdb_data_chunk data) {
      const Chunk chunk(data, storages);
      number(chunk);
      for (std::size_t row = 0; row < chunk.rows; ++row) {
        const auto group = groups_.find(block_.groups[set_][row]);
        if (group == groups_.end()) continue;  // too few units
        group->second.leaves[index].push_back(
            {chunk.columns[storages_.size()].as<std::int64_t>()[row],
             chunk.columns[storages_.size() + 1].as<std::int64_t>()[row]});
      }
    });
  }

  void number(const Chunk& chunk) {
    block_.size = chunk.rows;
    std::vector<const GroupNumber*> arrays;
    for (std::size_t key = 0; key < numbers_.size(); ++key) {
      numbers_[key].resize(chunk.rows);
      columns_.number(key, chunk.columns[key], chunk.rows, numbers_[key].data());
      arrays.push_back(numbers_[key].data());
    }
    interner_.number_groups(arrays, block_);
  }

  DuckdbConnection& connection_;
  const RowQuery& rows_;
  const GroupedRequest& request_;
  std::size_t set_;
  GroupShape shape_;
  std::vector<Storage> storages_;  // of the keys
  KeyColumns columns_;
  KeyInterner interner_;
  std::vector<std::vector<GroupNumber>> numbers_;  // of the keys
  RowBlock block_;
  std::map<GroupNumber, data::ExactGroup> groups_;
};

}  // namespace

std::vector<std::vector<data::ExactGroup>> group_single_rows(DuckdbConnection& connection,
                                                             const RowQuery& rows,
                                                             const GroupedRequest& request) {
  std::vector<std::vector<data::ExactGroup>> groups;
  for (std::size_t set = 0; set < request.sets.size(); ++set)
    groups.push_back(SetReader(connection, rows, request, set).read());
  return groups;
}

}  // namespace shoal::engine
