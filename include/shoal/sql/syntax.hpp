// The syntax tree of a query: immutable values with positions, cheap to copy.
//
// Invariants: a tree is at most kMaxTreeDepth deep, so that recursion over it, its destructor
// included, cannot exhaust the stack. Equality ignores positions and whether a name was written in
// quotes. The tree says only how a query is written: it knows neither columns nor types nor
// privacy.
#pragma once

#include <shoal/sql/position.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace shoal::sql {

inline constexpr std::size_t kMaxTreeDepth = 500;

// A name as it is spelled in the query, without its quotes.
struct Identifier {
  std::string name;
  bool quoted = false;
  Position position = {};
};
bool operator==(const Identifier& a, const Identifier& b);

// Whether the identifier means that name: a quoted one letter for letter, another in any case.
bool matches(const Identifier& identifier, std::string_view name);

struct Node;

// Any expression. Its position is the first token of a primary and the operator of an operation,
// since that is what a message about it speaks of.
class Expression {
 public:
  // From one of the kinds of Node below. Throws unsupported beyond kMaxTreeDepth.
  template <typename Kind>
  requires(!std::is_same_v<Kind, Expression>) explicit Expression(Kind kind,
                                                                  Position position = {});

  const Node& node() const { return *node_; }
  Position position() const { return position_; }
  std::size_t depth() const;

  // The expression as one kind, or null if it is another.
  template <typename Kind>
  const Kind* get_if() const;

 private:
  std::shared_ptr<const Node> node_;
  Position position_;
};
bool operator==(const Expression& a, const Expression& b);

enum class LiteralKind { null, boolean, integer, decimal, string, date, timestamp };

// The text is NULL, TRUE or FALSE for the first two; digits as written for numbers (a decimal has a
// point or an exponent); the contents without quotes for strings, dates and timestamps.
struct Literal {
  LiteralKind kind = LiteralKind::null;
  std::string text = "NULL";
  bool operator==(const Literal&) const = default;
};

struct ColumnReference {
  std::optional<Identifier> table = std::nullopt;
  Identifier column;
  bool operator==(const ColumnReference&) const = default;
};

enum class UnaryOperator { plus, minus, logical_not };

struct Unary {
  UnaryOperator operation;
  Expression operand;
  bool operator==(const Unary&) const = default;
};

enum class BinaryOperator {
  logical_or,
  logical_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  concatenate,
  add,
  subtract,
  multiply,
  divide,
  modulo,
};

struct Binary {
  BinaryOperator operation;
  Expression left;
  Expression right;
  bool operator==(const Binary&) const = default;
};

struct IsNull {
  Expression operand;
  bool negated = false;
  bool operator==(const IsNull&) const = default;
};

struct Between {
  Expression operand;
  Expression low;
  Expression high;
  bool negated = false;
  bool operator==(const Between&) const = default;
};

// The list has at least one item.
struct InList {
  Expression operand;
  std::vector<Expression> items;
  bool negated = false;
  bool operator==(const InList&) const = default;
};

// In the pattern % and _ are wildcards and nothing is an escape.
struct Like {
  Expression operand;
  Expression pattern;
  bool negated = false;
  bool operator==(const Like&) const = default;
};

// name => value, or name => (value, value): a tuple has at least two.
struct NamedArgument {
  Identifier name;
  std::vector<Expression> values = {};
  bool operator==(const NamedArgument&) const = default;
};

// The name is in upper case. With star there are no other arguments but named ones: COUNT(*). The
// filter is that of FILTER (WHERE ...). EXTRACT(YEAR FROM x) has the arguments 'YEAR' and x, and
// PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) has x and p.
struct Call {
  std::string name;
  std::vector<Expression> arguments = {};
  bool star = false;
  bool distinct = false;
  std::vector<NamedArgument> named = {};
  std::optional<Expression> filter = std::nullopt;
  bool operator==(const Call&) const = default;
};

enum class ScalarType {
  boolean,
  smallint,
  integer,
  bigint,
  real,
  double_precision,
  decimal,
  varchar,
  date,
  timestamp,
};

// Precision (1 to 38) and scale (0 to precision) belong to decimal and are zero elsewhere. A
// decimal with neither holds any number of digits, and is PostgreSQL's alone.
struct TypeName {
  ScalarType type = ScalarType::varchar;
  int precision = 0;
  int scale = 0;
  bool operator==(const TypeName&) const = default;
};

// With try_, a value that cannot be converted becomes NULL instead of an error.
struct Cast {
  Expression operand;
  TypeName type;
  bool try_ = false;
  bool operator==(const Cast&) const = default;
};

struct CaseBranch {
  Expression when;
  Expression then;
  bool operator==(const CaseBranch&) const = default;
};

// With an operand each `when` is compared with it; without, each `when` is a condition. There is at
// least one branch.
struct Case {
  std::optional<Expression> operand = std::nullopt;
  std::vector<CaseBranch> branches = {};
  std::optional<Expression> otherwise = std::nullopt;
  bool operator==(const Case&) const = default;
};

struct Node {
  using Value = std::variant<Literal, ColumnReference, Unary, Binary, IsNull, Between, InList, Like,
                             Call, Cast, Case>;
  Value value;
  std::size_t depth = 1;
};

// The expressions directly inside this one, in the order of writing.
std::vector<Expression> children(const Expression& expression);

// The same expression, at the same position, with others directly inside it, in the order of
// children(). Throws invalid_argument unless there are as many.
Expression with_children(const Expression& expression, const std::vector<Expression>& inside);

namespace detail {
// Completes a node with its depth. Throws unsupported beyond kMaxTreeDepth.
std::shared_ptr<const Node> make_node(Node::Value value);
}  // namespace detail

template <typename Kind>
requires(!std::is_same_v<Kind, Expression>) Expression::Expression(Kind kind, Position position)
    : node_(detail::make_node(Node::Value(std::move(kind)))), position_(position) {}

template <typename Kind>
const Kind* Expression::get_if() const {
  return std::get_if<Kind>(&node_->value);
}

}  // namespace shoal::sql
