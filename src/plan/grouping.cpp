#include "plan/grouping.hpp"

#include "plan/key_names.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/plan/consistency.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shoal::plan {
namespace {

using Set = std::vector<std::size_t>;

constexpr std::size_t kMaxKeys = 20;
constexpr std::size_t kMaxSets = 32;

class GroupingReader {
 public:
  GroupingReader(const sql::Query& query, const PlannedRelation& from, const RowExpressions& rows,
                 std::string_view text)
      : query_(query), from_(from), rows_(rows), text_(text) {}

  Grouping read() {
    if (!query_.group_by) return {{}, {{}}};
    std::vector<Set> sets = {{}};
    if (query_.group_by->all) {
      for (const sql::QueryItem& item : query_.items) {
        if (!item.expression || has_aggregate(*item.expression)) continue;
        sets.front().push_back(key(meant_name(*item.expression, query_, from_.scope, text_),
                                   item.expression->position()));
      }
    }
    for (const sql::GroupingElement& element : query_.group_by->elements) {
      sets = product(sets, sets_of(element));
    }
    for (Set& one : sets) {
      std::sort(one.begin(), one.end());
      one.erase(std::unique(one.begin(), one.end()), one.end());
      if (std::find(grouping_.sets.begin(), grouping_.sets.end(), one) == grouping_.sets.end()) {
        grouping_.sets.push_back(one);
      }
    }
    return std::move(grouping_);
  }

 private:
  [[noreturn]] void refuse(sql::Position position, const std::string& why) const {
    throw sql::error_at(ErrorCode::unsupported, text_, position, why);
  }

  std::vector<Set> sets_of(const sql::GroupingElement& element) {
    std::vector<Set> given;
    for (const std::vector<sql::Expression>& written : element.sets) {
      Set& one = given.emplace_back();
      for (const sql::Expression& expression : written)
        one.push_back(
            key(meant_key(expression, query_, from_.scope, text_), expression.position()));
    }
    if (element.kind == sql::GroupingKind::expression || element.kind == sql::GroupingKind::sets) {
      return given;
    }
    std::vector<Set> made;
    if (given.size() >= kMaxSets) too_many_sets();  // before they are shifted by
    if (element.kind == sql::GroupingKind::rollup) {
      for (std::size_t count = given.size() + 1; count-- > 0;) {
        made.push_back(joined(given, (std::size_t{1} << count) - 1));
      }
      return made;
    }
    if (given.size() > 5) too_many_sets();
    for (std::size_t mask = std::size_t{1} << given.size(); mask-- > 0;) {
      made.push_back(joined(given, mask));
    }
    return made;
  }

  static Set joined(const std::vector<Set>& given, std::size_t mask) {
    Set all;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (mask >> i & 1) all.insert(all.end(), given[i].begin(), given[i].end());
    }
    return all;
  }

  std::vector<Set> product(const std::vector<Set>& left, const std::vector<Set>& right) const {
    if (left.size() * right.size() > kMaxSets) too_many_sets();
    std::vector<Set> all;
    for (const Set& a : left) {
      for (const Set& b : right) {
        Set& both = all.emplace_back(a);
        both.insert(both.end(), b.begin(), b.end());
      }
    }
    return all;
  }

  [[noreturn]] void too_many_sets() const {
    throw Error(ErrorCode::unsupported,
                fmt::format("GROUP BY has more than {} sets of keys, each of which would get too "
                            "little of the question's epsilon; ask for fewer",
                            kMaxSets));
  }

  std::size_t key(const sql::Expression& expression, sql::Position at) {
    if (has_aggregate(expression)) {
      refuse(at, "an aggregate cannot be a key; group by the columns themselves");
    }
    const TypedExpression typed = rows_.value(expression);
    if (from_.unit && typed.expression == *from_.unit) {
      refuse(at,
             "grouping by the person would list people; group by something many of them share, or "
             "count them with COUNT(DISTINCT ...)");
    }
    for (std::size_t i = 0; i < grouping_.keys.size(); ++i) {
      if (grouping_.keys[i].typed.expression == typed.expression) return i;
    }
    if (grouping_.keys.size() == kMaxKeys) {
      refuse(at, fmt::format("GROUP BY has more than {} keys", kMaxKeys));
    }
    grouping_.keys.push_back({expression, typed});
    return grouping_.keys.size() - 1;
  }

  const sql::Query& query_;
  const PlannedRelation& from_;
  const RowExpressions& rows_;
  std::string_view text_;
  Grouping grouping_;
};

// All combinations of the listed values, in the order of the lists; nothing if they are too many or
// some key has no list.
std::optional<std::vector<catalog::Key>> public_keys(const Grouping& grouping, const Set& set) {
  std::size_t count = 1;
  for (const std::size_t at : set) {
    const auto& values = grouping.keys[at].typed.type.values;
    if (!values || values->empty()) return std::nullopt;
    if (count > kMaxPublicGroups / values->size()) return std::nullopt;
    count *= values->size();
  }
  std::vector<catalog::Key> keys = {{}};
  for (const std::size_t at : set) {
    std::vector<catalog::Key> longer;
    for (const catalog::Key& key : keys) {
      for (const std::string& value : *grouping.keys[at].typed.type.values) {
        longer.push_back(key);
        longer.back().emplace_back(value);
      }
    }
    keys = std::move(longer);
  }
  return keys;
}

// The keys as rows of the public relation that an outer join keeps whole; nothing if one of them
// needs more than that.
std::optional<sql::Query> key_query(const Grouping& grouping, const Set& set,
                                    const PlannedRelation& from, std::string_view text) {
  if (!from.kept || set.empty()) return std::nullopt;
  sql::Query query;
  query.distinct = true;
  query.from = from.kept;
  for (const std::size_t at : set) {
    try {
      const TypedExpression typed =
          RowExpressions(from.kept_scope, text).value(grouping.keys[at].written);
      sql::QueryItem item;
      item.expression = typed.expression;
      item.alias = sql::Identifier{fmt::format("k{}", query.items.size()), true};
      query.items.push_back(item);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  // One more than may be shown, so that it can be told that there are too many.
  query.limit = sql::Expression(
      sql::Literal{sql::LiteralKind::integer, fmt::format("{}", kMaxPublicGroups + 1)});
  return query;
}

class GroupBounds {
 public:
  GroupBounds(const PlannedRelation& from, const ResolvedOptions& options,
              const catalog::Policy& policy)
      : from_(from), options_(options), by_person_(policy.unit == catalog::PrivacyUnit::person) {}

  std::int64_t max_groups() const {
    if (!by_person_) return 1;
    const auto said = options_.max_groups ? options_.max_groups : from_.limits.groups_per_person;
    if (!said) {
      refuse("how many groups of a person count", "max_groups_per_person = 3",
             "max_groups_contributed = 3");
    }
    return *said;
  }

  std::int64_t rows_per_group(bool grouped) const {
    if (!by_person_) return 1;
    const auto in_group =
        options_.rows_per_group ? options_.rows_per_group : from_.limits.rows_per_group;
    const auto in_all =
        options_.rows_per_person ? options_.rows_per_person : from_.limits.rows_per_person;
    const auto said = grouped ? (in_group ? in_group : in_all) : (in_all ? in_all : in_group);
    if (!said) {
      refuse("how many rows of a person count", "max_rows_per_person = 10",
             "max_rows_per_group = 10");
    }
    return *said;
  }

 private:
  [[noreturn]] void refuse(const char* what, const char* key, const char* option) const {
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("the unit is a person, but the policy does not say {0} in {1}; add to "
                            "[table.{1}] for example {2}, or ask with OPTIONS({3})",
                            what, from_.tables.front()->name, key, option));
  }

  const PlannedRelation& from_;
  const ResolvedOptions& options_;
  bool by_person_;
};

sql::Expression literal_of(const std::string& value, ValueKind kind) {
  using sql::LiteralKind;
  switch (kind) {
    case ValueKind::number: {
      const bool negative = value.starts_with('-');
      const std::string digits = negative ? value.substr(1) : value;
      const bool whole = digits.find_first_of(".e") == std::string::npos;
      const sql::Expression positive(
          sql::Literal{whole ? LiteralKind::integer : LiteralKind::decimal, digits});
      return negative ? sql::Expression(sql::Unary{sql::UnaryOperator::minus, positive}) : positive;
    }
    case ValueKind::boolean:
      return sql::Expression(
          sql::Literal{LiteralKind::boolean, value == "true" ? "TRUE" : "FALSE"});
    case ValueKind::date:
      return sql::Expression(sql::Literal{LiteralKind::date, value});
    case ValueKind::timestamp:
      return sql::Expression(sql::Literal{LiteralKind::timestamp, value});
    case ValueKind::text:
      break;
  }
  return sql::Expression(sql::Literal{LiteralKind::string, value});
}

}  // namespace

Grouping read_grouping(const sql::Query& query, const PlannedRelation& from,
                       const RowExpressions& rows, std::string_view text) {
  return GroupingReader(query, from, rows, text).read();
}

void bound_groups(const Grouping& grouping, const PlannedRelation& from,
                  const ResolvedOptions& options, const catalog::Policy& policy,
                  std::string_view text, Plan& plan) {
  const GroupBounds bounds(from, options, policy);
  plan.rows_per_group = plan.totals ? 1 : bounds.rows_per_group(!grouping.keys.empty());
  plan.distinct_per_group = plan.rows_per_group;
  plan.min_units = options.min_units;
  for (const Set& set : grouping.sets) {
    PlannedGrouping made;
    mechanism::GroupedNoise noise;
    made.keys = set;
    noise.single = set.empty();
    noise.max_groups = set.empty() ? 1 : bounds.max_groups();
    if (auto listed = public_keys(grouping, set)) {
      made.public_keys = std::move(*listed);
      noise.max_groups =
          std::min(noise.max_groups, static_cast<std::int64_t>(made.public_keys.size()));
    } else if (auto query = key_query(grouping, set, from, text)) {
      made.key_query = std::move(*query);
    } else if (options.selection == SelectionChoice::public_groups) {
      throw Error(
          ErrorCode::refused_by_policy,
          "PUBLIC_GROUPS needs keys that are public: columns with categories in the policy, "
          "or columns of a public table that a LEFT JOIN keeps whole; leave "
          "group_selection_strategy out to hide small groups instead");
    } else {
      made.hidden = true;
    }
    plan.groupings.push_back(std::move(made));
    plan.noises.push_back(std::move(noise));
  }
}

std::optional<sql::Expression> listed_keys(const Grouping& grouping, const Plan& plan) {
  // Several groupings may count rows whose keys are not listed in some of them; those that are to
  // agree may not.
  const std::size_t finest = plan.consistent ? *finest_grouping(plan.groupings) : 0;
  if (plan.groupings.size() != 1 && !plan.consistent) return std::nullopt;
  if (plan.groupings[finest].public_keys.empty()) return std::nullopt;
  std::optional<sql::Expression> all;
  for (const std::size_t at : plan.groupings[finest].keys) {
    const TypedExpression& key = grouping.keys[at].typed;
    std::vector<sql::Expression> items;
    for (const std::string& value : *key.type.values) {
      items.push_back(literal_of(value, key.type.kind));
    }
    const sql::Expression listed(sql::InList{key.expression, std::move(items)});
    all =
        all ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and, *all, listed}) : listed;
  }
  return all;
}

}  // namespace shoal::plan
