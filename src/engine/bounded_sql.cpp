#include "engine/bounded_sql.hpp"

#include "engine/postgres_types.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::engine {
namespace {

using catalog::StatisticKind;

// LEAST and GREATEST skip NULLs: `value` must be none.
std::string clamped(const std::string& value, const IntegerPlan& plan) {
  return fmt::format("LEAST(GREATEST({}, ({})), ({}))", value, plan.least, plan.most);
}

}  // namespace

std::string BoundedSql::keys(std::size_t set, const char* before) const {
  std::string names;
  for (const std::size_t key : shape_.sets[set].keys) names += fmt::format("{}k{}", before, key);
  return names;
}

std::string BoundedSql::key_outputs(std::size_t set) const {
  std::string items;
  for (const std::size_t key : shape_.sets[set].keys)
    items += key_output(fmt::format("k{}", key), shape_.keys[key]) + ", ";
  return items;
}

std::string BoundedSql::group_by(std::size_t set, const std::string& more) const {
  std::string names = more + keys(set, ", ");
  if (more.empty() && !names.empty()) names.erase(0, 2);
  return " GROUP BY " + (names.empty() ? "()" : names);
}

// A row's text tells its parts, and NULL from an empty text, apart.
std::string BoundedSql::hash(HashOf what, std::size_t set, const std::string& more) const {
  return fmt::format(
      "sha256(CAST($1 AS BYTEA) || convert_to(CAST(ROW({}, {}, u{}{}) AS TEXT), 'UTF8'))",
      static_cast<int>(what), set, keys(set, ", "), more);
}

// What a unit adds to a statistic: IntegerPlan::bounded(), in numbers of any length. DIV cuts off,
// so half the divisor is added first: halves go away from zero.
std::string BoundedSql::unit_value(std::size_t integer) const {
  const IntegerPlan& plan = shape_.plans[integer];
  const std::int64_t most = shape_.rows_per_group;
  const std::size_t value = plan.value;
  switch (plan.kind) {
    case StatisticKind::units:
      return "1";
    case StatisticKind::rows:
      return fmt::format("LEAST(c, {})", most);
    case StatisticKind::values:
      return fmt::format("LEAST(n{}, {})", value, most);
    case StatisticKind::distinct:
      return "0";
    case StatisticKind::plain_sum:
    case StatisticKind::centred_sum:
    case StatisticKind::centred_squares:
      break;
    case StatisticKind::leaves:
      throw Error(ErrorCode::internal, "leaves are no integer; please report this");
  }
  const std::string sum = fmt::format("(COALESCE({}{}, 0) - CAST(n{} AS NUMERIC) * ({}))",
                                      plan.kind == StatisticKind::centred_squares ? "q" : "s",
                                      value, value, plan.centre);
  return clamped(fmt::format("CASE WHEN n{0} > {1} THEN SIGN({2}) * DIV(2 * ABS({2}) * {1} + n{0}, "
                             "2 * CAST(n{0} AS NUMERIC)) ELSE {2} END",
                             value, most, sum),
                 plan);
}

// What a row adds that is a unit of its own.
std::string BoundedSql::row_value(std::size_t integer) const {
  const IntegerPlan& plan = shape_.plans[integer];
  const std::string value = fmt::format("v{}", plan.value);
  std::string number;
  switch (plan.kind) {
    case StatisticKind::units:
    case StatisticKind::rows:
      return "1";
    case StatisticKind::values:
      return fmt::format("CASE WHEN {} IS NULL THEN 0 ELSE 1 END", value);
    case StatisticKind::distinct:
      return "0";
    case StatisticKind::plain_sum:
    case StatisticKind::centred_sum:
      number = fmt::format("{} - ({})", value, plan.centre);
      break;
    case StatisticKind::centred_squares:
      number = fmt::format("({0} - ({1})) * ({0} - ({1})) - {2}", value,
                           shape_.values[plan.value].range.middle(), plan.centre);
      break;
    case StatisticKind::leaves:
      throw Error(ErrorCode::internal, "leaves are no integer; please report this");
  }
  return fmt::format("CASE WHEN {} IS NULL THEN 0 ELSE {} END", value, clamped(number, plan));
}

// A unit in its groups, then the groups that count, then what it adds to each, within its bounds.
std::string BoundedSql::bounded_units(std::size_t set) const {
  std::string gathered;
  for (std::size_t i = 0; i < shape_.values.size(); ++i) {
    gathered += fmt::format(", COUNT(v{0}) AS n{0}", i);
    if (shape_.values[i].use == ValueUse::steps) gathered += fmt::format(", SUM(v{0}) AS s{0}", i);
    if (!shape_.squared[i]) continue;
    const std::string centred = fmt::format("(v{} - ({}))", i, shape_.values[i].range.middle());
    gathered += fmt::format(", SUM({0} * {0}) AS q{1}", centred, i);
  }
  std::string values;
  for (std::size_t i = 0; i < shape_.integers.size(); ++i)
    values += fmt::format(", {} AS b{}", unit_value(i), i);
  return fmt::format(
      ", gathered AS (SELECT u{0}, COUNT(*) AS c{1} FROM typed{2}), placed AS (SELECT *, "
      "ROW_NUMBER() OVER (PARTITION BY u ORDER BY {3}{0}) AS place FROM gathered), bounded AS "
      "(SELECT u{0}{4} FROM placed WHERE place <= {5})",
      keys(set, ", "), gathered, group_by(set, "u"), hash(HashOf::group, set, ""), values,
      shape_.sets[set].max_groups);
}

std::string BoundedSql::bounded_rows(std::size_t set) const {
  std::string values;
  for (std::size_t i = 0; i < shape_.integers.size(); ++i)
    values += fmt::format(", {} AS b{}", row_value(i), i);
  return fmt::format(", bounded AS (SELECT 1 AS one{}{} FROM typed)", keys(set, ", "), values);
}

std::string BoundedSql::integers(std::size_t set) const {
  std::string sums;
  for (std::size_t i = 0; i < shape_.integers.size(); ++i)
    sums += fmt::format(", COALESCE(SUM(b{}), 0)", i);
  return fmt::format("WITH {}{} SELECT {}COUNT(*){} FROM bounded{} HAVING COUNT(*) >= {}", typed_,
                     has_unit_ ? bounded_units(set) : bounded_rows(set), key_outputs(set), sums,
                     group_by(set, ""), std::max<std::int64_t>(shape_.min_units, 1));
}

// The values of each unit in the groups that count. Rows are ranked by their group's hash before
// any is left out, so the groups are those of bounded_units().
std::string BoundedSql::kept_values(std::size_t set, std::size_t value) const {
  return fmt::format(
      ", placed AS (SELECT u{0}, v{1} AS v, DENSE_RANK() OVER (PARTITION BY u ORDER BY {2}{0}) AS "
      "place FROM typed), kept AS (SELECT u{0}, v FROM placed WHERE place <= {3} AND v IS NOT "
      "NULL)",
      keys(set, ", "), value, hash(HashOf::group, set, ""), shape_.sets[set].max_groups);
}

std::string BoundedSql::distinct(std::size_t set, std::size_t value) const {
  if (!has_unit_) {
    return fmt::format("WITH {} SELECT {}COUNT(DISTINCT v{}) FROM typed{}", typed_,
                       key_outputs(set), value, group_by(set, ""));
  }
  const std::string names = keys(set, ", ");
  return fmt::format(
      "WITH {0}{1}, different AS (SELECT DISTINCT u{2}, v FROM kept), listed AS (SELECT v{2}, "
      "ROW_NUMBER() OVER (PARTITION BY u{2} ORDER BY {3}, v) AS place FROM different) SELECT "
      "{4}COUNT(DISTINCT v) FROM listed WHERE place <= {5}{6}",
      typed_, kept_values(set, value), names,
      hash(HashOf::different, set, fmt::format(", {}, v", value)), key_outputs(set),
      shape_.distinct_per_group, group_by(set, ""));
}

std::string BoundedSql::leaves(std::size_t set, std::size_t value) const {
  if (!has_unit_) {
    return fmt::format(
        "WITH {0} SELECT {1}v{2}, COUNT(*) FROM typed WHERE v{2} IS NOT NULL{3} ORDER BY v{2}",
        typed_, key_outputs(set), value, group_by(set, fmt::format("v{}", value)));
  }
  const std::string names = keys(set, ", ");
  return fmt::format(
      "WITH {0}{1}, numbered AS (SELECT u{2}, v, ROW_NUMBER() OVER (PARTITION BY u{2}, v) AS "
      "ordinal FROM kept), listed AS (SELECT v{2}, ROW_NUMBER() OVER (PARTITION BY u{2} ORDER BY "
      "{3}, v, ordinal) AS place FROM numbered) SELECT {4}v, COUNT(*) FROM listed WHERE place <= "
      "{5}{6} ORDER BY v",
      typed_, kept_values(set, value), names,
      hash(HashOf::leaf, set, fmt::format(", {}, v, ordinal", value)), key_outputs(set),
      shape_.rows_per_group, group_by(set, "v"));
}

}  // namespace shoal::engine
