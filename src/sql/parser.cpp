#include "sql/expression_parser.hpp"
#include "sql/query_parser.hpp"
#include "sql/token_stream.hpp"

#include <shoal/sql/parser.hpp>

namespace shoal::sql {

Query parse_query(std::string_view text) {
  TokenStream tokens(text);
  return QueryParser(tokens).parse();
}

Expression parse_expression(std::string_view text) {
  TokenStream tokens(text);
  Expression expression = ExpressionParser(tokens).parse();
  if (tokens.peek().kind != TokenKind::end) tokens.fail("an operator or the end of the expression");
  return expression;
}

}  // namespace shoal::sql
