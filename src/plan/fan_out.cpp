#include "plan/fan_out.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace shoal::plan {
namespace {

long long product(long long one, long long other) {
  long long result = 0;
  return __builtin_mul_overflow(one, other, &result) ? std::numeric_limits<long long>::max()
                                                     : result;
}

sql::QueryItem item(sql::Expression expression, const std::string& name) {
  sql::QueryItem made;
  made.expression = std::move(expression);
  made.alias = sql::Identifier{name, true};
  return made;
}

sql::Relation derived(sql::Query query, const std::string& alias) {
  return sql::Relation(sql::DerivedTable{std::make_shared<const sql::Query>(std::move(query)),
                                         sql::Identifier{alias, true}});
}

sql::Expression present(const sql::Expression& value) {
  return sql::Expression(sql::IsNull{value, true});
}

// Which columns a question may name, by its text alone: what is not written there, nor meant by a
// star, is not needed. A wide table would otherwise be read whole.
class Mentions {
 public:
  explicit Mentions(std::string_view text) : text_(to_lower(text)) {
    char before = ' ';
    for (const char c : text) {
      // COUNT(*) names no column.
      if (c == '*' && before != '(') all_ = true;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') before = c;
    }
  }

  // As a word of its own, if it is one. A quote in a name is written twice.
  bool has(const std::string& name) const {
    if (all_ || name.find('"') != std::string::npos) return true;
    const std::string lower = to_lower(name);
    const bool word = std::all_of(lower.begin(), lower.end(), in_word);
    for (std::size_t at = text_.find(lower); at != std::string::npos;
         at = text_.find(lower, at + 1)) {
      const std::size_t end = at + lower.size();
      const bool inside =
          (at > 0 && in_word(text_[at - 1])) || (end < text_.size() && in_word(text_[end]));
      if (!word || !inside) return true;
    }
    return false;
  }

 private:
  static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
  }

  std::string text_;
  bool all_ = false;
};

}  // namespace

FanOut times(const FanOut& one, const FanOut& other) {
  FanOut result{product(one.rows, other.rows), one.counts};
  result.counts.insert(result.counts.end(), other.counts.begin(), other.counts.end());
  return result;
}

std::optional<long long> join_limit(const ContributionLimits& limits) {
  if (limits.rows_per_person) return limits.rows_per_person;
  if (!limits.groups_per_person || !limits.rows_per_group) return std::nullopt;
  return product(*limits.groups_per_person, *limits.rows_per_group);
}

PlannedRelation cap_rows(PlannedRelation from, long long most, const std::string& alias,
                         std::string_view text) {
  const Mentions mentions(text);
  const std::string inner = alias + "r";
  sql::Query ranked;
  sql::Query kept;
  Scope scope;
  ranked.from = from.relation;
  ranked.where = present(*from.unit);
  sql::Call rank{.name = "ROW_OF_UNIT", .arguments = {*from.unit}};
  for (const ScopeColumn& column : from.scope.columns) {
    ScopeColumn carried = column;
    if (column.reference == *from.unit) {
      carried.reference = reference(alias, "u");
    } else if (mentions.has(column.name)) {
      const std::string name = fmt::format("c{}", ranked.items.size());
      ranked.items.push_back(item(column.reference, name));
      kept.items.push_back(item(reference(inner, name), name));
      carried.reference = reference(alias, name);
      // Rows that differ in no column that the question may name are the same to it.
      if (column.queryable) rank.arguments.push_back(column.reference);
    }
    scope.columns.push_back(std::move(carried));
  }
  ranked.items.push_back(item(*from.unit, "u"));
  kept.items.push_back(item(reference(inner, "u"), "u"));
  ranked.items.push_back(item(sql::Expression(std::move(rank)), "place"));
  kept.from = derived(std::move(ranked), inner);
  kept.where = sql::Expression(
      sql::Binary{sql::BinaryOperator::less_equal, reference(inner, "place"),
                  sql::Expression(sql::Literal{sql::LiteralKind::integer, std::to_string(most)})});
  from.relation = derived(std::move(kept), alias);
  from.scope = std::move(scope);
  from.unit = reference(alias, "u");
  from.scanned = nullptr;
  from.kept = std::nullopt;
  from.kept_scope = {};
  from.per_unit = FanOut{most, {}};
  return from;
}

FanOut public_fan_out(const PlannedRelation& side, const std::vector<sql::Expression>& columns) {
  sql::Query count;
  count.from = side.relation;
  const sql::Expression rows(sql::Call{.name = "COUNT", .star = true});
  if (columns.empty()) {
    count.items = {item(rows, "k0")};
  } else {
    sql::Query groups;
    groups.from = side.relation;
    groups.items = {item(rows, "n")};
    groups.group_by.emplace();
    for (const sql::Expression& column : columns) {
      groups.group_by->elements.push_back({sql::GroupingKind::expression, {{column}}});
      // NULL equals nothing.
      groups.where = groups.where ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and,
                                                                *groups.where, present(column)})
                                  : present(column);
    }
    count.from = derived(std::move(groups), "groups");
    count.items = {item(
        sql::Expression(sql::Call{.name = "MAX", .arguments = {reference("groups", "n")}}), "k0")};
  }
  std::vector<std::string> names;
  for (const catalog::Table* table : side.tables) names.push_back(table->name);
  return {1, {{join_names(names), std::move(count)}}};
}

void require_fan_out(const FanOut& fan_out, const std::vector<long long>& counts) {
  SHOAL_CHECK(counts.size() == fan_out.counts.size());
  long long rows = fan_out.rows;
  std::string parts = fan_out.rows > 1 ? fmt::format("{} for private tables", fan_out.rows) : "";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    rows = product(rows, std::max(counts[i], 1LL));
    parts += fmt::format("{}{} for {}", parts.empty() ? "" : ", ", counts[i],
                         printable(fan_out.counts[i].of, 200));
  }
  if (rows <= kMaxFanOut) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("the joins could make {} rows of one ({}); at most {} are allowed: join "
                          "fewer tables at once, a public one on columns in which few of its rows "
                          "agree, or group a private one by the person first",
                          rows, parts, kMaxFanOut));
}

}  // namespace shoal::plan
