// How guarded functions become an engine's own expressions. Private to the sql layer.
//
// Invariant: whatever a method returns raises no error for any value of its columns. An expression
// is used several times in what takes its place, so trees share their parts; the outcome is counted
// as it will be printed, and refused beyond kMaxGuardedNodes.
#pragma once

#include <shoal/sql/printer.hpp>
#include <shoal/sql/syntax.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shoal::sql {

inline constexpr std::size_t kMaxGuardedNodes = 20'000;

// The largest double. A literal, since that is what a number is compared with to see that it is
// finite: NaN and infinity are larger, in every engine.
inline constexpr std::string_view kLargest = "1.7976931348623157e308";

// What stands for an argument: its own expression, or a DOUBLE, where a template must take one that
// is not finite for NULL.
enum class ParameterKind { any, number };

// Templates are expressions of the language in which the columns a, b and c are the arguments and
// EXACT(x) is x as PostgreSQL's number of any length. An empty template is DuckDB's.
struct GuardedFunction {
  std::string name;
  std::vector<ParameterKind> parameters;
  bool number = false;  // gives a DOUBLE that is finite or NULL
  std::string duckdb;
  std::string postgresql = {};
  std::string spark = {};
};

// In guarded_conversions.cpp.
std::vector<GuardedFunction> conversion_templates();

// Conditions of templates on the argument a: a date or timestamp from 0001-01-01 to 9999-12-30, in
// which every engine can calculate; a text that matches a pattern from end to end.
inline constexpr std::string_view kDateRange = "a >= DATE '0001-01-01' AND a < DATE '9999-12-31'";
std::string matches_whole(Dialect dialect, std::string_view pattern);

// In guarded_functions.cpp: all those that have a template. There may be several of a name, with
// different numbers of arguments. Null if there is none.
const GuardedFunction* find_template(std::string_view name, std::size_t arguments);
bool has_template(std::string_view name);
std::string_view template_for(const GuardedFunction& function, Dialect dialect);

class Guard {
 public:
  explicit Guard(Dialect dialect) : dialect_(dialect) {}

  Expression expand(const Expression& expression);

 private:
  Expression expand_call(const Expression& expression, const Call& call);
  Expression expand_template(const Call& call, const GuardedFunction& function);
  Expression substitute(const Expression& pattern, const std::vector<Expression>& arguments) const;

  // In guarded_arithmetic.cpp. A region is a tree of operations in which a number that is not
  // finite stays so, and which is therefore checked once, at its root.
  Expression checked_region(const Expression& expression);
  Expression raw(const Expression& expression);
  Expression raw_leaf(const Expression& expression);
  Expression denominator(const Expression& expression);
  Expression number(const Expression& expression);

  // In guarded_patterns.cpp.
  Expression like(const Like& like, const Literal& pattern, Position position);
  Expression regular_expression(const Call& call, Position position);

  // In guarded_forms.cpp: those whose form depends on their arguments.
  std::optional<Expression> expand_form(const Call& call, Position position);
  Expression round_to(const Call& call, Position position);
  Expression extreme(const Call& call, Position position);
  Expression concatenation(const Call& call, Position position);
  Expression extract(const Call& call, Position position);
  Expression truncate(const Call& call, Position position);
  Expression date_difference(const Call& call, Position position);
  Expression ordered_total(const Call& call);
  Expression from_text(std::string_view text, const std::vector<Expression>& arguments) const;

  Dialect dialect_;
  std::unordered_map<const Node*, Expression> done_;
};

bool is_region_function(std::string_view name);
bool is_form(std::string_view name);

// In guarded_forms.cpp. Throws invalid_argument unless the argument is a text, with an example.
std::string constant_text(const Call& call, std::size_t index, std::string_view example);

// Throws invalid_argument unless the call has plain arguments alone, from least to most of them.
void check_arguments(const Call& call, std::size_t least, std::size_t most);

}  // namespace shoal::sql
