// What a query reads: tables, joins, subqueries and common tables, turned into a relation whose
// every row belongs to one unit (or is public) and which no value in any row can make fail.
//
// Rules (proof: relation.proof.md): a private table carries its unit; private relations are joined
// on the unit alone; public ones freely; a subquery works row by row or groups by the unit.
// Whatever a query drops, the unit stays with each row.
#pragma once

#include "plan/row_expression.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/sql/query.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

// How much of a unit may count where a question does not say it. Any number is sound: bounding is
// the last step.
struct ContributionLimits {
  std::optional<long long> rows_per_person;
  std::optional<long long> groups_per_person;
  std::optional<long long> rows_per_group;
};

// A column of a public table of which no two rows may share a value.
struct UniqueColumn {
  const catalog::Table* table;
  std::string column;
};

struct PlannedRelation {
  sql::Relation relation;
  Scope scope = {};
  bool is_private = false;
  std::optional<sql::Expression> unit =
      std::nullopt;  // whose a row is; none if public, or if the unit is a row
  ValueType unit_type = {};
  ContributionLimits limits = {};
  std::vector<const catalog::Table*> tables = {};  // all that it reads
  const catalog::Table* scanned = nullptr;         // if it is no more than a scan of this one
  std::vector<UniqueColumn> unique = {};           // must be checked before the relation is read
  FanOut fan_out = {};                             // rows for one row of the table that brings most
  std::optional<FanOut> per_unit = std::nullopt;  // rows of one unit, where public facts bound them
  std::vector<FanOut> fan_outs = {};              // of all joins inside that read public tables
  // The public relation of an outer join that keeps all its rows: grouped by its columns alone, a
  // question has every one of its keys.
  std::optional<sql::Relation> kept = std::nullopt;
  Scope kept_scope = {};
};

// One relation for each name that WITH defines, and the names that its query sees: those defined
// before it and around it, whatever is defined where it is used.
struct CommonDefinition;
using CommonTables = std::map<std::string, CommonDefinition>;
struct CommonDefinition {
  const sql::CommonTable* table = nullptr;
  std::shared_ptr<const CommonTables> visible = nullptr;
};

class RelationPlanner {
 public:
  RelationPlanner(const catalog::Policy& policy, std::string_view text)
      : policy_(policy), text_(text) {}

  // Throws unsupported, not_found, refused_by_policy or invalid_argument, with the position.
  PlannedRelation plan(const sql::Relation& relation, const CommonTables& common);

  // The common tables in force inside a query: its own hide those around it.
  CommonTables extended(const CommonTables& outer, const sql::Query& query) const;

 private:
  PlannedRelation table(const sql::TableReference& reference, sql::Position position,
                        const CommonTables& common);
  PlannedRelation base_table(const catalog::Table& table, const std::string& name);
  void follow_path(const catalog::Table& table, const std::string& name, const std::string& alias,
                   PlannedRelation& planned);
  PlannedRelation join(const sql::Join& join, sql::Position position, const CommonTables& common);
  PlannedRelation subquery(const sql::Query& written, const std::string& name,
                           sql::Position position, const CommonTables& common);
  PlannedRelation rows_of(const sql::Query& query, PlannedRelation from);
  PlannedRelation per_unit(const sql::Query& query, PlannedRelation from, sql::Position position);
  std::string fresh_alias();

  const catalog::Policy& policy_;
  std::string_view text_;
  std::size_t aliases_ = 0;
  std::size_t open_ = 0;  // common tables and subqueries being planned, one inside the other
};

// A column of a relation as the engine is to name it, and the condition that two are equal.
sql::Expression reference(const std::string& alias, const std::string& column);
sql::Expression equals(const sql::Expression& left, const sql::Expression& right);

// Whether an aggregate stands anywhere inside.
bool has_aggregate(const sql::Expression& expression);

}  // namespace shoal::plan
