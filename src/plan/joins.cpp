#include "plan/joins.hpp"

#include "plan/fan_out.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {
namespace {

using sql::JoinKind;

// a AND b AND c as its parts.
void conjuncts(const sql::Expression& expression, std::vector<sql::Expression>& parts) {
  const auto* both = expression.get_if<sql::Binary>();
  if (both && both->operation == sql::BinaryOperator::logical_and) {
    conjuncts(both->left, parts);
    conjuncts(both->right, parts);
  } else {
    parts.push_back(expression);
  }
}

bool equates(const sql::Expression& condition, const sql::Expression& one,
             const sql::Expression& other) {
  const auto* same = condition.get_if<sql::Binary>();
  if (!same || same->operation != sql::BinaryOperator::equal) return false;
  return (same->left == one && same->right == other) || (same->left == other && same->right == one);
}

class Joiner {
 public:
  Joiner(const sql::Join& join, sql::Position position, PlannedRelation left, PlannedRelation right,
         bool unit_is_person, std::string_view text,
         const std::function<std::string()>& fresh_alias)
      : join_(join),
        position_(position),
        left_(std::move(left)),
        right_(std::move(right)),
        unit_is_person_(unit_is_person),
        text_(text),
        fresh_alias_(fresh_alias) {}

  PlannedRelation make() {
    if (left_.is_private && right_.is_private && unit_is_person_) bound_one_side();
    Scope scope = left_.scope;
    scope.columns.insert(scope.columns.end(), right_.scope.columns.begin(),
                         right_.scope.columns.end());
    on_ = join_.using_columns.empty() ? written_condition(scope) : using_condition(scope);
    if (left_.is_private && right_.is_private) check_same_unit();
    if (left_.is_private != right_.is_private) check_public_side();
    PlannedRelation planned{
        .relation = sql::Relation(sql::Join{join_.kind, left_.relation, right_.relation, on_})};
    planned.scope = std::move(scope);
    set_unit(planned);
    planned.is_private = left_.is_private || right_.is_private;
    planned.limits = {larger(left_.limits.rows_per_person, right_.limits.rows_per_person),
                      larger(left_.limits.groups_per_person, right_.limits.groups_per_person),
                      larger(left_.limits.rows_per_group, right_.limits.rows_per_group)};
    planned.tables = left_.tables;
    planned.tables.insert(planned.tables.end(), right_.tables.begin(), right_.tables.end());
    planned.unique = left_.unique;
    planned.unique.insert(planned.unique.end(), right_.unique.begin(), right_.unique.end());
    keep_public_rows(planned);
    set_fan_out(planned);
    return planned;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw sql::error_at(ErrorCode::unsupported, text_, position_, why);
  }

  static std::optional<long long> larger(std::optional<long long> a, std::optional<long long> b) {
    return !a ? b : !b ? a : std::max(a, b);
  }

  bool keeps_left() const { return join_.kind == JoinKind::left || join_.kind == JoinKind::full; }
  bool keeps_right() const { return join_.kind == JoinKind::right || join_.kind == JoinKind::full; }

  std::optional<sql::Expression> written_condition(const Scope& scope) const {
    if (join_.kind == JoinKind::cross) return std::nullopt;
    if (!join_.on) refuse("this join has no condition; add ON, for example ON a.id = b.id");
    std::vector<sql::Expression> parts;
    conjuncts(*join_.on, parts);
    std::optional<sql::Expression> all;
    for (const sql::Expression& part : parts) {
      const auto of_units = unit_condition(part, scope);
      const sql::Expression one =
          of_units ? *of_units : RowExpressions(scope, text_).condition(part);
      all = all ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and, *all, one}) : one;
    }
    return all;
  }

  // The equality of two columns of the person, which may be ones that no query may use.
  std::optional<sql::Expression> unit_condition(const sql::Expression& part,
                                                const Scope& scope) const {
    const auto* same = part.get_if<sql::Binary>();
    if (!same || same->operation != sql::BinaryOperator::equal) return std::nullopt;
    const ScopeColumn* left = find_unit(same->left, scope, text_);
    const ScopeColumn* right = left ? find_unit(same->right, scope, text_) : nullptr;
    if (!right || (left->queryable && right->queryable)) return std::nullopt;
    Scope open = scope;
    for (ScopeColumn& column : open.columns) column.queryable |= column.is_unit;
    return RowExpressions(open, text_).condition(part);
  }

  static std::size_t find(const Scope& scope, const sql::Identifier& name) {
    std::size_t found = scope.columns.size();
    for (std::size_t i = 0; i < scope.columns.size(); ++i) {
      if (sql::matches(name, scope.columns[i].name)) {
        if (found != scope.columns.size()) return scope.columns.size() + 1;
        found = i;
      }
    }
    return found;
  }

  const ScopeColumn& shared_column(const PlannedRelation& side, const sql::Identifier& name) const {
    const std::size_t at = find(side.scope, name);
    if (at >= side.scope.columns.size()) {
      throw sql::error_at(
          ErrorCode::not_found, text_, name.position,
          fmt::format("USING needs a column {} on both sides, once on each; join with ON instead",
                      printable(name.name, 60)));
    }
    return side.scope.columns[at];
  }

  // USING(x) is ON left.x = right.x, with one x in the result.
  sql::Expression using_condition(Scope& scope) const {
    std::optional<sql::Expression> all;
    for (const sql::Identifier& name : join_.using_columns) {
      const ScopeColumn left = shared_column(left_, name);
      const ScopeColumn right = shared_column(right_, name);
      Scope both;
      both.columns = {left, right};
      both.columns[0].relation = "l";
      both.columns[1].relation = "r";
      // To join on the person needs no value of it.
      for (ScopeColumn& column : both.columns) {
        column.queryable |= left.is_unit && right.is_unit;
      }
      const sql::Expression written(
          sql::Binary{
              sql::BinaryOperator::equal,
              sql::Expression(sql::ColumnReference{sql::Identifier{"l", true}, {left.name, true}},
                              name.position),
              sql::Expression(sql::ColumnReference{sql::Identifier{"r", true}, {right.name, true}},
                              name.position)},
          name.position);
      const sql::Expression same = RowExpressions(both, text_).condition(written);
      all = all ? sql::Expression(sql::Binary{sql::BinaryOperator::logical_and, *all, same}) : same;
      const sql::Binary& sides = *written.get_if<sql::Binary>();
      const sql::Expression first(
          sql::Call{.name = "COALESCE", .arguments = {sides.left, sides.right}}, name.position);
      merge(left, right, RowExpressions(both, text_).value(first).type, scope);
    }
    return *all;
  }

  // Leaves one of the two columns: that of the side whose rows are kept.
  // `either` is the type of whichever of them is there.
  void merge(const ScopeColumn& left, const ScopeColumn& right, const ValueType& either,
             Scope& scope) const {
    std::erase_if(scope.columns,
                  [&](const ScopeColumn& one) { return one.reference == right.reference; });
    for (ScopeColumn& one : scope.columns) {
      if (!(one.reference == left.reference)) continue;
      one.relation = std::nullopt;
      one.queryable = left.queryable && right.queryable;
      one.is_unit = left.is_unit && right.is_unit;
      if (join_.kind == JoinKind::right) {
        one.reference = right.reference;
        one.type = right.type;
      }
      if (join_.kind == JoinKind::full) {
        one.reference = sql::Expression(
            sql::Call{.name = "COALESCE", .arguments = {left.reference, right.reference}});
        one.type = either;
      }
    }
  }

  // The unit, and the columns that are NULL or the unit.
  static std::vector<sql::Expression> units_of(const PlannedRelation& side) {
    std::vector<sql::Expression> units = {*side.unit};
    for (const ScopeColumn& column : side.scope.columns) {
      if (column.is_unit) units.push_back(column.reference);
    }
    return units;
  }

  void check_same_unit() const {
    if (!unit_is_person_) {
      refuse(
          "two private tables cannot be joined where the unit is a row, since one row would "
          "touch many; ask each table by itself, or let the owner set unit = \"person\"");
    }
    std::vector<sql::Expression> parts;
    if (on_) conjuncts(*on_, parts);
    const std::vector<sql::Expression> ours = units_of(left_);
    const std::vector<sql::Expression> theirs = units_of(right_);
    for (const sql::Expression& part : parts) {
      for (const sql::Expression& one : ours) {
        const bool same = std::any_of(theirs.begin(), theirs.end(),
                                      [&](const auto& other) { return equates(part, one, other); });
        if (same) return;
      }
    }
    refuse(
        "private tables are joined on the person alone, since a row must stay one person's; "
        "add the equality of both person columns to ON, joined to the rest with AND");
  }

  void check_public_side() {
    if (unit_is_person_) return;
    if (join_.kind != JoinKind::inner &&
        join_.kind != (left_.is_private ? JoinKind::left : JoinKind::right)) {
      refuse(
          "where the unit is a row, a public table may only add columns; use INNER or LEFT JOIN "
          "with the private table first");
    }
    const PlannedRelation& side = left_.is_private ? right_ : left_;
    std::vector<sql::Expression> parts;
    if (on_) conjuncts(*on_, parts);
    for (const sql::Expression& part : parts) {
      const auto* same = part.get_if<sql::Binary>();
      if (!same || same->operation != sql::BinaryOperator::equal) continue;
      if (!mentions(side, same->right) && claim_unique(side, same->left)) return;
      if (!mentions(side, same->left) && claim_unique(side, same->right)) return;
    }
    refuse(
        "where the unit is a row, a public table is joined on a column of which no two rows "
        "share a value, so that no private row becomes two; join on one that the policy calls "
        "unique = true, and compare it with columns of the private table alone");
  }

  // Whether an expression depends on the row of that side. One that does can be equal to a unique
  // column in many rows.
  static bool mentions(const PlannedRelation& side, const sql::Expression& expression) {
    const bool is_column =
        std::any_of(side.scope.columns.begin(), side.scope.columns.end(),
                    [&](const ScopeColumn& one) { return one.reference == expression; });
    if (is_column) return true;
    const std::vector<sql::Expression> parts = children(expression);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const sql::Expression& part) { return mentions(side, part); });
  }

  // Either side will do. Where both must be cut, the one with fewer rows of a person loses less,
  // and is as a rule the smaller table.
  void bound_one_side() {
    const auto most = [](const PlannedRelation& side) {
      return side.per_unit ? side.per_unit->rows : join_limit(side.limits);
    };
    const std::optional<long long> left = most(left_);
    const std::optional<long long> right = most(right_);
    if (!left && !right) {
      throw sql::error_at(
          ErrorCode::refused_by_policy, text_, position_,
          fmt::format("a join multiplies the rows of a person, and the policy does not say how "
                      "many one has in {0}; add to [table.{0}] for example max_rows_per_person = "
                      "10, or group one side by the person first",
                      right_.tables.front()->name));
    }
    bounded_left_ = left && (!right || *left < *right || (*left == *right && left_.per_unit));
    PlannedRelation& side = bounded_left_ ? left_ : right_;
    if (!side.per_unit) side = cap_rows(std::move(side), *most(side), fresh_alias_(), text_);
  }

  void set_fan_out(PlannedRelation& planned) const {
    planned.fan_outs = left_.fan_outs;
    planned.fan_outs.insert(planned.fan_outs.end(), right_.fan_outs.begin(), right_.fan_outs.end());
    if (!planned.is_private) return;
    const bool both = left_.is_private && right_.is_private;
    const bool first = both ? !bounded_left_ : left_.is_private;
    const PlannedRelation& many = first ? left_ : right_;
    const PlannedRelation& few = first ? right_ : left_;
    const FanOut factor = both              ? *few.per_unit
                          : unit_is_person_ ? public_fan_out(few, compared_columns(few))
                                            : FanOut{};
    planned.fan_out = times(many.fan_out, factor);
    if (many.per_unit) planned.per_unit = times(*many.per_unit, factor);
    // Rows without a match come on top of all pairs.
    if (planned.per_unit && join_.kind == JoinKind::full)
      planned.per_unit = times(*planned.per_unit, FanOut{3, {}});
    if (!planned.fan_out.counts.empty()) planned.fan_outs.push_back(planned.fan_out);
    try {
      require_fan_out({planned.fan_out.rows, {}}, {});
    } catch (const Error& error) {
      refuse(error.what());
    }
  }

  // Columns of that side that must equal something which does not depend on its row.
  std::vector<sql::Expression> compared_columns(const PlannedRelation& side) const {
    std::vector<sql::Expression> parts;
    if (on_) conjuncts(*on_, parts);
    std::vector<sql::Expression> columns;
    const auto add = [&](const sql::Expression& end, const sql::Expression& other) {
      const bool is_column =
          std::any_of(side.scope.columns.begin(), side.scope.columns.end(),
                      [&](const ScopeColumn& one) { return one.reference == end; });
      if (is_column && !mentions(side, other)) columns.push_back(end);
    };
    for (const sql::Expression& part : parts) {
      const auto* same = part.get_if<sql::Binary>();
      if (!same || same->operation != sql::BinaryOperator::equal) continue;
      add(same->left, same->right);
      add(same->right, same->left);
    }
    return columns;
  }

  bool claim_unique(const PlannedRelation& side, const sql::Expression& end) {
    if (!side.relation.get_if<sql::TableReference>()) return false;
    const catalog::Table* table = side.tables.front();
    for (const ScopeColumn& column : side.scope.columns) {
      const catalog::Column* known = table->find_column(column.name, true);
      if (!known || !known->unique || !(end == column.reference)) continue;
      right_.unique.push_back({table, known->name});
      return true;
    }
    return false;
  }

  void set_unit(PlannedRelation& planned) const {
    const PlannedRelation& owner = left_.is_private ? left_ : right_;
    planned.unit_type = owner.unit_type;
    planned.unit = owner.unit;
    if (left_.is_private && right_.is_private) {
      if (join_.kind == JoinKind::right) planned.unit = right_.unit;
      if (join_.kind == JoinKind::full) {
        planned.unit = sql::Expression(
            sql::Call{.name = "COALESCE", .arguments = {*left_.unit, *right_.unit}});
      }
    }
    for (ScopeColumn& column : planned.scope.columns) {
      const bool from_left =
          std::any_of(left_.scope.columns.begin(), left_.scope.columns.end(),
                      [&](const ScopeColumn& one) { return one.reference == column.reference; });
      if (from_left ? keeps_right() : keeps_left()) column.type.nullable = true;
    }
  }

  void keep_public_rows(PlannedRelation& planned) const {
    if (left_.is_private == right_.is_private) return;
    const PlannedRelation& side = left_.is_private ? right_ : left_;
    if (!(left_.is_private ? keeps_right() : keeps_left())) return;
    planned.kept = side.relation;
    planned.kept_scope = side.scope;
  }

  const sql::Join& join_;
  sql::Position position_;
  PlannedRelation left_;
  PlannedRelation right_;
  bool unit_is_person_;
  std::string_view text_;
  const std::function<std::string()>& fresh_alias_;
  bool bounded_left_ = false;  // of two private sides: whose rows of a unit have a bound
  std::optional<sql::Expression> on_;
};

}  // namespace

PlannedRelation join_relations(const sql::Join& join, sql::Position position, PlannedRelation left,
                               PlannedRelation right, bool unit_is_person, std::string_view text,
                               const std::function<std::string()>& fresh_alias) {
  return Joiner(join, position, std::move(left), std::move(right), unit_is_person, text,
                fresh_alias)
      .make();
}

void rename_columns(const sql::CommonTable& definition, std::string_view text, Scope& scope) {
  if (definition.columns.size() != scope.columns.size()) {
    throw sql::error_at(ErrorCode::invalid_argument, text, definition.name.position,
                        fmt::format("WITH {} names {} columns, and its query has {}; name each",
                                    printable(definition.name.name, 60), definition.columns.size(),
                                    scope.columns.size()));
  }
  for (std::size_t i = 0; i < scope.columns.size(); ++i) {
    scope.columns[i].name = definition.columns[i].name;
  }
}

}  // namespace shoal::plan
