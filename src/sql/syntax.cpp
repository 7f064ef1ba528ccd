#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/syntax.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {
namespace {

struct Children {
  std::vector<Expression> operator()(const Literal&) const { return {}; }
  std::vector<Expression> operator()(const ColumnReference&) const { return {}; }
  std::vector<Expression> operator()(const Unary& unary) const { return {unary.operand}; }
  std::vector<Expression> operator()(const Binary& binary) const {
    return {binary.left, binary.right};
  }
  std::vector<Expression> operator()(const IsNull& is_null) const { return {is_null.operand}; }
  std::vector<Expression> operator()(const Between& between) const {
    return {between.operand, between.low, between.high};
  }
  std::vector<Expression> operator()(const InList& in_list) const {
    std::vector<Expression> all = {in_list.operand};
    all.insert(all.end(), in_list.items.begin(), in_list.items.end());
    return all;
  }
  std::vector<Expression> operator()(const Like& like) const {
    return {like.operand, like.pattern};
  }
  std::vector<Expression> operator()(const Call& call) const {
    std::vector<Expression> all = call.arguments;
    for (const NamedArgument& argument : call.named) {
      all.insert(all.end(), argument.values.begin(), argument.values.end());
    }
    if (call.filter) all.push_back(*call.filter);
    return all;
  }
  std::vector<Expression> operator()(const Cast& cast) const { return {cast.operand}; }
  std::vector<Expression> operator()(const Case& cases) const {
    std::vector<Expression> all;
    if (cases.operand) all.push_back(*cases.operand);
    for (const CaseBranch& branch : cases.branches) {
      all.push_back(branch.when);
      all.push_back(branch.then);
    }
    if (cases.otherwise) all.push_back(*cases.otherwise);
    return all;
  }
};

// Puts other expressions into a copy of a node, in the order of Children.
class Replace {
 public:
  explicit Replace(const std::vector<Expression>& inside) : inside_(inside) {}

  void operator()(const Literal&) {}
  void operator()(const ColumnReference&) {}
  void operator()(Unary& unary) { take(unary.operand); }
  void operator()(Binary& binary) {
    take(binary.left);
    take(binary.right);
  }
  void operator()(IsNull& is_null) { take(is_null.operand); }
  void operator()(Between& between) {
    take(between.operand);
    take(between.low);
    take(between.high);
  }
  void operator()(InList& in_list) {
    take(in_list.operand);
    take(in_list.items);
  }
  void operator()(Like& like) {
    take(like.operand);
    take(like.pattern);
  }
  void operator()(Call& call) {
    take(call.arguments);
    for (NamedArgument& argument : call.named) take(argument.values);
    take(call.filter);
  }
  void operator()(Cast& cast) { take(cast.operand); }
  void operator()(Case& cases) {
    take(cases.operand);
    for (CaseBranch& branch : cases.branches) {
      take(branch.when);
      take(branch.then);
    }
    take(cases.otherwise);
  }

 private:
  void take(Expression& place) { place = inside_.at(next_++); }
  void take(std::optional<Expression>& place) {
    if (place) take(*place);
  }
  void take(std::vector<Expression>& places) {
    for (Expression& place : places) take(place);
  }

  const std::vector<Expression>& inside_;
  std::size_t next_ = 0;
};

}  // namespace

bool operator==(const Identifier& a, const Identifier& b) { return a.name == b.name; }

bool matches(const Identifier& identifier, std::string_view name) {
  return identifier.quoted ? identifier.name == name : equals_ignoring_case(identifier.name, name);
}

std::size_t Expression::depth() const { return node_->depth; }

bool operator==(const Expression& a, const Expression& b) {
  return &a.node() == &b.node() || a.node().value == b.node().value;
}

std::vector<Expression> children(const Expression& expression) {
  return std::visit(Children{}, expression.node().value);
}

Expression with_children(const Expression& expression, const std::vector<Expression>& inside) {
  const std::size_t count = children(expression).size();
  if (inside.size() != count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an expression has {} expressions inside and got {}; give as many",
                            count, inside.size()));
  }
  if (count == 0) return expression;
  Node::Value value = expression.node().value;
  Replace replace(inside);
  std::visit(replace, value);
  return std::visit([&](auto& kind) { return Expression(std::move(kind), expression.position()); },
                    value);
}

namespace detail {

std::shared_ptr<const Node> make_node(Node::Value value) {
  std::size_t depth = 1;
  for (const Expression& child : std::visit(Children{}, value)) {
    depth = std::max(depth, child.depth() + 1);
  }
  if (depth > kMaxTreeDepth) {
    throw Error(ErrorCode::unsupported,
                fmt::format("an expression is nested more than {} deep; write it with fewer levels",
                            kMaxTreeDepth));
  }
  return std::make_shared<const Node>(Node{std::move(value), depth});
}

}  // namespace detail
}  // namespace shoal::sql
