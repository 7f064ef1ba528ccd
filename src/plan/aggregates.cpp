#include "plan/aggregates.hpp"

#include "plan/options.hpp"
#include "plan/subqueries.hpp"

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

constexpr std::string_view kTotalBounds = "contribution_bounds_per_group";

const sql::NamedArgument* total_bounds(const sql::Call& call) {
  for (const sql::NamedArgument& named : call.named) {
    if (to_lower(named.name.name) == kTotalBounds) return &named;
  }
  return nullptr;
}

// bounds => AUTO
bool is_automatic(const sql::NamedArgument& named) {
  if (named.values.size() != 1) return false;
  const auto* word = named.values.front().get_if<sql::ColumnReference>();
  return word && !word->table && to_lower(word->column.name) == "auto";
}

// Stand-ins for bounds that are still to be found: what an answer may cost does not depend on them.
constexpr catalog::Bounds kUnfound = {-1, 1};

const sql::Expression& argument_of(const sql::Call& call, sql::Position position,
                                   std::string_view text) {
  if (!call.star && call.arguments.size() == 1) return call.arguments[0];
  throw sql::error_at(ErrorCode::parse_error, text, position,
                      fmt::format("{} takes one value, such as {}(age)", call.name, call.name));
}

sql::Expression number_literal(double value) {
  const sql::Expression positive(
      sql::Literal{sql::LiteralKind::decimal, fmt::format("{:.17e}", std::fabs(value))});
  return value < 0 ? sql::Expression(sql::Unary{sql::UnaryOperator::minus, positive}) : positive;
}

// COUNTIF(c) is COUNT(*) FILTER (WHERE c).
sql::Call counted_if(const sql::Call& call, sql::Position position, std::string_view text) {
  if (call.distinct) {
    throw sql::error_at(
        ErrorCode::unsupported, text, position,
        fmt::format("{}(DISTINCT ...) is not supported; leave DISTINCT out", call.name));
  }
  const sql::Expression& condition = argument_of(call, position, text);
  sql::Call count{.name = "COUNT", .star = true, .named = call.named};
  count.filter =
      call.filter
          ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and, *call.filter, condition},
                            position)
          : condition;
  return count;
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

bool bounds_total(const sql::Expression& call) {
  return total_bounds(*call.get_if<sql::Call>()) != nullptr;
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
  if (call.name == "COUNTIF" || call.name == "COUNT_IF") {
    return planned(counted_if(call, position, text_), position);
  }
  if (rows_per_person_) return total(call, position);
  if (call.name == "COUNT" || call.name == "APPROX_COUNT_DISTINCT") return count(call, position);
  if (is_quantile(call.name)) return quantile(call, position);
  if (call.name == "COUNT_CLIPPED") return clipped(call, position);
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
  set_bounds(one, call, position, made);
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

// COUNT_CLIPPED(x, bounds => (a, b)): how many values lie beyond the bounds, a count like any
// other.
PlannedAggregate AggregatePlanner::clipped(const sql::Call& call, sql::Position position) {
  PlannedAggregate made;
  const Argument one = argument(call, position);
  set_bounds(one, call, position, made);
  const sql::Expression value =
      call.filter ? where(*call.filter, call.arguments[0]) : call.arguments[0];
  const sql::Expression beyond(sql::Between{value, number_literal(made.bounds->lower),
                                            number_literal(made.bounds->upper), true},
                               position);
  const sql::Expression counted(sql::Literal{sql::LiteralKind::integer, "1"}, position);
  made.of = "clipped " + one.of;
  made.statistic = want_count({rows_.value(where(beyond, counted)), made.of});
  return made;
}

// COUNT(DISTINCT person) FILTER (WHERE ...) of one row a person and group: how many have some row
// for which the condition holds.
PlannedAggregate AggregatePlanner::people_with(const sql::Call& call, sql::Position position) {
  const sql::Expression one(sql::Literal{sql::LiteralKind::integer, "1"}, position);
  const sql::Call any{.name = "MAX", .arguments = {where(*call.filter, one)}};
  PlannedAggregate made;
  made.of = written(call.arguments[0]);
  made.statistic = want_count({unit_aggregate(any, rows_, position, text_), made.of});
  return made;
}

// SUM, COUNT or AVG of one row a person and group, which holds the person's own: the total is
// clamped, not the rows. An average is that of people's averages.
PlannedAggregate AggregatePlanner::total(const sql::Call& call, sql::Position position) {
  const bool counts = call.name == "COUNT" && !call.distinct;
  const sql::NamedArgument* named = total_bounds(call);
  if (!counts && call.name != "SUM" && call.name != "AVG") {
    if (call.name == "COUNT" && call.arguments.size() == 1 &&
        rows_.value(call.arguments[0]).expression == *from_.unit) {
      return call.filter ? people_with(call, position) : count(call, position);
    }
    throw sql::error_at(ErrorCode::unsupported, text_, position,
                        fmt::format("beside contribution_bounds_per_group there are SUM, COUNT and "
                                    "AVG; ask for {} in a question of its own",
                                    printable(call.name, 40)));
  }
  if (call.named.size() != (named ? 1u : 0u) || (!counts && !named)) {
    throw sql::error_at(ErrorCode::unsupported, text_, position,
                        "where one aggregate has contribution_bounds_per_group, each SUM and AVG "
                        "must have it, and no other bounds; or ask in two questions");
  }
  sql::Call inner{call.name, call.arguments, call.star && !call.filter, call.distinct};
  if (call.filter) {
    const sql::Expression one(sql::Literal{sql::LiteralKind::integer, "1"}, position);
    inner.arguments = {where(*call.filter, call.star ? one : argument_of(call, position, text_))};
  }
  const TypedExpression typed = unit_aggregate(inner, rows_, position, text_);
  PlannedAggregate made;
  made.of = call.star ? "rows" : written(argument_of(call, position, text_));
  made.bounds =
      named ? written_bounds(*named) : catalog::Bounds{0, static_cast<double>(*rows_per_person_)};
  const Argument one{typed, made.of};
  const std::size_t value = want_value(one, ValuePurpose::sum, *made.bounds);
  made.kind = counts ? AggregateKind::count : AggregateKind::sum;
  if (call.name != "AVG") {
    made.statistic = want(StatisticKind::plain_sum, value);
    return made;
  }
  made.kind = AggregateKind::average;
  made.denominator = want_count(one);
  made.statistic = want(StatisticKind::centred_sum, value);
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
  set_bounds(one, call, position, made);
  made.statistic = want(StatisticKind::leaves, want_value(one, ValuePurpose::leaves, *made.bounds));
  return made;
}

AggregatePlanner::Argument AggregatePlanner::argument(const sql::Call& call,
                                                      sql::Position position) const {
  const sql::Expression& value = argument_of(call, position, text_);
  if (!call.filter) return {rows_.value(value), written(value)};
  return {rows_.value(where(*call.filter, value)), written(value)};
}

// COUNT(*) FILTER (WHERE ...): how many rows have a 1.
AggregatePlanner::Argument AggregatePlanner::counted_rows(const sql::Call& call) const {
  const sql::Expression one(sql::Literal{sql::LiteralKind::integer, "1"}, call.filter->position());
  return {rows_.value(where(*call.filter, one)), "rows"};
}

// From the call, or what is declared of the value.
void AggregatePlanner::set_bounds(const Argument& argument, const sql::Call& call,
                                  sql::Position position, PlannedAggregate& made) {
  if (argument.typed.type.kind != ValueKind::number) {
    throw sql::error_at(ErrorCode::invalid_argument, text_, position,
                        fmt::format("{}({}) needs a number; this is {}", call.name, argument.of,
                                    in_words(argument.typed.type.kind)));
  }
  made.bounds = argument.typed.type.bounds;
  for (const sql::NamedArgument& named : call.named) {
    const std::string name = to_lower(named.name.name);
    // Of a row that is a unit, the total is the row's.
    if (name != "contribution_bounds_per_row" && name != "bounds" && name != kTotalBounds) {
      throw sql::error_at(ErrorCode::unsupported, text_, named.name.position,
                          fmt::format("{} is not supported here; write bounds => (lower, upper)",
                                      printable(named.name.name, 60)));
    }
    if (is_automatic(named)) {
      made.bounds = automatic_.bounds(call.arguments.front(), argument.of, position);
      made.searched = !made.bounds;
      if (made.searched) made.bounds = kUnfound;
    } else {
      made.bounds = written_bounds(named);
    }
  }
  if (made.bounds && made.bounds->lower < made.bounds->upper) return;
  throw sql::error_at(
      ErrorCode::refused_by_policy, text_, position,
      fmt::format("{0}({1}) needs public bounds of {1}; write {0}({1}, bounds => (0, 100)), or "
                  "bounds => AUTO to have them found, or let the owner add them to the column in "
                  "the policy, for example bounds = [0, 100]",
                  call.name, argument.of));
}

catalog::Bounds AggregatePlanner::written_bounds(const sql::NamedArgument& named) const {
  const auto lower = named.values.size() == 2 ? literal_number(named.values[0]) : std::nullopt;
  const auto upper = named.values.size() == 2 ? literal_number(named.values[1]) : std::nullopt;
  if (!lower || !upper || !(*lower < *upper) || std::fabs(*lower) > 1e100 ||
      std::fabs(*upper) > 1e100) {
    throw sql::error_at(ErrorCode::invalid_argument, text_, named.name.position,
                        "bounds are two numbers between -1e100 and 1e100, the lower first, such "
                        "as bounds => (0, 100), or AUTO");
  }
  return {*lower, *upper};
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

}  // namespace shoal::plan
