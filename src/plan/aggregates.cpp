#include "plan/aggregates.hpp"

#include "plan/options.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/quantile.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::plan {
namespace {

using catalog::StatisticKind;

// What an argument is called in an answer: a column by its name, anything else as it is written.
std::string written(const sql::Expression& expression) {
  if (const auto* reference = expression.get_if<sql::ColumnReference>()) {
    return reference->column.name;
  }
  return printable(sql::print(expression, sql::Dialect::shoal), 60);
}

// FILTER (WHERE condition): the value of rows for which it holds, NULL of the others.
sql::Expression where(const sql::Expression& condition, const sql::Expression& value) {
  sql::Case cases;
  cases.branches.push_back({condition, value});
  return sql::Expression(std::move(cases), condition.position());
}

bool is_variance(std::string_view name) {
  return name == "VAR_POP" || name == "VAR_SAMP" || name == "VARIANCE" || name == "VAR";
}

bool is_deviation(std::string_view name) {
  return name == "STDDEV" || name == "STDDEV_POP" || name == "STDDEV_SAMP" || name == "STDEV";
}

bool is_quantile(std::string_view name) {
  return name == "MEDIAN" || name == "PERCENTILE_CONT" || name == "PERCENTILE" ||
         name == "QUANTILE" || name == "QUANTILE_CONT" || name == "MIN" || name == "MAX";
}

bool of_population(std::string_view name) { return name.ends_with("_POP"); }

}  // namespace

std::string_view to_string(AggregateKind kind) {
  switch (kind) {
    case AggregateKind::count:
      return "count";
    case AggregateKind::units:
      return "count of units";
    case AggregateKind::distinct:
      return "count of different values";
    case AggregateKind::sum:
      return "sum";
    case AggregateKind::average:
      return "average";
    case AggregateKind::variance:
      return "variance";
    case AggregateKind::deviation:
      return "standard deviation";
    case AggregateKind::quantile:
      return "quantile";
    case AggregateKind::minimum:
      return "private quantile near the minimum";
    case AggregateKind::maximum:
      break;
  }
  return "private quantile near the maximum";
}

std::size_t AggregatePlanner::add(const sql::Expression& call) {
  const PlannedAggregate made = planned(*call.get_if<sql::Call>(), call.position());
  const auto same = [&](const PlannedAggregate& other) {
    return other.kind == made.kind && other.statistic == made.statistic &&
           other.denominator == made.denominator && other.squares == made.squares &&
           other.of_sample == made.of_sample && other.fraction == made.fraction;
  };
  const auto found = std::find_if(wanted_.aggregates.begin(), wanted_.aggregates.end(), same);
  if (found != wanted_.aggregates.end()) {
    return static_cast<std::size_t>(found - wanted_.aggregates.begin());
  }
  wanted_.aggregates.push_back(made);
  return wanted_.aggregates.size() - 1;
}

PlannedAggregate AggregatePlanner::planned(const sql::Call& call, sql::Position position) {
  if (call.name == "COUNT" || call.name == "APPROX_COUNT_DISTINCT") return count(call, position);
  if (is_quantile(call.name)) return quantile(call, position);
  const bool spread = is_variance(call.name) || is_deviation(call.name);
  if (call.name != "SUM" && call.name != "AVG" && !spread) {
    throw sql::error_at(ErrorCode::unsupported, text_, position,
                        fmt::format("{} is not supported; the aggregates are COUNT, SUM, AVG, MIN, "
                                    "MAX, MEDIAN, PERCENTILE_CONT, VAR_POP, VAR_SAMP, STDDEV_POP "
                                    "and STDDEV_SAMP",
                                    printable(call.name, 40)));
  }
  if (call.distinct) {
    throw sql::error_at(
        ErrorCode::unsupported, text_, position,
        fmt::format("{}(DISTINCT ...) is not supported; leave DISTINCT out", call.name));
  }
  const Argument one = argument(call, position);
  PlannedAggregate made;
  made.of = one.of;
  made.bounds = bounds_of(one, call, position);
  if (call.name == "SUM") {
    made.kind = AggregateKind::sum;
    made.statistic =
        want(StatisticKind::plain_sum, want_value(one, ValuePurpose::sum, *made.bounds));
    return made;
  }
  const std::size_t value =
      want_value(one, spread ? ValuePurpose::squares : ValuePurpose::sum, *made.bounds);
  made.kind = call.name == "AVG"       ? AggregateKind::average
              : is_variance(call.name) ? AggregateKind::variance
                                       : AggregateKind::deviation;
  made.denominator = want_count(one);
  made.statistic = want(StatisticKind::centred_sum, value);
  if (spread) made.squares = want(StatisticKind::centred_squares, value);
  made.of_sample = spread && !of_population(call.name);
  return made;
}

PlannedAggregate AggregatePlanner::count(const sql::Call& call, sql::Position position) {
  PlannedAggregate made;
  if (call.star) {
    made.statistic = call.filter ? want_count(counted_rows(call)) : want(StatisticKind::rows);
    return made;
  }
  const Argument one = argument(call, position);
  made.of = one.of;
  if (!call.distinct && call.name == "COUNT") {
    made.statistic = want_count(one);
    return made;
  }
  if (from_.unit && one.typed.expression == *from_.unit) {
    made.kind = AggregateKind::units;
    made.statistic = want(StatisticKind::units);
    return made;
  }
  made.kind = AggregateKind::distinct;
  made.statistic = want(StatisticKind::distinct, want_value(one, ValuePurpose::identity, {0, 1}));
  return made;
}

// MEDIAN(x), PERCENTILE_CONT(x, 0.9), MIN(x), MAX(x).
PlannedAggregate AggregatePlanner::quantile(const sql::Call& call, sql::Position position) {
  PlannedAggregate made;
  made.kind = call.name == "MIN"   ? AggregateKind::minimum
              : call.name == "MAX" ? AggregateKind::maximum
                                   : AggregateKind::quantile;
  sql::Call of_value = call;
  if (made.kind == AggregateKind::quantile) {
    made.fraction = 0.5;
    if (call.name != "MEDIAN") {
      const auto written =
          call.arguments.size() == 2 ? literal_number(call.arguments[1]) : std::nullopt;
      if (!written) {
        throw sql::error_at(
            ErrorCode::parse_error, text_, position,
            fmt::format("{} takes a value and a share, such as {}(x, 0.9)", call.name, call.name));
      }
      made.fraction = *written;
      mechanism::fraction_of(made.fraction);  // refuses what is none
      of_value.arguments.pop_back();
    }
  }
  const Argument one = argument(of_value, position);
  made.of = one.of;
  made.bounds = bounds_of(one, call, position);
  made.statistic = want(StatisticKind::leaves, want_value(one, ValuePurpose::leaves, *made.bounds));
  return made;
}

AggregatePlanner::Argument AggregatePlanner::argument(const sql::Call& call,
                                                      sql::Position position) const {
  if (call.star || call.arguments.size() != 1) {
    throw sql::error_at(ErrorCode::parse_error, text_, position,
                        fmt::format("{} takes one value, such as {}(age)", call.name, call.name));
  }
  const sql::Expression& value = call.arguments[0];
  if (!call.filter) return {rows_.value(value), written(value)};
  return {rows_.value(where(*call.filter, value)), written(value)};
}

// COUNT(*) FILTER (WHERE ...): how many rows have a 1.
AggregatePlanner::Argument AggregatePlanner::counted_rows(const sql::Call& call) const {
  const sql::Expression one(sql::Literal{sql::LiteralKind::integer, "1"}, call.filter->position());
  return {rows_.value(where(*call.filter, one)), "rows"};
}

catalog::Bounds AggregatePlanner::bounds_of(const Argument& argument, const sql::Call& call,
                                            sql::Position position) const {
  if (argument.typed.type.kind != ValueKind::number) {
    throw sql::error_at(ErrorCode::invalid_argument, text_, position,
                        fmt::format("{}({}) needs a number; this is {}", call.name, argument.of,
                                    in_words(argument.typed.type.kind)));
  }
  std::optional<catalog::Bounds> bounds = argument.typed.type.bounds;
  for (const sql::NamedArgument& named : call.named) {
    const std::string name = to_lower(named.name.name);
    if (name != "contribution_bounds_per_row" && name != "bounds") {
      throw sql::error_at(ErrorCode::unsupported, text_, named.name.position,
                          fmt::format("{} is not supported here; write bounds => (lower, upper)",
                                      printable(named.name.name, 60)));
    }
    const auto lower = named.values.size() == 2 ? literal_number(named.values[0]) : std::nullopt;
    const auto upper = named.values.size() == 2 ? literal_number(named.values[1]) : std::nullopt;
    if (!lower || !upper || !(*lower < *upper) || std::fabs(*lower) > 1e100 ||
        std::fabs(*upper) > 1e100) {
      throw sql::error_at(ErrorCode::invalid_argument, text_, named.name.position,
                          "bounds are two numbers between -1e100 and 1e100, the lower first, such "
                          "as bounds => (0, 100)");
    }
    bounds = catalog::Bounds{*lower, *upper};
  }
  if (bounds && bounds->lower < bounds->upper) return *bounds;
  throw sql::error_at(
      ErrorCode::refused_by_policy, text_, position,
      fmt::format("{0}({1}) needs public bounds of {1}; write {0}({1}, bounds => (0, 100)), or let "
                  "the owner add them to the column in the policy, for example bounds = [0, 100]",
                  call.name, argument.of));
}

std::size_t AggregatePlanner::want_count(const Argument& argument) {
  if (!argument.typed.type.nullable) return want(StatisticKind::rows);
  return want(StatisticKind::values, want_value(argument, ValuePurpose::presence, {0, 1}));
}

std::size_t AggregatePlanner::want_value(const Argument& argument, ValuePurpose purpose,
                                         catalog::Bounds bounds) {
  for (std::size_t i = 0; i < wanted_.values.size(); ++i) {
    const WantedValue& other = wanted_.values[i];
    if (other.expression == argument.typed.expression && other.purpose == purpose &&
        other.bounds == bounds) {
      return i;
    }
  }
  wanted_.values.push_back(
      {argument.typed.expression, argument.typed.type, purpose, bounds, argument.of});
  return wanted_.values.size() - 1;
}

std::size_t AggregatePlanner::want(StatisticKind kind, std::size_t value) {
  for (std::size_t i = 0; i < wanted_.statistics.size(); ++i) {
    if (wanted_.statistics[i].kind == kind && wanted_.statistics[i].value == value) return i;
  }
  wanted_.statistics.push_back({kind, value});
  return wanted_.statistics.size() - 1;
}

// An average beside a variance of the same values is made of two of its three statistics.
void AggregatePlanner::share_spreads() {
  for (PlannedAggregate& average : wanted_.aggregates) {
    if (average.kind != AggregateKind::average) continue;
    const WantedValue& value = wanted_.values[wanted_.statistics[average.statistic].value];
    for (const PlannedAggregate& spread : wanted_.aggregates) {
      if (!spread.squares) continue;
      const WantedValue& other = wanted_.values[wanted_.statistics[spread.statistic].value];
      if (other.expression == value.expression && other.bounds == value.bounds) {
        average.statistic = spread.statistic;
      }
    }
  }
}

// A sum over counted values is the count times the middle plus what the values differ from it,
// which moves less than the values do.
void AggregatePlanner::share_counts() {
  for (PlannedAggregate& sum : wanted_.aggregates) {
    if (sum.kind != AggregateKind::sum) continue;
    const std::size_t at = wanted_.statistics[sum.statistic].value;
    const WantedValue& value = wanted_.values[at];
    for (const PlannedAggregate& other : wanted_.aggregates) {
      if (other.kind == AggregateKind::average && other.bounds == sum.bounds &&
          wanted_.values[wanted_.statistics[other.statistic].value].expression ==
              value.expression) {
        sum.statistic = other.statistic;
        sum.denominator = other.denominator;
      }
    }
    if (sum.denominator) continue;
    for (std::size_t i = 0; i < wanted_.statistics.size(); ++i) {
      const WantedStatistic& count = wanted_.statistics[i];
      const bool counts_these = value.type.nullable
                                    ? count.kind == StatisticKind::values &&
                                          wanted_.values[count.value].expression == value.expression
                                    : count.kind == StatisticKind::rows;
      if (!counts_these) continue;
      sum.denominator = i;
      sum.statistic = want(StatisticKind::centred_sum, at);
      break;
    }
  }
}

WantedAggregates AggregatePlanner::finish(bool one_row_each) && {
  share_spreads();
  share_counts();
  // The count of values can be taken from whatever is summed of the same expression.
  for (WantedStatistic& statistic : wanted_.statistics) {
    if (statistic.kind != StatisticKind::values) continue;
    for (std::size_t i = 0; i < wanted_.values.size(); ++i) {
      const WantedValue& other = wanted_.values[i];
      if ((other.purpose == ValuePurpose::sum || other.purpose == ValuePurpose::squares) &&
          other.expression == wanted_.values[statistic.value].expression) {
        statistic.value = i;
        break;
      }
    }
  }
  // Only what is used stays, in the order in which it was asked for.
  WantedAggregates kept;
  std::vector<std::optional<std::size_t>> value_at(wanted_.values.size());
  std::vector<std::optional<std::size_t>> statistic_at(wanted_.statistics.size());
  const auto keep = [&](std::size_t index) {
    if (statistic_at[index]) return *statistic_at[index];
    WantedStatistic statistic = wanted_.statistics[index];
    if (statistic.kind == StatisticKind::rows && one_row_each)
      statistic.kind = StatisticKind::units;
    if (statistic.kind != StatisticKind::rows && statistic.kind != StatisticKind::units) {
      auto& at = value_at[statistic.value];
      if (!at) {
        at = kept.values.size();
        kept.values.push_back(wanted_.values[statistic.value]);
      }
      statistic.value = *at;
    }
    const auto same = std::find_if(
        kept.statistics.begin(), kept.statistics.end(), [&](const WantedStatistic& other) {
          return other.kind == statistic.kind && other.value == statistic.value;
        });
    statistic_at[index] = static_cast<std::size_t>(same - kept.statistics.begin());
    if (same == kept.statistics.end()) kept.statistics.push_back(statistic);
    return *statistic_at[index];
  };
  // Histograms come last, so that the integers of a group are numbered as statistics are.
  kept.aggregates = wanted_.aggregates;
  for (const bool histograms : {false, true}) {
    for (std::size_t i = 0; i < kept.aggregates.size(); ++i) {
      PlannedAggregate& one = kept.aggregates[i];
      const WantedStatistic& asked = wanted_.statistics[wanted_.aggregates[i].statistic];
      if ((asked.kind == StatisticKind::leaves) != histograms) continue;
      if (one.denominator) one.denominator = keep(*one.denominator);
      one.statistic = keep(one.statistic);
      if (one.squares) one.squares = keep(*one.squares);
    }
  }
  number_quantiles(kept);
  return kept;
}

// A group's quantiles are released histogram by histogram.
void AggregatePlanner::number_quantiles(WantedAggregates& kept) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < kept.statistics.size(); ++i) {
    if (kept.statistics[i].kind != StatisticKind::leaves) continue;
    for (PlannedAggregate& one : kept.aggregates) {
      if (one.statistic == i) one.quantile = next++;
    }
  }
}

}  // namespace shoal::plan
