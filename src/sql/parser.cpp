#include "sql/expression_parser.hpp"
#include "sql/refusals.hpp"
#include "sql/token_stream.hpp"

#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <utility>

namespace shoal::sql {
namespace {

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
    return select;
  }

 private:
  void parse_head() {
    if (tokens_.at_symbol("(")) {
      tokens_.refuse(tokens_.peek().position,
                     "a SELECT in parentheses is not supported; write it without them");
    }
    tokens_.refuse_if(statement_refusal(keyword(tokens_.peek())));
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
    if (!tokens_.at_word("FROM")) tokens_.refuse_if(clause_refusal(keyword(tokens_.peek())));
    if (!tokens_.take_word("FROM")) {
      tokens_.fail(", or FROM", "write for example SELECT COUNT(*) FROM people");
    }
    const Position position = tokens_.peek().position;
    if (tokens_.peek().kind == TokenKind::string) {
      tokens_.refuse(position,
                     "a file cannot be queried; write the name of a registered table, for example "
                     "FROM people");
    }
    if (tokens_.at_symbol("(")) tokens_.refuse(position, kSubqueryRefusal);
    tokens_.refuse_if(clause_refusal(keyword(tokens_.peek())));
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
    if (tokens_.at_symbol(",")) tokens_.refuse(position, clause_refusal("JOIN"));
    if (tokens_.at_word("AS") || tokens_.at_name()) {
      tokens_.refuse(position,
                     "another name for the table is not supported; leave it out and write columns "
                     "as age or people.age");
    }
  }

  void parse_end() {
    tokens_.refuse_if(clause_refusal(keyword(tokens_.peek())));
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

Expression parse_expression(std::string_view text) {
  TokenStream tokens(text);
  Expression expression = ExpressionParser(tokens).parse();
  if (tokens.peek().kind != TokenKind::end) tokens.fail("an operator or the end of the expression");
  return expression;
}

}  // namespace shoal::sql
