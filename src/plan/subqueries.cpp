#include "plan/subqueries.hpp"

#include "plan/key_names.hpp"
#include "plan/row_functions.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/rewrite.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace shoal::plan {
namespace {

constexpr const char* kUnitName = "u";

sql::QueryItem item(const sql::Expression& expression, const std::string& name) {
  sql::QueryItem made;
  made.expression = expression;
  made.alias = sql::Identifier{name, true};
  return made;
}

sql::Relation derived(sql::Query query, const std::string& alias) {
  return sql::Relation(sql::DerivedTable{std::make_shared<const sql::Query>(std::move(query)),
                                         sql::Identifier{alias, true}});
}

// The name that a column of a subquery has without AS.
std::string plain_name(const sql::Expression& expression) {
  if (const auto* reference = expression.get_if<sql::ColumnReference>()) {
    return reference->column.name;
  }
  if (const auto* call = expression.get_if<sql::Call>()) return to_lower(call->name);
  return "";
}

// SELECT of a subquery, with its stars written out.
struct NamedItem {
  std::string name;
  std::optional<TypedExpression> typed;  // or a column as it is
  ScopeColumn column;
};

class Projection {
 public:
  Projection(PlannedRelation from, std::string alias, std::string_view text)
      : from_(std::move(from)), alias_(std::move(alias)), text_(text), rows_(from_.scope, text) {}

  PlannedRelation make(const sql::Query& query, std::optional<sql::Expression> where) {
    for (const sql::QueryItem& one : query.items) add(one);
    if (query.distinct) require_unit(query);
    body_.distinct = query.distinct;
    body_.from = from_.relation;
    body_.where = std::move(where);
    const bool only_unit = body_.items.empty();
    if (from_.unit) body_.items.push_back(item(*from_.unit, kUnitName));
    PlannedRelation planned = from_;
    planned.scanned = from_.scanned && !query.distinct ? from_.scanned : nullptr;
    planned.kept = std::nullopt;
    planned.kept_scope = {};
    planned.relation = derived(std::move(body_), alias_);
    planned.scope = std::move(scope_);
    if (from_.unit) planned.unit = reference(alias_, kUnitName);
    if (from_.unit && query.distinct && only_unit) planned.per_unit = FanOut{};
    return planned;
  }

 private:
  void add(const sql::QueryItem& one) {
    if (one.expression) {
      const std::string name = one.alias ? one.alias->name : plain_name(*one.expression);
      if (const ScopeColumn* unit = find_unit(*one.expression, from_.scope, text_)) {
        return add_column(name, unit->reference, unit->type, unit->queryable);
      }
      const TypedExpression typed = rows_.value(*one.expression);
      return add_column(name, typed.expression, typed.type, true);
    }
    bool any = false;
    for (const ScopeColumn& column : from_.scope.columns) {
      if (one.star_table &&
          (!column.relation || !sql::matches(*one.star_table, *column.relation))) {
        continue;
      }
      any = true;
      // A column that no query may name stays one, however it is carried along.
      add_column(column.name, column.reference, column.type, column.queryable);
    }
    if (!any) {
      throw sql::error_at(ErrorCode::not_found, text_, one.position,
                          "the star stands for no column; name a relation of FROM");
    }
  }

  void add_column(const std::string& name, const sql::Expression& expression, const ValueType& type,
                  bool queryable) {
    const bool is_unit = from_.unit && expression == *from_.unit;
    if (is_unit) {
      has_unit_ = true;
      scope_.columns.push_back({alias_, name, type, reference(alias_, kUnitName), queryable, true});
      return;
    }
    const std::string made = fmt::format("c{}", body_.items.size());
    body_.items.push_back(item(expression, made));
    scope_.columns.push_back(
        {alias_, name, type, reference(alias_, made), queryable, is_a_unit(expression)});
  }

  // As PlannedRelation has them: NULL, or the unit.
  bool is_a_unit(const sql::Expression& expression) const {
    return std::any_of(
        from_.scope.columns.begin(), from_.scope.columns.end(),
        [&](const ScopeColumn& one) { return one.is_unit && one.reference == expression; });
  }

  void require_unit(const sql::Query& query) const {
    if (!from_.is_private || has_unit_) return;
    throw sql::error_at(
        ErrorCode::unsupported, text_, query.items.front().position,
        from_.unit ? "DISTINCT over rows of different people would mix them; add the person column "
                     "to the list, or use COUNT(DISTINCT x) outside"
                   : "DISTINCT over private rows would mix them; use COUNT(DISTINCT x) outside");
  }

  PlannedRelation from_;
  std::string alias_;
  std::string_view text_;
  RowExpressions rows_;
  sql::Query body_;
  Scope scope_;
  bool has_unit_ = false;
};

// A number as a double within +-1e100: so many of them as there can be add up without overflow.
sql::Expression within_reach(const sql::Expression& number) {
  const sql::Expression real(sql::Cast{number, {sql::ScalarType::double_precision}},
                             number.position());
  const sql::Expression most(sql::Literal{sql::LiteralKind::decimal, "1e100"});
  const sql::Expression least(sql::Unary{sql::UnaryOperator::minus, most});
  return sql::Expression(sql::Call{
      .name = "GREATEST",
      .arguments = {least,
                    sql::Expression(sql::Call{.name = "LEAST", .arguments = {most, real}})}});
}

// Aggregates of a subquery become columns a0, a1, ..., keys become k0, k1, ....
class UnitGrouping {
 public:
  UnitGrouping(const sql::Query& query, PlannedRelation from, sql::Position position,
               std::string alias, std::string_view text)
      : query_(query),
        from_(std::move(from)),
        position_(position),
        alias_(std::move(alias)),
        text_(text),
        rows_(from_.scope, text) {}

  UnitGroups make() {
    body_.from = from_.relation;
    if (query_.where) body_.where = rows_.condition(*query_.where);
    body_.group_by.emplace();
    add_keys();
    if (from_.is_private && !has_unit_) {
      throw sql::error_at(ErrorCode::unsupported, text_, position_,
                          "a subquery over private rows may only group by the person, since a row "
                          "must stay one person's; add the person column to its GROUP BY, or put "
                          "the aggregate into the outermost SELECT");
    }
    if (from_.unit) {
      body_.items.push_back(item(*from_.unit, kUnitName));
      group(*from_.unit);
    }
    sql::Query outer;
    outer.items = query_.items;
    for (sql::QueryItem& one : outer.items) {
      if (!one.expression) {
        throw sql::error_at(ErrorCode::unsupported, text_, one.position,
                            "a star beside GROUP BY is not supported; name the columns");
      }
      if (!one.alias && !plain_name(*one.expression).empty()) {
        one.alias = sql::Identifier{plain_name(*one.expression), true};
      }
      one.expression = exchanged(*one.expression);
    }
    if (query_.having) outer.where = exchanged(*query_.having);
    outer.distinct = query_.distinct;
    PlannedRelation planned = from_;
    planned.scanned = nullptr;
    // By the unit alone there is one row of each.
    if (from_.unit && body_.group_by->elements.size() == 1) {
      planned.fan_out = {};
      planned.per_unit = FanOut{};
    }
    planned.kept = std::nullopt;
    planned.kept_scope = {};
    planned.relation = derived(std::move(body_), alias_);
    planned.scope = std::move(scope_);
    if (from_.unit) planned.unit = reference(alias_, kUnitName);
    return {std::move(planned), std::move(outer)};
  }

 private:
  void group(const sql::Expression& key) {
    body_.group_by->elements.push_back({sql::GroupingKind::expression, {{key}}});
  }

  void add_keys() {
    if (!query_.group_by) return;
    if (query_.group_by->all) {
      for (const sql::QueryItem& one : query_.items) {
        if (one.expression && !has_aggregate(*one.expression)) add_key(*one.expression);
      }
    }
    for (const sql::GroupingElement& element : query_.group_by->elements) {
      if (element.kind != sql::GroupingKind::expression) {
        throw sql::error_at(ErrorCode::unsupported, text_, position_,
                            "GROUPING SETS, ROLLUP and CUBE belong into the outermost query");
      }
      add_key(meant_key(element.sets.front().front(), query_, from_.scope, text_));
    }
  }

  void add_key(const sql::Expression& written) {
    const ScopeColumn* unit = find_unit(written, from_.scope, text_);
    const TypedExpression key = value(written);
    keys_.push_back(key.expression);
    const bool queryable = !unit || unit->queryable;
    if (from_.unit && key.expression == *from_.unit) {
      has_unit_ = true;
      return add_column(written, reference(alias_, kUnitName), "u", key.type, queryable, true);
    }
    const std::string name = fmt::format("k{}", body_.items.size());
    body_.items.push_back(item(key.expression, name));
    group(key.expression);
    add_column(written, reference(alias_, name), name, key.type, queryable, unit != nullptr);
  }

  // To group by the person needs no value of it, so it may be a column that no query may use.
  TypedExpression value(const sql::Expression& written) const {
    const ScopeColumn* unit = find_unit(written, from_.scope, text_);
    return unit ? TypedExpression{unit->reference, unit->type} : rows_.value(written);
  }

  void add_column(const sql::Expression& written, const sql::Expression& made,
                  const std::string& name, const ValueType& type, bool queryable = true,
                  bool is_unit = false) {
    scope_.columns.push_back({alias_, name, type, made, queryable, is_unit});
    columns_.emplace_back(
        written, sql::Expression(sql::ColumnReference{sql::Identifier{alias_, true}, {name, true}},
                                 written.position()));
  }

  sql::Expression exchanged(const sql::Expression& expression) {
    return sql::rewrite(expression, [&](const sql::Expression& part) { return exchange(part); });
  }

  std::optional<sql::Expression> exchange(const sql::Expression& part) {
    const auto known = std::find_if(columns_.begin(), columns_.end(),
                                    [&](const auto& one) { return one.first == part; });
    if (known != columns_.end()) return known->second;
    if (part.get_if<sql::ColumnReference>()) return key_of(part);
    const auto* call = part.get_if<sql::Call>();
    if (!call || !is_aggregate(call->name)) return std::nullopt;
    const TypedExpression aggregate = unit_aggregate(*call, rows_, part.position(), text_);
    const std::string name = fmt::format("a{}", body_.items.size());
    body_.items.push_back(item(aggregate.expression, name));
    add_column(part, reference(alias_, name), name, aggregate.type);
    return columns_.back().second;
  }

  // A column outside of aggregates is a key, however it is written.
  sql::Expression key_of(const sql::Expression& part) const {
    const sql::Expression meant = value(part).expression;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == meant) return columns_[i].second;
    }
    throw sql::error_at(
        ErrorCode::invalid_argument, text_, part.position(),
        fmt::format("{} is neither in GROUP BY nor inside an aggregate; add it to "
                    "one of them",
                    printable(part.get_if<sql::ColumnReference>()->column.name, 60)));
  }

  const sql::Query& query_;
  PlannedRelation from_;
  sql::Position position_;
  std::string alias_;
  std::string_view text_;
  RowExpressions rows_;
  sql::Query body_;
  Scope scope_;
  std::vector<std::pair<sql::Expression, sql::Expression>> columns_;  // as written, as made
  std::vector<sql::Expression> keys_;  // of the first columns, for the engine
  bool has_unit_ = false;
};

}  // namespace

TypedExpression unit_aggregate(const sql::Call& call, const RowExpressions& rows,
                               sql::Position position, std::string_view text) {
  if (!call.named.empty() || call.filter) {
    throw sql::error_at(ErrorCode::unsupported, text, position,
                        call.filter
                            ? "FILTER inside a subquery is not supported; write for example "
                              "SUM(CASE WHEN c THEN x END)"
                            : "bounds are for the outermost aggregates; leave them out here");
  }
  ValueType counted{.kind = ValueKind::number, .whole = true, .nullable = false};
  if (call.name == "COUNT" && call.star) {
    return {sql::Expression(sql::Call{.name = "COUNT", .star = true}), counted};
  }
  if ((call.name == "COUNTIF" || call.name == "COUNT_IF") && call.arguments.size() == 1) {
    sql::Case met;
    met.branches.push_back(
        {call.arguments[0], sql::Expression(sql::Literal{sql::LiteralKind::integer, "1"})});
    const sql::Call count{.name = "COUNT", .arguments = {sql::Expression(met, position)}};
    return unit_aggregate(count, rows, position, text);
  }
  static constexpr std::array kKnown = {"COUNT", "SUM", "AVG", "MIN", "MAX"};
  if (std::find(kKnown.begin(), kKnown.end(), call.name) == kKnown.end()) {
    throw sql::error_at(ErrorCode::unsupported, text, position,
                        fmt::format("{} is not supported inside a subquery; there are COUNT, SUM, "
                                    "AVG, MIN and MAX",
                                    printable(call.name, 40)));
  }
  if (call.star || call.arguments.size() != 1) {
    throw sql::error_at(ErrorCode::parse_error, text, position,
                        fmt::format("{} takes one value, such as {}(x)", call.name, call.name));
  }
  TypedExpression value = rows.value(call.arguments[0]);
  if (call.name == "COUNT") {
    return {sql::Expression(sql::Call{
                .name = "COUNT", .arguments = {value.expression}, .distinct = call.distinct}),
            counted};
  }
  if (call.distinct && call.name != "MIN" && call.name != "MAX") {
    throw sql::error_at(
        ErrorCode::unsupported, text, position,
        fmt::format("{}(DISTINCT ...) is not supported; leave DISTINCT out", call.name));
  }
  value.type.nullable = true;
  if (call.name == "SUM" || call.name == "AVG") {
    if (value.type.kind != ValueKind::number) {
      throw sql::error_at(ErrorCode::invalid_argument, text, position,
                          fmt::format("{} needs a number", call.name));
    }
    value.expression = within_reach(value.expression);
    value.type.whole = false;
    if (call.name == "SUM") value.type.bounds = std::nullopt;
  }
  value.type.values = std::nullopt;
  const bool adds = call.name == "SUM" || call.name == "AVG";
  return {sql::Expression(sql::Call{.name = adds ? "ORDERED_" + call.name : call.name,
                                    .arguments = {value.expression}}),
          value.type};
}

void refuse_in_subquery(const sql::Query& query, sql::Position position, std::string_view text) {
  const char* why = nullptr;
  if (query.privacy) {
    why =
        "the privacy clause belongs to the outermost SELECT; what a subquery reads is private "
        "still";
  } else if (query.limit || query.offset) {
    why =
        "LIMIT below an aggregate would choose rows by what they hold; put it into the outermost "
        "query";
  } else if (!query.order_by.empty()) {
    why = "ORDER BY in a subquery has no effect; leave it out";
  } else if (!query.from) {
    why = "a subquery reads a table; add FROM";
  }
  if (why) throw sql::error_at(ErrorCode::unsupported, text, position, why);
}

PlannedRelation project(const sql::Query& query, PlannedRelation from,
                        std::optional<sql::Expression> where, std::string alias,
                        std::string_view text) {
  return Projection(std::move(from), std::move(alias), text).make(query, std::move(where));
}

UnitGroups group_by_unit(const sql::Query& query, PlannedRelation from, sql::Position position,
                         const std::string& alias, std::string_view text) {
  return UnitGrouping(query, std::move(from), position, alias, text).make();
}

bool has_aggregate(const sql::Expression& expression) {
  const auto* call = expression.get_if<sql::Call>();
  if (call && is_aggregate(call->name)) return true;
  const std::vector<sql::Expression> parts = children(expression);
  return std::any_of(parts.begin(), parts.end(), has_aggregate);
}

}  // namespace shoal::plan
