// What a query does with its groups and rows at the end: GROUP BY, ORDER BY, LIMIT.
#include "sql/query_parser.hpp"

#include <fmt/format.h>

#include <utility>

namespace shoal::sql {

GroupBy QueryParser::parse_group_by() {
  tokens_.expect_word("BY");
  GroupBy group_by;
  if (tokens_.take_word("ALL")) {
    group_by.all = true;
    return group_by;
  }
  if (tokens_.at_word("DISTINCT")) {
    tokens_.refuse(tokens_.peek().position, "GROUP BY DISTINCT is not supported; leave it out");
  }
  do {
    group_by.elements.push_back(parse_grouping_element());
    check_list_size(group_by.elements.size());
  } while (tokens_.take_symbol(","));
  if (tokens_.at_word("WITH")) {
    tokens_.refuse(tokens_.peek().position,
                   "GROUP BY ... WITH ROLLUP is not supported; write GROUP BY ROLLUP(a, b)");
  }
  return group_by;
}

GroupingElement QueryParser::parse_grouping_element() {
  if (tokens_.at_word("ROLLUP") && tokens_.at_symbol("(", 1)) {
    tokens_.take();
    return parse_grouping_sets(GroupingKind::rollup);
  }
  if (tokens_.at_word("CUBE") && tokens_.at_symbol("(", 1)) {
    tokens_.take();
    return parse_grouping_sets(GroupingKind::cube);
  }
  if (tokens_.at_word("GROUPING") && tokens_.at_word("SETS", 1)) {
    tokens_.take();
    tokens_.take();
    return parse_grouping_sets(GroupingKind::sets);
  }
  // GROUP BY () is one group of all rows.
  if (tokens_.at_symbol("(") && tokens_.at_symbol(")", 1)) {
    tokens_.take();
    tokens_.take();
    return {GroupingKind::sets, {{}}};
  }
  return {GroupingKind::expression, {{parse_expression()}}};
}

GroupingElement QueryParser::parse_grouping_sets(GroupingKind kind) {
  tokens_.expect_symbol("(");
  GroupingElement element{kind};
  do {
    element.sets.push_back(parse_grouping_set(kind));
    check_list_size(element.sets.size());
  } while (tokens_.take_symbol(","));
  if (!tokens_.take_symbol(")")) {
    tokens_.fail(", or )", "put a set into parentheses, for example GROUPING SETS ((a, b), ())");
  }
  return element;
}

// A parenthesis opens a set of several expressions, never a part of one.
std::vector<Expression> QueryParser::parse_grouping_set(GroupingKind kind) {
  for (const std::string_view word : {"ROLLUP", "CUBE", "GROUPING"}) {
    const std::size_t sets = word == "GROUPING" && tokens_.at_word("SETS", 1) ? 1 : 0;
    if (tokens_.at_word(word) && tokens_.at_symbol("(", 1 + sets) &&
        (word != "GROUPING" || sets == 1)) {
      tokens_.refuse(tokens_.peek().position,
                     "grouping sets inside of grouping sets are not supported; write the sets out, "
                     "for example GROUPING SETS ((a, b), (a), ())");
    }
  }
  if (!tokens_.take_symbol("(")) return {parse_expression()};
  if (kind == GroupingKind::sets && tokens_.take_symbol(")")) return {};
  return ExpressionParser(tokens_).parse_list();
}

std::vector<OrderItem> QueryParser::parse_order_by() {
  tokens_.expect_word("BY");
  if (tokens_.at_word("ALL")) {
    tokens_.refuse(tokens_.peek().position,
                   "ORDER BY ALL is not supported; write the positions, for example ORDER BY 1, 2");
  }
  std::vector<OrderItem> items;
  do {
    items.push_back(parse_order_item());
    check_list_size(items.size());
  } while (tokens_.take_symbol(","));
  return items;
}

OrderItem QueryParser::parse_order_item() {
  OrderItem item{parse_expression()};
  if (tokens_.at_word("USING")) {
    tokens_.refuse(tokens_.peek().position,
                   "ORDER BY ... USING is not supported; write ASC or DESC");
  }
  item.descending = tokens_.take_word("DESC");
  if (!item.descending) tokens_.take_word("ASC");
  if (tokens_.take_word("NULLS")) {
    const bool first = tokens_.take_word("FIRST");
    if (!first && !tokens_.take_word("LAST")) tokens_.fail("FIRST or LAST");
    item.nulls = first ? NullsOrder::first : NullsOrder::last;
  }
  return item;
}

Expression QueryParser::parse_row_count(std::string_view clause) {
  const Token token = tokens_.peek();
  if (token.kind != TokenKind::integer) {
    tokens_.fail("a whole number", fmt::format("write for example {} 10", clause));
  }
  tokens_.take();
  return Expression(Literal{LiteralKind::integer, token.text}, token.position);
}

}  // namespace shoal::sql
