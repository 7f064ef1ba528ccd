// What stands in FROM: tables, queries in parentheses and joins.
#include "sql/query_parser.hpp"
#include "sql/refusals.hpp"

#include <fmt/format.h>

#include <utility>

namespace shoal::sql {

Relation QueryParser::parse_relation() {
  Relation left = parse_joins();
  while (tokens_.at_symbol(",")) {
    const Position position = tokens_.take().position;
    left = make(Join{JoinKind::cross, std::move(left), parse_joins()}, position);
  }
  return left;
}

Relation QueryParser::parse_joins() {
  Relation left = parse_relation_primary();
  for (;;) {
    tokens_.refuse_if(join_refusal(keyword(tokens_.peek())));
    const std::optional<JoinKind> kind = take_join();
    if (!kind) return left;
    const Position position = tokens_.peek().position;
    tokens_.expect_word("JOIN");
    left = parse_join(std::move(left), *kind, position);
  }
}

// The words before JOIN, if one follows.
std::optional<JoinKind> QueryParser::take_join() {
  if (tokens_.at_word("JOIN") || tokens_.take_word("INNER")) return JoinKind::inner;
  if (tokens_.take_word("CROSS")) return JoinKind::cross;
  std::optional<JoinKind> kind;
  if (tokens_.take_word("LEFT")) kind = JoinKind::left;
  if (tokens_.take_word("RIGHT")) kind = JoinKind::right;
  if (tokens_.take_word("FULL")) kind = JoinKind::full;
  if (kind) {
    tokens_.refuse_if(join_refusal(keyword(tokens_.peek())));
    tokens_.take_word("OUTER");
  }
  return kind;
}

Relation QueryParser::parse_join(Relation left, JoinKind kind, Position position) {
  Join join{kind, std::move(left), parse_relation_primary()};
  if (kind == JoinKind::cross) {
    // ON or USING belongs to no cross join.
  } else if (tokens_.take_word("ON")) {
    join.on = parse_expression();
  } else if (tokens_.take_word("USING")) {
    tokens_.expect_symbol("(");
    join.using_columns = parse_names("a column");
  } else {
    tokens_.fail("ON or USING",
                 "write for example JOIN visits ON visits.person = people.id, or CROSS JOIN for "
                 "every pair of rows");
  }
  return make(std::move(join), position);
}

Relation QueryParser::parse_relation_primary() {
  const Position position = tokens_.peek().position;
  if (tokens_.peek().kind == TokenKind::string) {
    tokens_.refuse(position,
                   "a file cannot be queried; write the name of a registered table, for example "
                   "FROM people");
  }
  if (tokens_.peek().kind == TokenKind::parameter) {
    tokens_.refuse(position, "parameters are not supported; write the name of a table");
  }
  tokens_.refuse_if(relation_refusal(keyword(tokens_.peek())));
  if (!tokens_.at_symbol("(")) return parse_table();
  if (!tokens_.at_word("SELECT", 1) && !tokens_.at_word("WITH", 1)) return parse_group();
  DerivedTable table{parse_nested()};
  table.alias = parse_alias();
  refuse_after_table();
  return make(std::move(table), position);
}

Relation QueryParser::parse_table() {
  TableReference table{tokens_.take_name("a table")};
  const Position position = table.name.position;
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(tokens_.peek().position,
                   "table functions are not supported; write the name of a table");
  }
  if (tokens_.at_symbol(".")) {
    tokens_.refuse(tokens_.peek().position,
                   "tables in a schema are not supported; write the table's name alone");
  }
  table.alias = parse_alias();
  refuse_after_table();
  return make(std::move(table), position);
}

// Joins in parentheses, which leave no trace in the tree. ((SELECT ...)) AS x is (SELECT ...) AS x.
Relation QueryParser::parse_group() {
  const Position position = tokens_.take().position;
  check_nesting(++groups_, position);
  Relation inner = parse_relation();
  --groups_;
  if (!tokens_.take_symbol(")")) tokens_.fail("JOIN, ON or )");
  const DerivedTable* query = inner.get_if<DerivedTable>();
  if (query != nullptr && !query->alias) {
    const std::optional<Identifier> alias = parse_alias();
    return alias ? make(DerivedTable{query->query, alias}, position) : inner;
  }
  if (tokens_.at_word("AS") || tokens_.at_name()) {
    tokens_.refuse(tokens_.peek().position,
                   "a name for joins in parentheses is not supported; name each table, or write "
                   "(SELECT ... FROM ...) AS name");
  }
  return inner;
}

void QueryParser::refuse_after_table() const {
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(tokens_.peek().position,
                   "names for the columns of a table are not supported here; write them in WITH "
                   "name (columns) AS (SELECT ...)");
  }
  tokens_.refuse_if(keyword(tokens_.peek()) == "TABLESAMPLE" ? clause_refusal("TABLESAMPLE")
                                                             : std::string_view());
}

Relation QueryParser::make(RelationNode::Value value, Position position) const {
  Relation relation = std::visit(
      [position](auto&& kind) { return Relation(std::move(kind), position); }, std::move(value));
  check_nesting(relation.depth(), position);
  return relation;
}

}  // namespace shoal::sql
