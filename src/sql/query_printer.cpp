// Whole queries as text.
#include "sql/expression_printer.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/printer.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace shoal::sql {
namespace {

class QueryPrinter {
 public:
  QueryPrinter(Dialect dialect, Parentheses parentheses) : expressions_(dialect, parentheses) {}

  std::string print(const Query& query) const {
    if (query.explain) require_shoal("EXPLAIN PRIVACY");
    return joined({query.explain ? "EXPLAIN PRIVACY " : "", body(query)});
  }

  std::string operator()(const TableReference& table) const {
    return joined({name(table.name), alias(table.alias)});
  }

  std::string operator()(const DerivedTable& table) const {
    if (!table.alias && dialect() == Dialect::postgresql) {
      throw Error(ErrorCode::unsupported,
                  "PostgreSQL wants a name for a query in FROM; write (SELECT ...) AS name");
    }
    return joined({fenced(*table.query), alias(table.alias)});
  }

  std::string operator()(const Join& join) const {
    const bool conditions = join.kind == JoinKind::cross
                                ? !join.on && join.using_columns.empty()
                                : join.on.has_value() == join.using_columns.empty();
    require(conditions, "join with one condition, or a cross join with none", "JOIN");
    std::string text = joined({relation(join.left), words(join.kind), right(join.right)});
    if (join.on) text += joined({" ON ", write(*join.on)});
    if (!join.using_columns.empty()) {
      text += joined({" USING (", expressions_.names(join.using_columns), ")"});
    }
    return text;
  }

 private:
  Dialect dialect() const { return expressions_.dialect(); }
  std::string name(const Identifier& identifier) const { return expressions_.name(identifier); }
  std::string alias(const std::optional<Identifier>& alias) const {
    return alias ? joined({" AS ", name(*alias)}) : std::string();
  }

  void require_shoal(std::string_view what) const {
    if (dialect() == Dialect::duckdb || dialect() == Dialect::shoal) return;
    throw Error(ErrorCode::unsupported,
                joined({what,
                        " means something to Shoal alone; leave it out of what an engine is "
                        "to run"}));
  }

  std::string write(const Expression& expression) const {
    return expressions_.write(expression, work_);
  }

  // What it makes are columns of the query around it.
  std::string inner(const Query& query) const {
    require(!query.explain, "query inside of another", "EXPLAIN PRIVACY");
    const double outer_column = std::exchange(work_.column, kColumnCharacters);
    const double outer_longest = std::exchange(longest_, 0);
    std::string text = body(query);
    work_.column = std::max(outer_column, std::exchange(longest_, outer_longest));
    return text;
  }

  std::string nested(const Query& query) const { return joined({"(", inner(query), ")"}); }

  // PostgreSQL puts what a plain subquery computes in each place that names it. Guards name a value
  // several times, so a few of them inside of one another would fill any memory: OFFSET 0 has it
  // compute first.
  std::string fenced(const Query& query) const {
    const bool plain = !query.distinct && !query.group_by && !query.limit && !query.offset;
    const bool computes =
        std::any_of(query.items.begin(), query.items.end(), [](const QueryItem& item) {
          return item.expression && !item.expression->get_if<ColumnReference>();
        });
    if (dialect() != Dialect::postgresql || !plain || !computes) return nested(query);
    return joined({"(", inner(query), " OFFSET 0)"});
  }

  std::string body(const Query& query) const {
    // What it reads comes first, since it says how long columns may be.
    std::string text = with(query);
    const std::string from = query.from ? joined({" FROM ", relation(*query.from)}) : "";
    text += "SELECT ";
    if (query.privacy) text += privacy(*query.privacy);
    if (query.distinct) text += "DISTINCT ";
    text += items(query);
    text += from;
    if (query.where) text += joined({" WHERE ", write(*query.where)});
    if (query.group_by) text += group_by(*query.group_by);
    if (query.having) text += joined({" HAVING ", write(*query.having)});
    text += order_by(query);
    if (query.limit) text += joined({" LIMIT ", row_count(*query.limit)});
    if (query.offset) text += joined({" OFFSET ", row_count(*query.offset)});
    return text;
  }

  std::string with(const Query& query) const {
    std::string text;
    for (const CommonTable& table : query.with) {
      require(table.query != nullptr, "query", table.name.name);
      text += joined({text.empty() ? "WITH " : ", ", name(table.name)});
      if (!table.columns.empty()) {
        text += joined({" (", expressions_.names(table.columns), ")"});
      }
      text += joined({" AS ", nested(*table.query)});
    }
    return text.empty() ? text : text + " ";
  }

  std::string privacy(const PrivacyClause& clause) const {
    require_shoal("SELECT WITH DIFFERENTIAL_PRIVACY");
    std::string options;
    for (const QueryOption& option : clause.options) {
      if (!options.empty()) options += ", ";
      options += joined(
          {name(option.name), " = ", expressions_.operand(option.value, Precedence::concatenate)});
    }
    return options.empty() ? "WITH DIFFERENTIAL_PRIVACY "
                           : joined({"WITH DIFFERENTIAL_PRIVACY OPTIONS(", options, ") "});
  }

  std::string items(const Query& query) const {
    require(!query.items.empty(), "list of items", "SELECT");
    std::string text;
    for (const QueryItem& item : query.items) {
      if (!text.empty()) text += ", ";
      if (item.expression) {
        require(!item.star_table, "item", "*");
        text += joined({expressions_.write(*item.expression, work_, &longest_), alias(item.alias)});
      } else {
        require(!item.alias, "item", "* AS");
        text += item.star_table ? joined({name(*item.star_table), ".*"}) : std::string("*");
      }
    }
    return text;
  }

  std::string relation(const Relation& relation) const {
    return std::visit(*this, relation.node().value);
  }

  // Joins associate to the left.
  std::string right(const Relation& relation) const {
    const bool join = relation.get_if<Join>() != nullptr;
    return join ? joined({"(", this->relation(relation), ")"}) : this->relation(relation);
  }

  static std::string_view words(JoinKind kind) {
    switch (kind) {
      case JoinKind::inner:
        return " JOIN ";
      case JoinKind::left:
        return " LEFT JOIN ";
      case JoinKind::right:
        return " RIGHT JOIN ";
      case JoinKind::full:
        return " FULL JOIN ";
      case JoinKind::cross:
        return " CROSS JOIN ";
    }
    throw Error(ErrorCode::internal, "a join of no kind; please report this");
  }

  std::string group_by(const GroupBy& group_by) const {
    require(group_by.all == group_by.elements.empty(), "list of groups", "GROUP BY");
    if (group_by.all && dialect() == Dialect::postgresql) {
      throw Error(ErrorCode::unsupported,
                  "PostgreSQL has no GROUP BY ALL; write the columns of each group");
    }
    if (group_by.all) return " GROUP BY ALL";
    std::string text;
    for (const GroupingElement& element : group_by.elements) {
      text += joined({text.empty() ? " GROUP BY " : ", ", grouping(element)});
    }
    return text;
  }

  std::string grouping(const GroupingElement& element) const {
    switch (element.kind) {
      case GroupingKind::expression:
        require(element.sets.size() == 1 && element.sets[0].size() == 1, "expression", "GROUP BY");
        return write(element.sets[0][0]);
      case GroupingKind::sets:
        return joined({"GROUPING SETS (", sets(element, true), ")"});
      case GroupingKind::rollup:
        return joined({"ROLLUP (", sets(element, false), ")"});
      case GroupingKind::cube:
        return joined({"CUBE (", sets(element, false), ")"});
    }
    throw Error(ErrorCode::internal, "a grouping of no kind; please report this");
  }

  std::string list(const std::vector<Expression>& items) const {
    std::string text;
    for (const Expression& item : items) {
      if (!text.empty()) text += ", ";
      text += write(item);
    }
    return text;
  }

  std::string sets(const GroupingElement& element, bool empty) const {
    require(!element.sets.empty(), "list of sets", "GROUP BY");
    std::string text;
    for (const std::vector<Expression>& set : element.sets) {
      require(empty || !set.empty(), "set", "()");
      text += joined({text.empty() ? "(" : ", (", list(set), ")"});
    }
    return text;
  }

  // Where the query does not say, NULLs come last, as in DuckDB; the others have rules of their
  // own.
  std::string order_by(const Query& query) const {
    const bool said = dialect() == Dialect::duckdb || dialect() == Dialect::shoal;
    std::string text;
    for (const OrderItem& item : query.order_by) {
      text += joined({text.empty() ? " ORDER BY " : ", ", write(item.expression)});
      if (item.descending) text += " DESC";
      if (item.nulls == NullsOrder::first) text += " NULLS FIRST";
      if (item.nulls == NullsOrder::last || (item.nulls == NullsOrder::unsaid && !said)) {
        text += " NULLS LAST";
      }
    }
    return text;
  }

  std::string row_count(const Expression& count) const {
    const Literal* literal = count.get_if<Literal>();
    require(literal != nullptr && literal->kind == LiteralKind::integer, "whole number", "LIMIT");
    return write(count);
  }

  ExpressionPrinter expressions_;
  // Counted while text is made, once for each part of it.
  mutable RowWork work_;
  mutable double longest_ = 0;  // of the items of the query that is being printed
};

}  // namespace

std::string print(const Query& query, Dialect dialect, Parentheses parentheses) {
  return QueryPrinter(dialect, parentheses).print(query);
}

}  // namespace shoal::sql
