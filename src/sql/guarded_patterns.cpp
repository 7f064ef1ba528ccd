// LIKE and regular expressions: in time proportional to the text, whatever the text.
#include "sql/guard.hpp"
#include "sql/like_pattern.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/pattern.hpp>

#include <fmt/format.h>

#include <utility>

namespace shoal::sql {
namespace {

void check(std::string_view pattern, const std::optional<std::string>& fault) {
  if (!fault) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("the pattern {} is not supported: {}", printable(pattern, 80), *fault));
}

Expression constant(std::string text) {
  return Expression(Literal{LiteralKind::string, std::move(text)});
}

}  // namespace

// By themselves the engines disagree on whether . matches the end of a line. DuckDB makes a LIKE of
// a simple pattern of REGEXP_MATCHES, but not of one in a group, nor of REGEXP_FULL_MATCH.
Expression Guard::regular_expression(const Call& call, Position position) {
  check_arguments(call, 2, 2);
  const std::string pattern = constant_text(call, 1, "REGEXP_MATCHES(x, '[0-9]+')");
  check(pattern, pattern_fault(pattern));
  if (dialect_ == Dialect::spark) {
    throw Error(ErrorCode::unsupported,
                "REGEXP_MATCHES is not supported on Spark, whose search can run out of stack or "
                "time on some texts; write LIKE, STARTS_WITH or CONTAINS");
  }
  Expression operand = expand(call.arguments[0]);
  if (dialect_ == Dialect::postgresql) {
    return Expression(Call{"REGEXP_LIKE", {std::move(operand), call.arguments[1]}}, position);
  }
  return Expression(
      Call{"REGEXP_MATCHES", {std::move(operand), constant("(" + pattern + ")"), constant("s")}},
      position);
}

Expression Guard::like(const Like& like, const Literal& pattern, Position position) {
  check(pattern.text, like_fault(pattern.text));
  const LikePattern parts(pattern.text);
  Expression operand = expand(like.operand);
  if (parts.is_plain()) {
    return Expression(Like{std::move(operand), constant(parts.text()), like.negated}, position);
  }
  if (dialect_ == Dialect::spark) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the pattern {} has % at several places, and on Spark its search takes "
                            "too long on some texts; write for example CONTAINS(x, 'a') AND "
                            "CONTAINS(x, 'b')",
                            printable(pattern.text, 80)));
  }
  const std::string expression = parts.regular_expression();
  Expression matches(
      dialect_ == Dialect::postgresql
          ? Call{"REGEXP_LIKE", {std::move(operand), constant("^(" + expression + ")$")}}
          : Call{"REGEXP_FULL_MATCH", {std::move(operand), constant(expression), constant("s")}},
      position);
  if (!like.negated) return matches;
  return Expression(Unary{UnaryOperator::logical_not, std::move(matches)}, position);
}

}  // namespace shoal::sql
