#include "plan/aggregates.hpp"
#include "plan/automatic.hpp"
#include "plan/calibrate.hpp"
#include "plan/comma_joins.hpp"
#include "plan/grouping.hpp"
#include "plan/options.hpp"
#include "plan/presentation.hpp"
#include "plan/relation.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/plan/consistency.hpp>
#include <shoal/plan/estimate.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace shoal::plan {
namespace {

// More columns than this in one question would each get too little of its epsilon to be worth
// asking.
constexpr std::size_t kMaxColumns = 100;

// What an engine takes at once. Refused here, before anything is spent.
constexpr std::size_t kMaxValues = 32;

// Stands in for a number of groups that is still to be found.
constexpr std::int64_t kUnfoundGroups = 4;

class Planner {
 public:
  Planner(std::string_view text, const catalog::Policy& policy, const QueryOptions& options,
          const Known& known)
      : text_(text),
        policy_(policy),
        asked_(options),
        known_(known),
        query_(checked(sql::parse_query(text), text)),
        options_(resolve_options(query_, options, policy, text)),
        from_(read(query_, policy, text)),
        rows_(from_.scope, text),
        automatic_(from_, rows_, known_.findings, text) {}

  Plan make() {
    plan_.neighbors = policy_.neighbors;
    plan_.explain_only = query_.explain;
    plan_.sql = text_;
    plan_.options = asked_;
    plan_.canonical = canonical();
    plan_.asked = {options_.epsilon, options_.delta, options_.confidence, options_.noise};
    plan_.has_unit = from_.unit.has_value();
    for (const catalog::Table* table : from_.tables) {
      if (std::find(plan_.tables.begin(), plan_.tables.end(), table->name) == plan_.tables.end()) {
        plan_.tables.push_back(table->name);
      }
    }
    for (const UniqueColumn& one : from_.unique) {
      plan_.unique.push_back({one.table->name, one.column});
    }
    plan_.fan_outs = from_.fan_outs;
    const Grouping grouping = read_grouping(query_, from_, rows_, text_);
    if (options_.automatic_groups) {
      options_.max_groups = automatic_.max_groups(grouping).value_or(kUnfoundGroups);
    }
    find_totals(grouping);
    bound_groups(grouping, from_, options_, policy_, text_, plan_);
    if (options_.consistent) require_consistency();
    WantedAggregates wanted = aggregates();
    plan_.aggregates = wanted.aggregates;
    refuse_nothing(wanted);
    refuse_too_much(wanted);
    price(wanted);
    plan_.clustered = !plan_.totals && from_.scanned && from_.scanned->ordered_by_person();
    write_rows(grouping, wanted);
    plan_.presentation = make_presentation(query_, grouping, from_.scope, calls_, text_);
    return std::move(plan_);
  }

 private:
  static sql::Query checked(sql::Query query, std::string_view text) {
    if (query.items.size() > kMaxColumns) {
      throw sql::error_at(
          ErrorCode::unsupported, text, query.items[kMaxColumns].position,
          fmt::format("a question may have at most {} columns; ask several", kMaxColumns));
    }
    if (query.distinct) {
      throw sql::error_at(ErrorCode::unsupported, text, query.items.front().position,
                          "SELECT DISTINCT would list private values; use GROUP BY, which hides "
                          "small groups, or COUNT(DISTINCT x)");
    }
    if (!query.from) {
      throw sql::error_at(ErrorCode::unsupported, text, query.items.front().position,
                          "the question reads no table; add FROM");
    }
    return joined_by_where(std::move(query));
  }

  static PlannedRelation read(const sql::Query& query, const catalog::Policy& policy,
                              std::string_view text) {
    RelationPlanner planner(policy, text);
    PlannedRelation from = planner.plan(*query.from, planner.extended({}, query));
    if (!from.is_private) {
      throw sql::error_at(ErrorCode::unsupported, text, query.from->position(),
                          "the question reads public tables only, which need no protection; ask "
                          "the database that holds them");
    }
    return from;
  }

  // The options are part of what is asked, and stand beside it; whether it is only explained is
  // not.
  std::string canonical() const {
    sql::Query query = query_;
    query.explain = false;
    return sql::print(query, sql::Dialect::shoal);
  }

  void require_consistency() {
    const bool listed = std::all_of(
        plan_.groupings.begin(), plan_.groupings.end(),
        [](const PlannedGrouping& one) { return one.keys.empty() || !one.public_keys.empty(); });
    if (!listed || !finest_grouping(plan_.groupings)) {
      throw Error(ErrorCode::unsupported,
                  "groupings are made consistent where the policy lists the values of all keys and "
                  "one of the sets has all of them, as in ROLLUP and CUBE; leave consistent out");
    }
    plan_.consistent = plan_.groupings.size() > 1;
  }

  // Whether rows are to be added up by person and group before anything is clamped.
  void find_totals(const Grouping& grouping) {
    std::optional<sql::Position> at;
    for_each_aggregate(query_, [&](const sql::Expression& call) {
      if (bounds_total(call)) at = call.position();
    });
    plan_.totals = at && from_.unit;
    if (!plan_.totals || grouping.sets.size() == 1) return;
    throw sql::error_at(ErrorCode::unsupported, text_, *at,
                        "contribution_bounds_per_group speaks of one GROUP BY; leave GROUPING "
                        "SETS, ROLLUP and CUBE out, or write bounds => (lower, upper) of a row");
  }

  WantedAggregates aggregates() {
    std::optional<std::int64_t> rows_per_person;
    if (plan_.totals)
      rows_per_person = options_.rows_per_group.value_or(
          from_.limits.rows_per_group.value_or(from_.limits.rows_per_person.value_or(1)));
    AggregatePlanner planner(from_, rows_, automatic_, rows_per_person, text_);
    for_each_aggregate(query_, [&](const sql::Expression& call) {
      const auto known = std::find_if(calls_.begin(), calls_.end(),
                                      [&](const auto& one) { return one.written == call; });
      if (known == calls_.end()) calls_.push_back({call, planner.add(call)});
    });
    const bool hidden = std::any_of(plan_.groupings.begin(), plan_.groupings.end(),
                                    [](const PlannedGrouping& one) { return one.hidden; });
    WantedAggregates wanted = std::move(planner).finish(hidden && plan_.rows_per_group == 1);
    count_parts(wanted.aggregates);
    return wanted;
  }

  void count_parts(std::vector<PlannedAggregate>& aggregates) const {
    for (const sql::QueryItem& item : query_.items) {
      sql::Query alone;
      alone.items = {item};
      std::set<std::size_t> used;
      for_each_aggregate(alone, [&](const sql::Expression& call) {
        const auto known = std::find_if(calls_.begin(), calls_.end(),
                                        [&](const auto& one) { return one.written == call; });
        used.insert(known->aggregate);
      });
      for (const std::size_t at : used) {
        aggregates[at].parts = std::max(aggregates[at].parts, used.size());
      }
    }
  }

  // What must be found first is paid from a part of the epsilon, the answer from the rest.
  void price(const WantedAggregates& wanted) {
    const double epsilon = options_.epsilon;
    options_.epsilon = automatic_.share(epsilon, known_.searched);
    if (known_.noise) options_.noise = *known_.noise;
    calibrate(wanted, options_, plan_);
    const bool unfound = automatic_.must_search();
    plan_.automatic = std::move(automatic_).take();
    for (PlannedAggregate& one : plan_.aggregates) {
      if (unfound && (one.searched || options_.automatic_groups)) {
        if (one.searched) one.bounds = std::nullopt;
        continue;
      }
      one.expected_error = expected_error(plan_, 0, one);
    }
    if (unfound) declare(epsilon);
  }

  void declare(double epsilon) {
    privacy::event::Compose all;
    for (const Automatic& one : plan_.automatic) {
      if (!one.found) all.events.push_back(search_event(one.search));
    }
    all.events.push_back(privacy::declared(plan_.limit));
    plan_.event = all;
    plan_.charge = privacy::price(plan_.event, plan_.neighbors);
    plan_.epsilon = Epsilon(epsilon);
  }

  void refuse_too_much(const WantedAggregates& wanted) const {
    if (wanted.values.size() <= kMaxValues) return;
    throw sql::error_at(
        ErrorCode::unsupported, text_, query_.items.front().position,
        fmt::format("the aggregates of the question are over {} different values; at most {} can "
                    "be answered at once: ask in parts",
                    wanted.values.size(), kMaxValues));
  }

  void refuse_nothing(const WantedAggregates& wanted) const {
    const bool hidden = std::any_of(plan_.groupings.begin(), plan_.groupings.end(),
                                    [](const PlannedGrouping& one) { return one.hidden; });
    if (!wanted.statistics.empty() || hidden) return;
    throw sql::error_at(ErrorCode::unsupported, text_, query_.items.front().position,
                        plan_.groupings.front().keys.empty()
                            ? "the question asks for no aggregate, and rows are private; write for "
                              "example COUNT(*), SUM(x) or AVG(x)"
                            : "the question asks for keys alone, which are public; add for example "
                              "COUNT(*)");
  }

  void write_rows(const Grouping& grouping, const WantedAggregates& wanted) {
    if (query_.where) plan_.rows.where = rows_.condition(*query_.where);
    if (const auto listed = listed_keys(grouping, plan_)) {
      plan_.rows.where = plan_.rows.where
                             ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and,
                                                           *plan_.rows.where, *listed})
                             : *listed;
    }
    plan_.rows.from = from_.relation;
    if (from_.unit) add_row_item(*from_.unit, "u");
    for (std::size_t i = 0; i < grouping.keys.size(); ++i) {
      const GroupKey& key = grouping.keys[i];
      add_row_item(key.typed.expression, fmt::format("k{}", i));
      plan_.keys.push_back({"", column_type(key.typed.type)});
    }
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      const WantedValue& value = wanted.values[i];
      add_row_item(value.purpose == ValuePurpose::presence ? present_or_null(value.expression)
                                                           : value.expression,
                   fmt::format("v{}", i));
    }
    if (plan_.totals) group_rows(grouping);
    // A query must select something, even if rows are only to be counted.
    if (plan_.rows.items.empty()) {
      add_row_item(sql::Expression(sql::Literal{sql::LiteralKind::integer, "1"}), "v0");
      plan_.values.push_back({.whole = true, .range = catalog::place_on_grid({0, 1}, {0})});
    }
  }

  void group_rows(const Grouping& grouping) {
    plan_.rows.group_by.emplace();
    const auto add = [&](const sql::Expression& key) {
      plan_.rows.group_by->elements.push_back({sql::GroupingKind::expression, {{key}}});
    };
    add(*from_.unit);
    for (const GroupKey& key : grouping.keys) add(key.typed.expression);
  }

  void add_row_item(const sql::Expression& expression, const std::string& name) {
    sql::QueryItem item;
    item.expression = expression;
    item.alias = sql::Identifier{name, true};
    plan_.rows.items.push_back(std::move(item));
  }

  static sql::Expression present_or_null(const sql::Expression& expression) {
    sql::Case cases;
    cases.branches.push_back({sql::Expression(sql::IsNull{expression, true}),
                              sql::Expression(sql::Literal{sql::LiteralKind::integer, "1"})});
    return sql::Expression(std::move(cases));
  }

  std::string_view text_;
  const catalog::Policy& policy_;
  const QueryOptions& asked_;
  const Known& known_;
  sql::Query query_;
  ResolvedOptions options_;
  PlannedRelation from_;
  RowExpressions rows_;
  AutomaticPlanner automatic_;
  std::vector<AggregateCall> calls_;
  Plan plan_;
};

}  // namespace

Plan make_plan(std::string_view sql, const catalog::Policy& policy, const QueryOptions& options,
               const Known& known) {
  return Planner(sql, policy, options, known).make();
}

}  // namespace shoal::plan
