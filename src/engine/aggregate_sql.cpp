#include "engine/aggregate_sql.hpp"

#include "engine/grid_sql.hpp"
#include "engine/source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

namespace shoal::engine {
namespace {

using catalog::ColumnType;
using catalog::Statistic;
using catalog::StatisticKind;

bool is_sum(const Statistic& statistic) {
  return statistic.kind == StatisticKind::plain_sum || statistic.kind == StatisticKind::centred_sum;
}

// What one row adds to a statistic; NULL adds nothing.
std::string row_value(const catalog::Table& table, const Statistic& statistic) {
  if (statistic.kind == StatisticKind::rows) return "1";
  const catalog::Column* column = table.find_column(statistic.column, true);
  SHOAL_CHECK(column != nullptr);
  if (statistic.kind == StatisticKind::values) return identifier(column->name);
  const std::string value =
      grid_steps_sql(identifier(column->name), column->type == ColumnType::integer, statistic.range,
                     column->nulls);
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
