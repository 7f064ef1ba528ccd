#include "engine/aggregate_sql.hpp"

#include "engine/source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::engine {
namespace {

using catalog::ColumnType;
using catalog::Statistic;
using catalog::StatisticKind;

bool is_sum(const Statistic& statistic) {
  return statistic.kind == StatisticKind::plain_sum || statistic.kind == StatisticKind::centred_sum;
}

// Clamps without LEAST and GREATEST, which skip NULLs: here a NULL compares as neither and stays.
std::string clamped(const std::string& value, std::int64_t lower, std::int64_t upper,
                    const char* type) {
  return fmt::format(
      "CASE WHEN {0} < {1}::{3} THEN {1}::{3} WHEN {0} > {2}::{3} THEN {2}::{3} ELSE {0} END",
      value, lower, upper, type);
}

// A column's value in whole grid steps, within [lower, upper]. A NULL stays NULL, or is the middle
// where the policy says that there are none.
std::string steps(const catalog::Column& column, const catalog::GridRange& range) {
  std::string value = identifier(column.name);
  if (column.type == ColumnType::integer && range.grid.exponent == 0) {
    value = clamped(fmt::format("CAST({} AS BIGINT)", value), range.lower, range.upper, "BIGINT");
  } else {
    // Clamped as doubles first, so that the cast to BIGINT cannot fail, whatever the value; scaling
    // by a power of two is exact. Infinities clamp to the nearer bound, NaN is NULL in the view.
    const double scale = std::ldexp(1.0, -range.grid.exponent);
    value = fmt::format("(CAST({} AS DOUBLE) * {}::DOUBLE)", value, scale);
    value = fmt::format("CAST(round({}) AS BIGINT)",
                        clamped(value, range.lower, range.upper, "DOUBLE"));
  }
  return column.nulls ? value : fmt::format("COALESCE({}, {})", value, range.middle());
}

// What one row adds to a statistic; NULL adds nothing.
std::string row_value(const catalog::Table& table, const Statistic& statistic) {
  if (statistic.kind == StatisticKind::rows) return "1";
  const catalog::Column* column = table.find_column(statistic.column, true);
  SHOAL_CHECK(column != nullptr);
  if (statistic.kind == StatisticKind::values) return identifier(column->name);
  const std::string value = steps(*column, statistic.range);
  return statistic.kind == StatisticKind::plain_sum
             ? value
             : fmt::format("({}) - ({})", value, statistic.range.middle());
}

std::string where(const AggregateRequest& request) {
  std::string text;
  if (request.filter) text = fmt::format("({})", sql::print(*request.filter, sql::Dialect::duckdb));
  if (!request.person_column.empty()) {
    text += fmt::format("{}{} IS NOT NULL", text.empty() ? "" : " AND ",
                        identifier(request.person_column));
  }
  return text.empty() ? "" : " WHERE " + text;
}

std::string row_level(const catalog::Table& table, const AggregateRequest& request) {
  std::string items;
  for (const Statistic& statistic : request.statistics) {
    if (!items.empty()) items += ", ";
    const std::string value = row_value(table, statistic);
    if (statistic.kind == StatisticKind::rows) {
      items += "CAST(COUNT(*) AS HUGEINT)";
    } else if (statistic.kind == StatisticKind::values) {
      items += fmt::format("CAST(COUNT({}) AS HUGEINT)", value);
    } else {
      items += fmt::format("CAST(COALESCE(SUM({}), 0) AS HUGEINT)", value);
    }
  }
  return fmt::format("SELECT {} FROM {}{}", items, identifier(table.name), where(request));
}

// Per person: with more than k rows (values), the sum is scaled down to k of them, then clamped:
// what k rows drawn at random would give on average, within the bounds of k rows.
std::string bounded_person_value(std::size_t index, const Statistic& statistic, std::int64_t k) {
  if (!is_sum(statistic)) return fmt::format("LEAST(n{}, {})", index, k);
  const std::int64_t least = k * statistic.least_per_row();
  const std::int64_t most = k * statistic.most_per_row();
  return fmt::format(
      "CASE WHEN n{0} = 0 THEN 0 WHEN n{0} > {1} THEN CAST(round(LEAST(GREATEST(CAST(s{0} AS "
      "DOUBLE) * {1} / n{0}, "
      "{2}::DOUBLE), {3}::DOUBLE)) AS HUGEINT) ELSE LEAST(GREATEST(s{0}, {2}), {3}) END",
      index, k, least, most);
}

std::string person_level(const catalog::Table& table, const AggregateRequest& request) {
  std::string inner;
  std::string outer;
  for (std::size_t i = 0; i < request.statistics.size(); ++i) {
    const Statistic& statistic = request.statistics[i];
    const std::string value = row_value(table, statistic);
    inner += statistic.kind == StatisticKind::rows ? fmt::format(", COUNT(*) AS n{}", i)
                                                   : fmt::format(", COUNT({}) AS n{}", value, i);
    if (is_sum(statistic)) inner += fmt::format(", SUM({}) AS s{}", value, i);
    outer += fmt::format("{}CAST(COALESCE(SUM({}), 0) AS HUGEINT)", i == 0 ? "" : ", ",
                         bounded_person_value(i, statistic, request.rows_per_unit));
  }
  return fmt::format("SELECT {} FROM (SELECT {} AS person{} FROM {}{} GROUP BY 1) AS people", outer,
                     identifier(request.person_column), inner, identifier(table.name),
                     where(request));
}

}  // namespace

std::string write_aggregate_sql(const catalog::Table& table, const AggregateRequest& request) {
  return request.person_column.empty() ? row_level(table, request) : person_level(table, request);
}

}  // namespace shoal::engine
