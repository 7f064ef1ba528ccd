#include "sql/guard.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/guarded_functions.hpp>
#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace shoal::sql {
namespace {

// Templates are few and constant, so each is parsed once.
Expression parsed_template(std::string_view text) {
  static std::mutex mutex;
  static std::map<std::string, Expression, std::less<>> parsed;
  const std::lock_guard lock(mutex);
  const auto found = parsed.find(text);
  if (found != parsed.end()) return found->second;
  return parsed.emplace(std::string(text), parse_expression(text)).first->second;
}

// Nodes as they are printed: a shared part counts each time that it is used.
std::size_t printed_nodes(const Expression& expression,
                          std::unordered_map<const Node*, std::size_t>& counted) {
  const auto found = counted.find(&expression.node());
  if (found != counted.end()) return found->second;
  std::size_t count = 1;
  for (const Expression& child : children(expression)) {
    count = std::min(count + printed_nodes(child, counted), kMaxGuardedNodes + 1);
  }
  counted.emplace(&expression.node(), count);
  return count;
}

}  // namespace

void check_arguments(const Call& call, std::size_t least, std::size_t most) {
  const std::size_t count = call.arguments.size();
  if (count >= least && count <= most && !call.star && !call.distinct && call.named.empty() &&
      !call.filter) {
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} has {} arguments and takes {} to {} plain ones; see the list of "
                          "functions",
                          printable(call.name, 40), count, least, most));
}

Expression Guard::expand(const Expression& expression) {
  const auto found = done_.find(&expression.node());
  if (found != done_.end()) return found->second;
  const Call* call = expression.get_if<Call>();
  const Like* like = expression.get_if<Like>();
  const Literal* pattern = like == nullptr ? nullptr : like->pattern.get_if<Literal>();
  Expression expanded = expression;
  if (call != nullptr && is_guarded(call->name)) {
    expanded = expand_call(expression, *call);
  } else if (pattern != nullptr && pattern->kind == LiteralKind::string) {
    expanded = this->like(*like, *pattern, expression.position());
  } else {
    std::vector<Expression> inside = children(expression);
    for (Expression& child : inside) child = expand(child);
    expanded = with_children(expression, inside);
  }
  done_.emplace(&expression.node(), expanded);
  return expanded;
}

Expression Guard::expand_call(const Expression& expression, const Call& call) {
  if (is_region_function(call.name)) return checked_region(expression);
  if (is_form(call.name)) {
    if (const auto form = expand_form(call, expression.position())) return *form;
  }
  const std::size_t count = call.arguments.size();
  const GuardedFunction* function = find_template(call.name, count);
  if (function == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} does not take {} arguments; see the list of functions",
                            printable(call.name, 40), count));
  }
  check_arguments(call, count, count);
  return expand_template(call, *function);
}

Expression Guard::expand_template(const Call& call, const GuardedFunction& function) {
  std::vector<Expression> arguments;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Expression& argument = call.arguments[i];
    arguments.push_back(function.parameters[i] == ParameterKind::number ? number(argument)
                                                                        : expand(argument));
  }
  return from_text(template_for(function, dialect_), arguments);
}

Expression Guard::from_text(std::string_view text, const std::vector<Expression>& arguments) const {
  return substitute(parsed_template(text), arguments);
}

Expression Guard::substitute(const Expression& pattern,
                             const std::vector<Expression>& arguments) const {
  if (const ColumnReference* column = pattern.get_if<ColumnReference>()) {
    const std::string& name = column->column.name;
    if (name.size() != 1 || name[0] < 'a' ||
        static_cast<std::size_t>(name[0] - 'a') >= arguments.size()) {
      throw Error(ErrorCode::internal, "a template names no argument; please report this");
    }
    return arguments[static_cast<std::size_t>(name[0] - 'a')];
  }
  std::vector<Expression> inside = children(pattern);
  for (Expression& child : inside) child = substitute(child, arguments);
  const Call* call = pattern.get_if<Call>();
  if (call != nullptr && call->name == "EXACT") {
    const Expression text(Cast{inside.at(0), {ScalarType::varchar}});
    return Expression(Cast{text, {ScalarType::decimal}});
  }
  return with_children(pattern, inside);
}

bool is_guarded(std::string_view name) {
  return is_region_function(name) || is_form(name) || has_template(name);
}

Expression expand_guarded(const Expression& expression, Dialect dialect) {
  if (dialect == Dialect::shoal) return expression;
  Expression expanded = Guard(dialect).expand(expression);
  std::unordered_map<const Node*, std::size_t> counted;
  if (printed_nodes(expanded, counted) > kMaxGuardedNodes) {
    throw Error(ErrorCode::unsupported,
                "an expression becomes too long once no value can make it fail; write it with "
                "fewer functions inside of one another");
  }
  return expanded;
}

}  // namespace shoal::sql
