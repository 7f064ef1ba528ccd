#include "plan/automatic.hpp"

#include "plan/noise_share.hpp"
#include "plan/value_bins.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {
namespace {

using sql::Expression;

// Names of subqueries.
constexpr const char* kValues = "found_values";
constexpr const char* kPairs = "found_pairs";
constexpr const char* kCounts = "found_counts";

// In so many groups a person is, or in more than the bin before says and at most as many.
constexpr std::int64_t kGroupBins[] = {1,  2,  3,  4,  5,  6,  8,   10,  12, 16,
                                       20, 24, 32, 48, 64, 96, 128, 192, 256};

Expression whole_number(std::int64_t value) {
  return Expression(sql::Literal{sql::LiteralKind::integer, fmt::format("{}", value)});
}

void add_item(sql::Query& query, const Expression& expression, const std::string& name) {
  sql::QueryItem item;
  item.expression = expression;
  item.alias = sql::Identifier{name, true};
  query.items.push_back(std::move(item));
}

sql::Relation derived(sql::Query query, const char* alias) {
  return sql::Relation(sql::DerivedTable{std::make_shared<const sql::Query>(std::move(query)),
                                         sql::Identifier{alias, true}});
}

std::string nothing_found(const std::string& what, const std::string& remedy) {
  return fmt::format("the automatic search for {} was made and found too few people to tell; {}",
                     what, remedy);
}

}  // namespace

const Automatic& AutomaticPlanner::add(Search search) {
  search.rule = std::string(search.kind == SearchKind::bounds ? "bounds: " : "groups: ") +
                sql::print(search.rows, sql::Dialect::shoal);
  for (const Automatic& known : automatic_) {
    if (known.search.rule == search.rule) return known;
  }
  Automatic& made = automatic_.emplace_back();
  if (const auto at = found_.find(search.rule); at != found_.end()) made.found = at->second;
  made.search = std::move(search);
  return made;
}

std::optional<catalog::Bounds> AutomaticPlanner::bounds(const Expression& value,
                                                        const std::string& of,
                                                        sql::Position position) {
  const TypedExpression typed = rows_.value(value);
  Search search;
  search.of = of;
  search.has_unit = from_.unit.has_value();
  search.clustered = from_.scanned && from_.scanned->ordered_by_person();
  search.whole = typed.type.whole;
  search.within = typed.type.bounds;
  search.bins = value_bins(search.whole, search.within);
  // The value first, by itself: its bin names it several times.
  sql::Query values;
  if (from_.unit) add_item(values, *from_.unit, "u");
  add_item(values, typed.expression, "x");
  values.from = from_.relation;
  const auto column = [&](const char* name) {
    return Expression(sql::ColumnReference{std::nullopt, {name, true}}, position);
  };
  // A query over the one before it, with one more column.
  Scope scope{{{std::nullopt, "x", typed.type, reference(kValues, "x"), true}}};
  const auto step = [&](const char* name, const Expression& written) {
    const TypedExpression made = RowExpressions(scope, text_).value(written);
    sql::Query next;
    if (from_.unit) add_item(next, reference(kValues, "u"), "u");
    for (const auto& known : scope.columns)
      add_item(next, reference(kValues, known.name), known.name);
    add_item(next, made.expression, name);
    next.from = derived(std::move(values), kValues);
    values = std::move(next);
    scope.columns.push_back({std::nullopt, name, made.type, reference(kValues, name), true});
  };
  step("c", binned_value(column("x"), search.within));
  step("e", binned_exponent(column("c")));
  const Expression bin =
      RowExpressions(scope, text_).value(bin_of(column("c"), column("e"), search.whole)).expression;
  if (from_.unit) add_item(search.rows, reference(kValues, "u"), "u");
  add_item(search.rows, bin, "k0");
  search.rows.from = derived(std::move(values), kValues);
  search.rows.where = Expression(sql::IsNull{bin, true});
  const Automatic& made = add(std::move(search));
  if (!made.found) return std::nullopt;
  if (made.found->bounds) return made.found->bounds;
  throw sql::error_at(ErrorCode::refused_by_policy, text_, position,
                      nothing_found("bounds of " + of, "write bounds => (lower, upper)"));
}

// People are counted by how many groups they are in: one row for each of them.
std::optional<std::int64_t> AutomaticPlanner::max_groups(const Grouping& grouping) {
  if (!from_.unit || grouping.keys.empty()) return 1;
  sql::Query pairs;
  pairs.distinct = true;
  add_item(pairs, *from_.unit, "u");
  Search search;
  search.kind = SearchKind::max_groups;
  for (std::size_t i = 0; i < grouping.keys.size(); ++i) {
    add_item(pairs, grouping.keys[i].typed.expression, fmt::format("k{}", i));
    if (!search.of.empty()) search.of += ", ";
    search.of += printable(sql::print(grouping.keys[i].written, sql::Dialect::shoal), 60);
  }
  pairs.from = from_.relation;
  sql::Query counts;
  const Expression person = reference(kPairs, "u");
  add_item(counts, person, "u");
  add_item(counts, Expression(sql::Call{"COUNT", {}, true}), "n");
  counts.from = derived(std::move(pairs), kPairs);
  counts.group_by = sql::GroupBy{false, {{sql::GroupingKind::expression, {{person}}}}};
  sql::Case cases;
  for (const std::int64_t bin : kGroupBins) {
    search.bins.push_back(bin);
    if (bin == *(std::end(kGroupBins) - 1)) break;
    cases.branches.push_back({Expression(sql::Binary{sql::BinaryOperator::less_equal,
                                                     reference(kCounts, "n"), whole_number(bin)}),
                              whole_number(bin)});
  }
  cases.otherwise = whole_number(search.bins.back());
  search.has_unit = true;
  add_item(search.rows, reference(kCounts, "u"), "u");
  add_item(search.rows,
           Expression(sql::Cast{Expression(std::move(cases)), {sql::ScalarType::bigint}, false}),
           "k0");
  search.rows.from = derived(std::move(counts), kCounts);
  const Automatic& made = add(std::move(search));
  if (!made.found) return std::nullopt;
  if (made.found->max_groups) return made.found->max_groups;
  throw Error(ErrorCode::refused_by_policy,
              nothing_found("the groups of a person", "write max_groups_contributed = 3, say"));
}

bool AutomaticPlanner::must_search() const {
  return std::any_of(automatic_.begin(), automatic_.end(),
                     [](const Automatic& one) { return !one.found; });
}

double AutomaticPlanner::share(double epsilon, bool searched) {
  std::int64_t missing = 0;
  for (const Automatic& one : automatic_) missing += one.found ? 0 : 1;
  if ((missing == 0 && !searched) || !(epsilon > 0)) return epsilon;
  const std::int64_t all = numeric::decimal_units_down(epsilon, privacy::kEpsilonDecimals);
  const std::int64_t part = all / kSearchDivisor;
  if (missing > 0) {
    const std::int64_t each = part / missing;
    if (each < 1) too_noisy(epsilon);
    for (Automatic& one : automatic_) {
      if (!one.found) one.search.epsilon_units = each;
    }
  }
  return numeric::decimal_from_units(all - part, privacy::kEpsilonDecimals);
}

}  // namespace shoal::plan
