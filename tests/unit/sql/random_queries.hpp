// Random whole queries for properties of the printers. Call these inside a RapidCheck property.
#pragma once

#include "random_trees.hpp"

#include <shoal/sql/query.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::sql::testing {

// Whether queries hold what only Shoal reads: EXPLAIN PRIVACY, the privacy clause.
enum class PrivacyWords { some, none };

Query random_query(int depth, PrivacyWords words);

inline bool rarely() { return between(0, 5) == 0; }

inline std::optional<Identifier> random_alias() {
  return coin() ? std::optional<Identifier>(Identifier{random_name()}) : std::nullopt;
}

inline std::vector<Identifier> random_names(int least) {
  std::vector<Identifier> names;
  const int count = between(least, least + 3);
  for (int i = 0; i < count; ++i) names.push_back(Identifier{random_name()});
  return names;
}

inline Relation random_relation(int depth, PrivacyWords words) {
  const int kind = depth <= 0 ? 0 : between(0, 4);
  if (kind == 0) return Relation(TableReference{Identifier{random_name()}, random_alias()});
  if (kind == 1) {
    return Relation(DerivedTable{std::make_shared<const Query>(random_query(depth - 1, words)),
                                 random_alias()});
  }
  const auto join_kind = static_cast<JoinKind>(between(0, static_cast<int>(JoinKind::cross) + 1));
  Join join{join_kind, random_relation(depth - 1, words), random_relation(depth - 1, words)};
  if (join_kind != JoinKind::cross && coin()) {
    join.on = random_expression(depth);
  } else if (join_kind != JoinKind::cross) {
    join.using_columns = random_names(1);
  }
  return Relation(join);
}

inline QueryItem random_item(int depth) {
  QueryItem item;
  if (rarely()) {
    item.star_table = random_alias();
  } else {
    item.expression = random_expression(depth);
    item.alias = random_alias();
  }
  return item;
}

inline GroupBy random_group_by(int depth) {
  GroupBy group_by{rarely()};
  const int count = group_by.all ? 0 : between(1, 4);
  for (int i = 0; i < count; ++i) {
    GroupingElement element{static_cast<GroupingKind>(between(0, 4))};
    const bool plain = element.kind == GroupingKind::expression;
    const int sets = plain ? 1 : between(1, 4);
    for (int j = 0; j < sets; ++j) {
      if (plain) {
        element.sets.push_back({random_expression(depth)});
      } else {
        element.sets.push_back(random_list(depth, element.kind == GroupingKind::sets ? 0 : 1));
      }
    }
    group_by.elements.push_back(element);
  }
  return group_by;
}

inline PrivacyClause random_privacy() {
  PrivacyClause clause;
  const int count = between(0, 3);
  for (int i = 0; i < count; ++i) {
    clause.options.push_back({Identifier{random_name()}, random_expression(1)});
  }
  return clause;
}

inline Query random_query(int depth, PrivacyWords words) {
  Query query;
  if (words == PrivacyWords::some && coin()) query.privacy = random_privacy();
  // DuckDB wants different names.
  const int tables = depth > 0 && coin() ? between(1, 3) : 0;
  for (int i = 0; i < tables; ++i) {
    query.with.push_back({Identifier{random_name() + std::to_string(i)}, random_names(0),
                          std::make_shared<const Query>(random_query(depth - 1, words))});
  }
  query.distinct = rarely();
  const int items = between(1, 4);
  for (int i = 0; i < items; ++i) query.items.push_back(random_item(depth));
  if (!rarely()) query.from = random_relation(depth, words);
  if (coin()) query.where = random_expression(depth);
  if (coin()) query.group_by = random_group_by(depth);
  if (coin()) query.having = random_expression(depth);
  const int order = coin() ? between(1, 3) : 0;
  for (int i = 0; i < order; ++i) {
    query.order_by.push_back(
        {random_expression(depth), coin(), static_cast<NullsOrder>(between(0, 3))});
  }
  if (coin()) query.limit = Expression(Literal{LiteralKind::integer, "10"});
  if (coin()) query.offset = Expression(Literal{LiteralKind::integer, "3"});
  return query;
}

}  // namespace shoal::sql::testing
