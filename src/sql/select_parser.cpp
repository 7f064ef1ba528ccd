// parse_select: one SELECT over one table without grouping.
#include "sql/expression_parser.hpp"
#include "sql/refusals.hpp"
#include "sql/token_stream.hpp"

#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace shoal::sql {
namespace {

struct Refusal {
  std::string_view word;
  std::string_view message;
};

constexpr std::string_view kSetOperation =
    "UNION, EXCEPT and INTERSECT are not supported; send each SELECT as a query of its own";
constexpr std::string_view kJoin =
    "a query reads one table; name one in FROM, and join before the data is registered if you need "
    "columns of several";
constexpr std::string_view kLimit =
    "LIMIT and OFFSET are not supported; leave them out, since a query of aggregates has one row";
constexpr std::string_view kPivot = "PIVOT is not supported; write one aggregate for each value";

constexpr std::array kClauses = {
    Refusal{"GROUP",
            "GROUP BY is not supported; send one query for each group, with the group in WHERE, "
            "for example WHERE city = 'Paris'"},
    Refusal{"HAVING",
            "HAVING is not supported; filter rows with WHERE, and answers after you have them"},
    Refusal{"ORDER",
            "ORDER BY is not supported; leave it out, since a query of aggregates has one row"},
    Refusal{"LIMIT", kLimit},
    Refusal{"OFFSET", kLimit},
    Refusal{"FETCH", kLimit},
    Refusal{"UNION", kSetOperation},
    Refusal{"EXCEPT", kSetOperation},
    Refusal{"INTERSECT", kSetOperation},
    Refusal{"JOIN", kJoin},
    Refusal{"INNER", kJoin},
    Refusal{"LEFT", kJoin},
    Refusal{"RIGHT", kJoin},
    Refusal{"FULL", kJoin},
    Refusal{"CROSS", kJoin},
    Refusal{"NATURAL", kJoin},
    Refusal{"OUTER", kJoin},
    Refusal{"ASOF", kJoin},
    Refusal{"SEMI", kJoin},
    Refusal{"ANTI", kJoin},
    Refusal{"POSITIONAL", kJoin},
    Refusal{"LATERAL", kJoin},
    Refusal{"WINDOW",
            "window functions are not supported; write an aggregate such as SUM(x) over the whole "
            "table"},
    Refusal{"QUALIFY", "QUALIFY is not supported; filter rows with WHERE"},
    Refusal{"TABLESAMPLE", "TABLESAMPLE is not supported; leave it out"},
    Refusal{"USING", "USING is not supported; leave it out"},
    Refusal{"INTO", "SELECT INTO is not supported; leave INTO out"},
    Refusal{"FOR", "FOR is not supported; leave it out, since a query changes nothing"},
    Refusal{"PIVOT", kPivot},
    Refusal{"UNPIVOT", kPivot},
};

std::string_view refused_clause(std::string_view upper) {
  for (const Refusal& refusal : kClauses) {
    if (refusal.word == upper) return refusal.message;
  }
  return {};
}

constexpr std::string_view kStarRefusal =
    "SELECT * is not supported, since rows are private; write an aggregate, for example SELECT "
    "COUNT(*) FROM people";

class SelectParser {
 public:
  explicit SelectParser(std::string_view text) : tokens_(text) {}

  Select parse() {
    parse_head();
    Select select{parse_items(), parse_table()};
    if (tokens_.take_word("WHERE")) select.where = ExpressionParser(tokens_).parse();
    parse_end();
    for (const SelectItem& item : select.items) refuse_clauses(item.expression);
    if (select.where) refuse_clauses(*select.where);
    return select;
  }

 private:
  void parse_head() {
    if (tokens_.at_symbol("(")) {
      tokens_.refuse(tokens_.peek().position,
                     "a SELECT in parentheses is not supported; write it without them");
    }
    tokens_.refuse_if(tokens_.at_word("WITH")
                          ? "WITH is not supported; write one SELECT over one table"
                          : statement_refusal(keyword(tokens_.peek())));
    if (!tokens_.take_word("SELECT")) {
      tokens_.fail("SELECT", "write for example SELECT COUNT(*) FROM people");
    }
    if (tokens_.at_word("DISTINCT") || tokens_.at_word("ALL")) {
      tokens_.refuse(tokens_.peek().position,
                     "SELECT DISTINCT is not supported; write for example SELECT COUNT(DISTINCT "
                     "city) FROM people");
    }
    if (tokens_.at_word("WITH")) {
      tokens_.refuse(tokens_.peek().position,
                     "SELECT WITH is not supported; state the privacy parameters outside of the "
                     "query and write for example SELECT COUNT(*) FROM people");
    }
  }

  std::vector<SelectItem> parse_items() {
    std::vector<SelectItem> items;
    do {
      if (tokens_.at_symbol("*")) tokens_.refuse(tokens_.peek().position, kStarRefusal);
      items.push_back(parse_item());
      if (items.size() > kMaxListItems) {
        tokens_.fail_at(
            tokens_.peek().position,
            fmt::format("a query selects more than {} items; send several queries", kMaxListItems));
      }
    } while (tokens_.take_symbol(","));
    return items;
  }

  SelectItem parse_item() {
    SelectItem item{ExpressionParser(tokens_).parse()};
    if (tokens_.take_word("AS") || tokens_.at_name()) item.alias = tokens_.take_name("a name");
    return item;
  }

  Identifier parse_table() {
    if (!tokens_.at_word("FROM")) tokens_.refuse_if(refused_clause(keyword(tokens_.peek())));
    if (!tokens_.take_word("FROM")) {
      tokens_.fail(", or FROM", "write for example SELECT COUNT(*) FROM people");
    }
    const Position position = tokens_.peek().position;
    if (tokens_.peek().kind == TokenKind::string) {
      tokens_.refuse(position,
                     "a file cannot be queried; write the name of a registered table, for example "
                     "FROM people");
    }
    if (tokens_.at_symbol("(")) {
      tokens_.refuse(
          position,
          "subqueries are not supported; write the condition on the table's own columns, "
          "or run the inner query first and put its answer here");
    }
    tokens_.refuse_if(refused_clause(keyword(tokens_.peek())));
    Identifier table = tokens_.take_name("a table");
    refuse_after_table();
    return table;
  }

  void refuse_after_table() const {
    const Position position = tokens_.peek().position;
    if (tokens_.at_symbol("(")) {
      tokens_.refuse(position, "table functions are not supported; write the name of a table");
    }
    if (tokens_.at_symbol(".")) {
      tokens_.refuse(position,
                     "tables in a schema are not supported; write the table's name alone");
    }
    if (tokens_.at_symbol(",")) tokens_.refuse(position, refused_clause("JOIN"));
    if (tokens_.at_word("AS") || tokens_.at_name()) {
      tokens_.refuse(position,
                     "another name for the table is not supported; leave it out and write columns "
                     "as age or people.age");
    }
  }

  // A reader of a Select looks at a call's arguments alone.
  void refuse_clauses(const Expression& expression) const {
    const Call* call = expression.get_if<Call>();
    if (call != nullptr && call->filter) {
      tokens_.refuse(expression.position(),
                     "FILTER is not supported; write for example SUM(CASE WHEN c THEN x END), or "
                     "put the condition in WHERE");
    }
    if (call != nullptr && !call->named.empty()) {
      tokens_.refuse(call->named.front().name.position,
                     "named arguments are not supported; write the arguments in their order");
    }
    for (const Expression& child : children(expression)) refuse_clauses(child);
  }

  void parse_end() {
    tokens_.refuse_if(refused_clause(keyword(tokens_.peek())));
    while (tokens_.take_symbol(";")) {
      if (tokens_.peek().kind == TokenKind::end || tokens_.at_symbol(";")) continue;
      tokens_.refuse(tokens_.peek().position,
                     "more than one statement is not supported; send each as a query of its own");
    }
    if (tokens_.peek().kind != TokenKind::end)
      tokens_.fail("WHERE, an operator or the end of the query");
  }

  TokenStream tokens_;
};

}  // namespace

Select parse_select(std::string_view text) { return SelectParser(text).parse(); }

}  // namespace shoal::sql
