#include <shoal/sql/rewrite.hpp>

#include <vector>

namespace shoal::sql {

Expression rewrite(const Expression& expression, const Exchange& exchange) {
  if (auto replacement = exchange(expression)) return *replacement;
  std::vector<Expression> inside = children(expression);
  if (inside.empty()) return expression;
  for (Expression& part : inside) part = rewrite(part, exchange);
  return with_children(expression, inside);
}

}  // namespace shoal::sql
