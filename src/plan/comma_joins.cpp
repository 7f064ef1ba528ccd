#include "plan/comma_joins.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace shoal::plan {
namespace {

using sql::Expression;

void conjuncts(const Expression& expression, std::vector<Expression>& parts) {
  const auto* both = expression.get_if<sql::Binary>();
  if (both && both->operation == sql::BinaryOperator::logical_and) {
    conjuncts(both->left, parts);
    conjuncts(both->right, parts);
  } else {
    parts.push_back(expression);
  }
}

std::optional<Expression> conjunction(const std::vector<Expression>& parts) {
  std::optional<Expression> all;
  for (const Expression& part : parts) {
    all =
        all ? Expression(sql::Binary{sql::BinaryOperator::logical_and, *all, part}, part.position())
            : part;
  }
  return all;
}

// The names by which columns of a relation may be qualified.
void names_of(const sql::Relation& relation, std::vector<std::string>& names) {
  if (const auto* table = relation.get_if<sql::TableReference>()) {
    names.push_back(table->alias ? table->alias->name : table->name.name);
  } else if (const auto* derived = relation.get_if<sql::DerivedTable>()) {
    if (derived->alias) names.push_back(derived->alias->name);
  } else if (const auto* join = relation.get_if<sql::Join>()) {
    names_of(join->left, names);
    names_of(join->right, names);
  }
}

class CrossJoins {
 public:
  explicit CrossJoins(std::vector<Expression> parts) : parts_(std::move(parts)) {}

  // Along the left sides, as commas are read.
  sql::Relation with_conditions(const sql::Relation& relation) {
    const auto* join = relation.get_if<sql::Join>();
    if (!join) return relation;
    sql::Join made = *join;
    made.left = with_conditions(join->left);
    if (join->kind == sql::JoinKind::cross) {
      std::vector<Expression> taken = take(join->left, join->right);
      if (!taken.empty()) {
        made.kind = sql::JoinKind::inner;
        made.on = conjunction(taken);
      }
    }
    return sql::Relation(std::move(made), relation.position());
  }

  std::optional<Expression> rest() const { return conjunction(parts_); }

 private:
  static bool belongs(const Expression& expression, const std::vector<std::string>& names) {
    const auto* column = expression.get_if<sql::ColumnReference>();
    return column && column->table &&
           std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return sql::matches(*column->table, name); });
  }

  std::vector<Expression> take(const sql::Relation& left, const sql::Relation& right) {
    std::vector<std::string> first;
    std::vector<std::string> second;
    names_of(left, first);
    names_of(right, second);
    std::vector<Expression> taken;
    std::vector<Expression> others;
    for (const Expression& part : parts_) {
      const auto* same = part.get_if<sql::Binary>();
      const bool equates = same && same->operation == sql::BinaryOperator::equal &&
                           ((belongs(same->left, first) && belongs(same->right, second)) ||
                            (belongs(same->left, second) && belongs(same->right, first)));
      (equates ? taken : others).push_back(part);
    }
    parts_ = std::move(others);
    return taken;
  }

  std::vector<Expression> parts_;
};

bool has_cross(const sql::Relation& relation) {
  const auto* join = relation.get_if<sql::Join>();
  return join && (join->kind == sql::JoinKind::cross || has_cross(join->left));
}

}  // namespace

sql::Query joined_by_where(sql::Query query) {
  if (!query.from || !query.where || !has_cross(*query.from)) return query;
  std::vector<Expression> parts;
  conjuncts(*query.where, parts);
  CrossJoins joins(std::move(parts));
  const sql::Relation from = joins.with_conditions(*query.from);
  if (from == *query.from) return query;
  query.from = from;
  query.where = joins.rest();
  return query;
}

}  // namespace shoal::plan
