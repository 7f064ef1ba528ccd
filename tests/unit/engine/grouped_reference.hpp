// Grouped requests answered naively, with maps of everything: what the engine is held against. Rows
// have a unit (a number or a text), the keys k0 (integer), k1 (text) and k2 (real), and the values
// v0 (real, in steps), v1 (whole, in steps) and v2 (text, of which only equality matters).
#pragma once

#include "engine/group_keys.hpp"
#include "engine/keyed_hash.hpp"
#include "support/open_grouped_aggregate.hpp"

#include <shoal/engine/grouped_request.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace shoal::engine::reference {

using catalog::Statistic;
using catalog::StatisticKind;
using test::OpenGroup;
using test::OpenGroups;

struct Row {
  std::optional<std::int64_t> unit;
  std::optional<std::int64_t> k0;
  std::optional<std::string> k1;
  std::optional<double> k2;
  std::optional<double> v0;
  std::optional<std::int64_t> v1;
  std::optional<std::string> v2;
};

inline const catalog::GridRange kRange0 = catalog::place_on_grid({-4, 10}, {-2});
inline const catalog::GridRange kRange1 = catalog::place_on_grid({-3, 20}, {0});

inline GroupedRequest request_of(std::vector<GroupingSet> sets) {
  GroupedRequest request;
  request.has_unit = true;
  request.keys = {KeyType::integer, KeyType::text, KeyType::real};
  request.values = {{ValueUse::steps, false, kRange0, true, KeyType::real},
                    {ValueUse::steps, true, kRange1, false, KeyType::integer},
                    {ValueUse::identity, false, {}, true, KeyType::text}};
  request.sets = std::move(sets);
  request.statistics = {
      {StatisticKind::units, 0, "", {}},         {StatisticKind::rows, 0, "", {}},
      {StatisticKind::values, 0, "v0", {}},      {StatisticKind::plain_sum, 0, "v0", kRange0},
      {StatisticKind::leaves, 0, "v0", kRange0}, {StatisticKind::centred_sum, 0, "v0", kRange0},
      {StatisticKind::distinct, 2, "v2", {}},    {StatisticKind::centred_squares, 1, "v1", kRange1},
      {StatisticKind::values, 1, "v1", {}},      {StatisticKind::plain_sum, 1, "v1", kRange1},
      {StatisticKind::distinct, 1, "v1", {}},    {StatisticKind::values, 2, "v2", {}}};
  request.hash_key = {0x0123456789abcdef, 0xfedcba9876543210};
  return request;
}

inline std::optional<std::int64_t> steps_of(const Row& row, std::size_t value) {
  if (value == 0) {
    if (!row.v0 || std::isnan(*row.v0)) return std::nullopt;
    const double scaled =
        std::min(std::max(*row.v0 * 4, double(kRange0.lower)), double(kRange0.upper));
    return static_cast<std::int64_t>(std::llround(scaled));
  }
  if (value == 1) {
    if (!row.v1) return kRange1.middle();  // declared free of NULLs
    return std::min(std::max(*row.v1, kRange1.lower), kRange1.upper);
  }
  return std::nullopt;
}

// What stands for a value where only equality matters.
inline std::optional<std::int64_t> word_of(const Row& row, std::size_t value, const HashKey& key) {
  if (value != 2) return steps_of(row, value);
  if (!row.v2) return std::nullopt;
  return static_cast<std::int64_t>(hash_text(key, *row.v2));
}

struct NamedKey {
  catalog::Key text;
  std::string bytes;
};

inline NamedKey key_of(const Row& row, const GroupingSet& set) {
  NamedKey key;
  for (const std::size_t column : set.keys) {
    if (column == 0 && row.k0) {
      key.text.emplace_back(fmt::format("{}", *row.k0));
      append_word(key.bytes, static_cast<std::uint64_t>(*row.k0));
    } else if (column == 1 && row.k1) {
      key.text.emplace_back(*row.k1);
      append_text(key.bytes, *row.k1);
    } else if (column == 2 && row.k2 && !std::isnan(*row.k2)) {
      const double number = *row.k2 == 0 ? 0.0 : *row.k2;
      std::string text = fmt::format("{}", number);
      if (text.ends_with(".0")) text.resize(text.size() - 2);
      key.text.emplace_back(text);
      append_word(key.bytes, std::bit_cast<std::uint64_t>(number));
    } else {
      key.text.emplace_back();
      append_null(key.bytes);
    }
  }
  return key;
}

// Halves away from zero, then within [k least, k most].
inline long long bounded(const Statistic& statistic, long long sum, long long count, long long k) {
  if (count > k) {
    const long long doubled = 2 * std::abs(sum) * k + count;
    sum = (sum < 0 ? -1 : 1) * (doubled / (2 * count));
  }
  return std::min(std::max(sum, k * statistic.least_per_row()), k * statistic.most_per_row());
}

inline std::vector<std::int64_t> smallest(
    std::vector<std::pair<std::uint64_t, std::int64_t>> ranked, std::int64_t most) {
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::int64_t> kept;
  for (const auto& [hash, value] : ranked) {
    if (static_cast<std::int64_t>(kept.size()) < most) kept.push_back(value);
  }
  return kept;
}

// Of values in order, if there are more than may count: `most` of them, evenly spaced.
inline std::vector<std::int64_t> evenly_spaced(const std::vector<std::int64_t>& values,
                                               std::uint64_t hash, std::int64_t most) {
  const auto size = static_cast<std::int64_t>(values.size());
  if (size <= most) return values;
  const auto first = static_cast<std::int64_t>(
      static_cast<UInt128>(mix(hash, 0xA0761D6478BD642Fu)) * values.size() >> 64);
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < most; ++i)
    kept.push_back(values[static_cast<std::size_t>((first + i * size) / most)]);
  return kept;
}

using Seen = std::map<catalog::Key, std::vector<std::set<std::int64_t>>>;

inline void add_unit_to_group(const GroupedRequest& request, const std::vector<Row>& rows,
                              std::uint64_t hash, OpenGroup& group,
                              std::vector<std::set<std::int64_t>>& seen) {
  const long long k = request.rows_per_group;
  ++group.units;
  std::size_t at = 0;
  std::size_t leaf_at = 0;
  for (std::size_t i = 0; i < request.statistics.size(); ++i) {
    const Statistic& statistic = request.statistics[i];
    std::vector<std::int64_t> values;
    long long present = 0;
    for (const Row& row : rows) {
      const auto word = word_of(row, statistic.value, request.hash_key);
      present += word.has_value();
      if (word) values.push_back(*word);
    }
    std::sort(values.begin(), values.end());
    if (statistic.kind == StatisticKind::leaves) {
      group.leaves.resize(std::max(group.leaves.size(), leaf_at + 1));
      for (const std::int64_t step : evenly_spaced(values, hash, k)) ++group.leaves[leaf_at][step];
      ++leaf_at;
      continue;
    }
    long long sum = 0;
    for (const std::int64_t value : values) {
      const long long centred = value - statistic.range.middle();
      if (statistic.kind == StatisticKind::plain_sum) sum += value;
      if (statistic.kind == StatisticKind::centred_sum) sum += centred;
      if (statistic.kind == StatisticKind::centred_squares)
        sum += centred * centred - square_offset(statistic.range);
    }
    group.sums.resize(std::max(group.sums.size(), at + 1));
    seen.resize(request.statistics.size());
    if (statistic.kind == StatisticKind::units) {
      ++group.sums[at];
    } else if (statistic.kind == StatisticKind::rows) {
      group.sums[at] += std::min<long long>(static_cast<long long>(rows.size()), k);
    } else if (statistic.kind == StatisticKind::values) {
      group.sums[at] += std::min(present, k);
    } else if (statistic.kind == StatisticKind::distinct) {
      std::vector<std::pair<std::uint64_t, std::int64_t>> ranked;
      for (const std::int64_t value : std::set(values.begin(), values.end())) {
        const auto word = static_cast<std::uint64_t>(value);
        ranked.emplace_back(mix(hash ^ 0xE7037ED1A0B428DBu, word), value);
      }
      for (const std::int64_t value : smallest(ranked, request.distinct_per_group))
        seen[i].insert(value);
      group.sums[at] = static_cast<long long>(seen[i].size());
    } else {
      group.sums[at] += bounded(statistic, sum, present, k);
    }
    ++at;
  }
}

// `text_units`: units are the texts "p<number>".
inline std::vector<OpenGroups> answer(const GroupedRequest& request, const std::vector<Row>& rows,
                                      bool text_units) {
  std::map<std::int64_t, std::vector<Row>> by_unit;
  for (const Row& row : rows) {
    if (row.unit) by_unit[*row.unit].push_back(row);
  }
  std::vector<OpenGroups> answers;
  for (std::size_t index = 0; index < request.sets.size(); ++index) {
    const GroupingSet& set = request.sets[index];
    OpenGroups groups;
    Seen seen;
    for (const auto& [unit, own] : by_unit) {
      std::map<std::string, std::pair<catalog::Key, std::vector<Row>>> by_key;
      for (const Row& row : own) {
        const NamedKey key = key_of(row, set);
        by_key[key.bytes].first = key.text;
        by_key[key.bytes].second.push_back(row);
      }
      const std::uint64_t unit_hash =
          text_units ? hash_text(request.hash_key, fmt::format("p{}", unit))
                     : hash_word(request.hash_key, static_cast<std::uint64_t>(unit));
      std::vector<std::pair<std::uint64_t, std::string>> order;
      for (const auto& [bytes, group] : by_key) {
        const std::uint64_t key_hash =
            mix(hash_text(request.hash_key, bytes), hash_word(request.hash_key, index));
        order.emplace_back(group_hash(unit_hash, key_hash), bytes);
      }
      std::sort(order.begin(), order.end());
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (static_cast<std::int64_t>(i) >= set.max_groups) break;
        const auto& [text, of_group] = by_key[order[i].second];
        add_unit_to_group(request, of_group, order[i].first, groups[text], seen[text]);
      }
    }
    std::erase_if(groups,
                  [&](const auto& group) { return group.second.units < request.min_units; });
    if (set.keys.empty() && groups.empty() && request.min_units <= 1) {
      OpenGroup& total = groups[{}];
      for (const Statistic& statistic : request.statistics) {
        if (statistic.kind == StatisticKind::leaves) {
          total.leaves.emplace_back();
        } else {
          total.sums.push_back(0);
        }
      }
    }
    answers.push_back(std::move(groups));
  }
  return answers;
}

// The rows as SQL text: a table `name` is made of them.
inline std::string cell(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "NULL";
}
inline std::string cell(const std::optional<std::string>& value) {
  return value ? "'" + *value + "'" : "NULL";
}
inline std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("'{}'::DOUBLE", *value) : "NULL";
}

inline std::string create_table(const std::string& name, const std::vector<Row>& rows,
                                bool text_units) {
  std::string sql = fmt::format(
      "CREATE OR REPLACE TABLE {} AS SELECT CAST(a AS {}) AS u, CAST(b AS INTEGER) AS k0, "
      "CAST(c AS VARCHAR) AS k1, CAST(d AS DOUBLE) AS k2, CAST(e AS DOUBLE) AS v0, CAST(f AS "
      "BIGINT) AS v1, CAST(g AS VARCHAR) AS v2 FROM (VALUES ",
      name, text_units ? "VARCHAR" : "BIGINT");
  for (const Row& row : rows) {
    const std::string unit =
        text_units && row.unit ? fmt::format("'p{}'", *row.unit) : cell(row.unit);
    sql += fmt::format("({}, {}, {}, {}, {}, {}, {}), ", unit, cell(row.k0), cell(row.k1),
                       cell(row.k2), cell(row.v0), cell(row.v1), cell(row.v2));
  }
  // One row more than there are, which is dropped: VALUES must not be empty.
  return sql +
         "(NULL, 424242, NULL, NULL, NULL, NULL, NULL)) AS t(a, b, c, d, e, f, g) WHERE b IS "
         "DISTINCT FROM 424242";
}

}  // namespace shoal::engine::reference
