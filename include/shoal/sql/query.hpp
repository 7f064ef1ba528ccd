// A whole query as a tree: what it reads, how rows are grouped, what it asks of each group.
//
// The same invariants as syntax.hpp: immutable values with positions, cheap to copy, at most
// kMaxTreeDepth deep over all, equal whatever their positions. The tree says only how a query is
// written.
#pragma once

#include <shoal/sql/syntax.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace shoal::sql {

struct Query;
struct RelationNode;

// What stands in FROM. Its position is its first token, or the word JOIN.
class Relation {
 public:
  // From one of the kinds of RelationNode below. Throws unsupported beyond kMaxTreeDepth.
  template <typename Kind>
  requires(!std::is_same_v<Kind, Relation>) explicit Relation(Kind kind, Position position = {});

  const RelationNode& node() const { return *node_; }
  Position position() const { return position_; }
  std::size_t depth() const;

  // The relation as one kind, or null if it is another.
  template <typename Kind>
  const Kind* get_if() const;

 private:
  std::shared_ptr<const RelationNode> node_;
  Position position_;
};
bool operator==(const Relation& a, const Relation& b);

struct TableReference {
  Identifier name;
  std::optional<Identifier> alias = std::nullopt;
  bool operator==(const TableReference&) const = default;
};

// A query in parentheses. The pointer is never null; equality looks at the query.
struct DerivedTable {
  std::shared_ptr<const Query> query;
  std::optional<Identifier> alias = std::nullopt;
};
bool operator==(const DerivedTable& a, const DerivedTable& b);

enum class JoinKind { inner, left, right, full, cross };

// ON, or USING with at least one column, or neither for a cross join.
struct Join {
  JoinKind kind = JoinKind::inner;
  Relation left;
  Relation right;
  std::optional<Expression> on = std::nullopt;
  std::vector<Identifier> using_columns = {};
  bool operator==(const Join&) const = default;
};

struct RelationNode {
  using Value = std::variant<TableReference, DerivedTable, Join>;
  Value value;
  std::size_t depth = 1;
};

// name = value, in OPTIONS(...). A word such as LAPLACE_THRESHOLD is a column reference.
struct QueryOption {
  Identifier name;
  Expression value;
  bool operator==(const QueryOption&) const = default;
};

// SELECT WITH DIFFERENTIAL_PRIVACY [OPTIONS(...)].
struct PrivacyClause {
  std::vector<QueryOption> options = {};
  bool operator==(const PrivacyClause&) const = default;
};

// An expression, or without one a star, of one relation if it is named: t.*
struct QueryItem {
  std::optional<Expression> expression = std::nullopt;
  std::optional<Identifier> star_table = std::nullopt;
  std::optional<Identifier> alias = std::nullopt;
  Position position = {};
};
bool operator==(const QueryItem& a, const QueryItem& b);

enum class GroupingKind { expression, sets, rollup, cube };

// One element of GROUP BY. An expression has one set of one; ROLLUP(a, (b, c)) and CUBE have one
// set an item; GROUPING SETS has one set each, which may be empty.
struct GroupingElement {
  GroupingKind kind = GroupingKind::expression;
  std::vector<std::vector<Expression>> sets = {};
  bool operator==(const GroupingElement&) const = default;
};

// GROUP BY ALL has no elements.
struct GroupBy {
  bool all = false;
  std::vector<GroupingElement> elements = {};
  bool operator==(const GroupBy&) const = default;
};

enum class NullsOrder { unsaid, first, last };

struct OrderItem {
  Expression expression;
  bool descending = false;
  NullsOrder nulls = NullsOrder::unsaid;
  bool operator==(const OrderItem&) const = default;
};

// WITH name [(columns)] AS (query). The pointer is never null.
struct CommonTable {
  Identifier name;
  std::vector<Identifier> columns = {};
  std::shared_ptr<const Query> query;
};
bool operator==(const CommonTable& a, const CommonTable& b);

// There is at least one item. `explain` (EXPLAIN PRIVACY) stands only at the outermost query.
struct Query {
  bool explain = false;
  std::vector<CommonTable> with = {};
  std::optional<PrivacyClause> privacy = std::nullopt;
  bool distinct = false;
  std::vector<QueryItem> items = {};
  std::optional<Relation> from = std::nullopt;
  std::optional<Expression> where = std::nullopt;
  std::optional<GroupBy> group_by = std::nullopt;
  std::optional<Expression> having = std::nullopt;
  std::vector<OrderItem> order_by = {};
  std::optional<Expression> limit = std::nullopt;
  std::optional<Expression> offset = std::nullopt;
  bool operator==(const Query&) const = default;
};

// One more than the deepest of its parts.
std::size_t depth(const Query& query);

namespace detail {
// Completes a node with its depth. Throws unsupported beyond kMaxTreeDepth.
std::shared_ptr<const RelationNode> make_relation(RelationNode::Value value);
}  // namespace detail

template <typename Kind>
requires(!std::is_same_v<Kind, Relation>) Relation::Relation(Kind kind, Position position)
    : node_(detail::make_relation(RelationNode::Value(std::move(kind)))), position_(position) {}

template <typename Kind>
const Kind* Relation::get_if() const {
  return std::get_if<Kind>(&node_->value);
}

}  // namespace shoal::sql
