#include "plan/calibrate.hpp"
#include "plan/filter.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/plan/estimate.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {
namespace {

using catalog::Column;
using catalog::StatisticKind;

// More columns than this in one question would each get too little of its epsilon to be worth
// asking.
constexpr std::size_t kMaxOutputs = 100;

const catalog::Table& resolve_table(const sql::Identifier& name, const catalog::Policy& policy,
                                    std::string_view text) {
  if (const catalog::Table* table = policy.find_table(name.name, name.quoted)) return *table;
  std::vector<std::string> names;
  for (const catalog::Table& table : policy.tables) names.push_back(table.name);
  throw sql::error_at(ErrorCode::not_found, text, name.position,
                      fmt::format("the policy has no table {}; it has {}", printable(name.name, 60),
                                  join_names(names)));
}

class Planner {
 public:
  Planner(std::string_view text, const catalog::Policy& policy, const QueryOptions& options)
      : text_(text),
        options_(options),
        select_(sql::parse_select(text)),
        table_(resolve_table(select_.table, policy, text)) {
    plan_.table = table_.name;
    plan_.neighbors = policy.neighbors;
    plan_.confidence = Confidence(options.confidence);
    check_limits(policy);
    bound_units(policy);
  }

  Plan make() {
    if (select_.where) plan_.filter = check_filter(*select_.where, table_, text_);
    if (select_.items.size() > kMaxOutputs) {
      throw sql::error_at(
          ErrorCode::unsupported, text_, select_.items[kMaxOutputs].expression.position(),
          fmt::format("a question may have at most {} columns; ask several", kMaxOutputs));
    }
    for (const sql::SelectItem& item : select_.items) plan_.outputs.push_back(output(item));
    share_average_sums();
    name_outputs();
    calibrate(wanted_, options_, plan_);
    for (PlannedOutput& one : plan_.outputs) one.expected_error = expected_error(plan_, one);
    return std::move(plan_);
  }

 private:
  void check_limits(const catalog::Policy& policy) const {
    if (policy.max_epsilon_per_query && options_.epsilon > policy.max_epsilon_per_query->value()) {
      throw Error(ErrorCode::refused_by_policy,
                  fmt::format("epsilon {} is above the policy's {} for one question; ask with less",
                              format_number(options_.epsilon),
                              format_number(policy.max_epsilon_per_query->value())));
    }
    if (options_.delta && *options_.delta > policy.delta.value()) {
      throw Error(
          ErrorCode::refused_by_policy,
          fmt::format(
              "delta {} is above the policy's total of {}; ask with less, or without --delta",
              format_number(*options_.delta), format_number(policy.delta.value())));
    }
  }

  void bound_units(const catalog::Policy& policy) {
    if (policy.unit == catalog::PrivacyUnit::row) return;
    if (!table_.max_rows_per_person) {
      throw Error(ErrorCode::refused_by_policy,
                  fmt::format("the unit is a person, but the policy does not say how many rows of "
                              "a person count in "
                              "{0}; add to [table.{0}] for example max_rows_per_person = 10",
                              table_.name));
    }
    plan_.person_column = table_.person_column;
    plan_.rows_per_unit = *table_.max_rows_per_person;
  }

  PlannedOutput output(const sql::SelectItem& item) {
    const sql::Position position = item.expression.position();
    const auto* call = item.expression.get_if<sql::Call>();
    if (!call) {
      throw sql::error_at(
          ErrorCode::unsupported, text_, position,
          "only aggregates may be asked for; write COUNT(*), COUNT(x), SUM(x) or AVG(x)");
    }
    if (call->distinct) {
      throw sql::error_at(
          ErrorCode::unsupported, text_, position,
          "DISTINCT inside an aggregate is not supported; count rows with COUNT(*)");
    }
    PlannedOutput planned;
    planned.name = item.alias ? item.alias->name : "";
    if (call->name == "COUNT" && call->star) {
      planned.kind = OutputKind::count;
      planned.statistic = want(StatisticKind::rows, nullptr);
      return planned;
    }
    if (call->name != "COUNT" && call->name != "SUM" && call->name != "AVG") {
      throw sql::error_at(ErrorCode::unsupported, text_, position,
                          fmt::format("{} is not supported; the aggregates are COUNT, SUM and AVG",
                                      printable(call->name, 40)));
    }
    const Column& column = argument(*call, position);
    planned.column = column.name;
    if (call->name == "COUNT") {
      planned.kind = OutputKind::count;
      planned.statistic = count_of(column);
      return planned;
    }
    require_bounds(column, *call, position);
    planned.kind = call->name == "SUM" ? OutputKind::sum : OutputKind::average;
    if (planned.kind == OutputKind::average) {
      planned.denominator = count_of(column);
      planned.statistic = want(StatisticKind::centred_sum, &column);
    }
    return planned;
  }

  const Column& argument(const sql::Call& call, sql::Position position) const {
    if (call.star || call.arguments.size() != 1) {
      throw sql::error_at(
          ErrorCode::parse_error, text_, position,
          fmt::format("{} takes one column, such as {}(age)", call.name, call.name));
    }
    const auto* reference = call.arguments[0].get_if<sql::ColumnReference>();
    if (!reference) {
      throw sql::error_at(
          ErrorCode::unsupported, text_, call.arguments[0].position(),
          fmt::format(
              "{} of an expression is not supported: on some row it could fail, and an error "
              "would tell which; write {}(column)",
              call.name, call.name));
    }
    return resolve_column(*reference, call.arguments[0].position(), table_, text_);
  }

  void require_bounds(const Column& column, const sql::Call& call, sql::Position position) const {
    if (!catalog::is_numeric(column.type)) {
      throw sql::error_at(ErrorCode::invalid_argument, text_, position,
                          fmt::format("{}({}) needs a numeric column; {} is of type {}", call.name,
                                      column.name, column.name, to_string(column.type)));
    }
    if (!column.bounds) {
      throw sql::error_at(ErrorCode::refused_by_policy, text_, position,
                          fmt::format("{0}({1}) needs public bounds of {1}; the owner adds to "
                                      "[table.{2}.column.{1}] for example bounds = [0, 100]",
                                      call.name, column.name, table_.name));
    }
  }

  std::size_t count_of(const Column& column) {
    return column.nulls ? want(StatisticKind::values, &column) : want(StatisticKind::rows, nullptr);
  }

  // The index of a statistic; one that is wanted twice is released once and serves both.
  std::size_t want(StatisticKind kind, const Column* column) {
    const auto found = std::find_if(
        wanted_.begin(), wanted_.end(),
        [&](const WantedStatistic& one) { return one.kind == kind && one.column == column; });
    if (found != wanted_.end()) return static_cast<std::size_t>(found - wanted_.begin());
    wanted_.push_back({kind, column});
    return wanted_.size() - 1;
  }

  // A sum beside the average of the same column costs nothing more: it is the same two statistics.
  void share_average_sums() {
    for (PlannedOutput& one : plan_.outputs) {
      if (one.kind != OutputKind::sum) continue;
      const Column* column = table_.find_column(one.column, true);
      const auto average =
          std::find_if(plan_.outputs.begin(), plan_.outputs.end(), [&](const PlannedOutput& other) {
            return other.kind == OutputKind::average && other.column == one.column;
          });
      if (average != plan_.outputs.end()) {
        one.statistic = average->statistic;
        one.denominator = average->denominator;
      } else {
        one.statistic = want(StatisticKind::plain_sum, column);
      }
    }
  }

  void name_outputs() {
    static constexpr const char* kNames[] = {"count", "sum", "avg"};
    std::vector<std::string> taken;
    for (PlannedOutput& one : plan_.outputs) {
      std::string name = one.name;
      if (name.empty()) {
        name = kNames[static_cast<int>(one.kind)];
        if (!one.column.empty()) name += "_" + one.column;
      }
      std::string free_name = name;
      for (int i = 2; std::find(taken.begin(), taken.end(), free_name) != taken.end(); ++i) {
        free_name = fmt::format("{}_{}", name, i);
      }
      one.name = free_name;
      taken.push_back(free_name);
    }
  }

  std::string_view text_;
  QueryOptions options_;
  sql::Select select_;
  const catalog::Table& table_;
  std::vector<WantedStatistic> wanted_;
  Plan plan_;
};

}  // namespace

Plan make_plan(std::string_view sql, const catalog::Policy& policy, const QueryOptions& options) {
  return Planner(sql, policy, options).make();
}

}  // namespace shoal::plan
