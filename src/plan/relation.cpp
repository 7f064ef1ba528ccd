#include "plan/relation.hpp"

#include "plan/comma_joins.hpp"
#include "plan/joins.hpp"
#include "plan/subqueries.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {
namespace {

// More names inside each other than anybody writes, and few enough for the stack.
constexpr std::size_t kMaxOpenQueries = 30;
constexpr std::size_t kMaxRelations = 200;

sql::Identifier quoted(const std::string& name) { return {name, true}; }

}  // namespace

sql::Expression reference(const std::string& alias, const std::string& column) {
  return sql::Expression(sql::ColumnReference{quoted(alias), quoted(column)});
}

sql::Expression equals(const sql::Expression& left, const sql::Expression& right) {
  return sql::Expression(sql::Binary{sql::BinaryOperator::equal, left, right});
}

// A common table is planned where it is used, so names that use each other twice would double.
std::string RelationPlanner::fresh_alias() {
  if (++aliases_ > kMaxRelations) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the query reads more than {} tables and subqueries, each WITH counted "
                            "where it is used; ask for less at once",
                            kMaxRelations));
  }
  return fmt::format("t{}", aliases_);
}

CommonTables RelationPlanner::extended(const CommonTables& outer, const sql::Query& query) const {
  CommonTables common = outer;
  for (const sql::CommonTable& one : query.with) {
    const std::string name = to_lower(one.name.name);
    const bool twice = std::any_of(query.with.begin(), query.with.end(), [&](const auto& other) {
      return &other != &one && to_lower(other.name.name) == name;
    });
    if (twice) {
      throw sql::error_at(
          ErrorCode::invalid_argument, text_, one.name.position,
          fmt::format("WITH defines {} twice; rename one", printable(one.name.name, 60)));
    }
    common[name] = {&one, std::make_shared<const CommonTables>(common)};
  }
  return common;
}

PlannedRelation RelationPlanner::plan(const sql::Relation& relation, const CommonTables& common) {
  if (const auto* reference = relation.get_if<sql::TableReference>()) {
    return table(*reference, relation.position(), common);
  }
  if (const auto* derived = relation.get_if<sql::DerivedTable>()) {
    return subquery(*derived->query, derived->alias ? derived->alias->name : "",
                    relation.position(), common);
  }
  return join(*relation.get_if<sql::Join>(), relation.position(), common);
}

PlannedRelation RelationPlanner::table(const sql::TableReference& reference, sql::Position position,
                                       const CommonTables& common) {
  const std::string name = reference.alias ? reference.alias->name : reference.name.name;
  const auto found = common.find(to_lower(reference.name.name));
  if (found != common.end()) {
    // A common table does not see itself: recursion would need a fixed point.
    const sql::CommonTable& definition = *found->second.table;
    PlannedRelation planned = subquery(*definition.query, name, position, *found->second.visible);
    if (!definition.columns.empty()) rename_columns(definition, text_, planned.scope);
    return planned;
  }
  if (const catalog::Table* known =
          policy_.find_table(reference.name.name, reference.name.quoted)) {
    return base_table(*known, name);
  }
  std::vector<std::string> names;
  for (const catalog::Table& one : policy_.tables) names.push_back(one.name);
  throw sql::error_at(ErrorCode::not_found, text_, reference.name.position,
                      fmt::format("the policy has no table {}; it has {}",
                                  printable(reference.name.name, 60), join_names(names)));
}

PlannedRelation RelationPlanner::base_table(const catalog::Table& table, const std::string& name) {
  const std::string alias = fresh_alias();
  PlannedRelation planned{
      .relation = sql::Relation(sql::TableReference{quoted(table.name), quoted(alias)})};
  for (const catalog::Column& column : table.columns) {
    const auto type = type_of(column);
    if (!type) continue;
    planned.scope.columns.push_back(
        {name, column.name, *type, reference(alias, column.name), column.queryable,
         !table.is_public && policy_.unit == catalog::PrivacyUnit::person &&
             table.person_column == column.name});
  }
  planned.tables = {&table};
  planned.is_private = !table.is_public;
  if (table.is_public) return planned;
  planned.limits = {table.max_rows_per_person, table.max_groups_per_person,
                    table.max_rows_per_group};
  planned.scanned = &table;
  if (policy_.unit == catalog::PrivacyUnit::row) return planned;
  if (table.person_path) {
    follow_path(table, name, alias, planned);
  } else {
    planned.unit = reference(alias, table.person_column);
    const catalog::Column& person = *table.find_column(table.person_column, true);
    planned.unit_type = *type_of(person);
    if (person.unique) planned.per_unit = FanOut{};
  }
  return planned;
}

// Joins the tables that lead to the person. The owner declares each referenced column to be a key:
// a row then refers to one row at most, and is one person's.
void RelationPlanner::follow_path(const catalog::Table& table, const std::string& name,
                                  const std::string& alias, PlannedRelation& planned) {
  planned.scanned = nullptr;
  const catalog::Table* from = &table;
  std::string from_alias = alias;
  while (from->person_path) {
    const catalog::PersonPath& path = *from->person_path;
    const catalog::Table* to = policy_.find_table(path.table, true);
    const std::string to_alias = fresh_alias();
    planned.relation = sql::Relation(sql::Join{
        sql::JoinKind::inner, planned.relation,
        sql::Relation(sql::TableReference{quoted(to->name), quoted(to_alias)}),
        equals(reference(from_alias, path.column), reference(to_alias, path.referenced))});
    planned.tables.push_back(to);
    from = to;
    from_alias = to_alias;
  }
  planned.unit = reference(from_alias, from->person_column);
  const catalog::Column& person = *from->find_column(from->person_column, true);
  planned.unit_type = *type_of(person);
  // The person to whom the path leads is a column like any other, so that it can be joined on.
  if (table.find_column(person.name, false)) return;
  planned.scope.columns.push_back(
      {name, person.name, planned.unit_type, *planned.unit, person.queryable, true});
}

PlannedRelation RelationPlanner::join(const sql::Join& join, sql::Position position,
                                      const CommonTables& common) {
  PlannedRelation left = plan(join.left, common);
  PlannedRelation right = plan(join.right, common);
  return join_relations(join, position, std::move(left), std::move(right),
                        policy_.unit == catalog::PrivacyUnit::person, text_,
                        [this] { return fresh_alias(); });
}

PlannedRelation RelationPlanner::subquery(const sql::Query& written, const std::string& name,
                                          sql::Position position, const CommonTables& common) {
  if (++open_ > kMaxOpenQueries) {
    throw sql::error_at(
        ErrorCode::unsupported, text_, position,
        fmt::format("queries are nested more than {} deep; write them flatter", kMaxOpenQueries));
  }
  refuse_in_subquery(written, position, text_);
  const sql::Query query = joined_by_where(written);
  PlannedRelation from = plan(*query.from, extended(common, query));
  const bool grouped = query.group_by.has_value() ||
                       std::any_of(query.items.begin(), query.items.end(), [](const auto& item) {
                         return item.expression && has_aggregate(*item.expression);
                       });
  PlannedRelation planned =
      grouped ? per_unit(query, std::move(from), position) : rows_of(query, std::move(from));
  for (ScopeColumn& column : planned.scope.columns) {
    column.relation = name.empty() ? std::nullopt : std::optional<std::string>(name);
  }
  --open_;
  return planned;
}

PlannedRelation RelationPlanner::rows_of(const sql::Query& query, PlannedRelation from) {
  std::optional<sql::Expression> where;
  if (query.where) where = RowExpressions(from.scope, text_).condition(*query.where);
  return project(query, std::move(from), std::move(where), fresh_alias(), text_);
}

// What stands around the aggregates then works on one row a unit (and key).
PlannedRelation RelationPlanner::per_unit(const sql::Query& query, PlannedRelation from,
                                          sql::Position position) {
  UnitGroups groups = group_by_unit(query, std::move(from), position, fresh_alias(), text_);
  return rows_of(groups.outer, std::move(groups.relation));
}

}  // namespace shoal::plan
