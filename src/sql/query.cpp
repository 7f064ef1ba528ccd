#include <shoal/base/error.hpp>
#include <shoal/sql/query.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::sql {
namespace {

bool equal_queries(const std::shared_ptr<const Query>& a, const std::shared_ptr<const Query>& b) {
  return a == b || *a == *b;
}

// The deepest of the parts of a query or a relation.
class Deepest {
 public:
  void look(std::size_t depth) { depth_ = std::max(depth_, depth); }
  void look(const Expression& expression) { look(expression.depth()); }
  void look(const Relation& relation) { look(relation.depth()); }
  void look(const QueryOption& option) { look(option.value); }
  void look(const QueryItem& item) { look(item.expression); }
  void look(const OrderItem& item) { look(item.expression); }
  void look(const CommonTable& table) { look(sql::depth(*table.query)); }
  void look(const PrivacyClause& clause) { look(clause.options); }
  void look(const GroupingElement& element) { look(element.sets); }
  void look(const GroupBy& group_by) { look(group_by.elements); }
  template <typename Part>
  void look(const std::optional<Part>& part) {
    if (part) look(*part);
  }
  template <typename Part>
  void look(const std::vector<Part>& parts) {
    for (const Part& part : parts) look(part);
  }
  std::size_t depth() const { return depth_; }

 private:
  std::size_t depth_ = 0;
};

struct RelationDepth {
  std::size_t operator()(const TableReference&) const { return 1; }
  std::size_t operator()(const DerivedTable& table) const { return sql::depth(*table.query) + 1; }
  std::size_t operator()(const Join& join) const {
    Deepest deepest;
    deepest.look(join.left);
    deepest.look(join.right);
    deepest.look(join.on);
    return deepest.depth() + 1;
  }
};

void require_query(const RelationNode::Value& value) {
  const DerivedTable* table = std::get_if<DerivedTable>(&value);
  if (table != nullptr && table->query == nullptr) {
    throw Error(ErrorCode::invalid_argument, "a derived table has no query; give it one");
  }
}

}  // namespace

std::size_t Relation::depth() const { return node_->depth; }

bool operator==(const Relation& a, const Relation& b) {
  return &a.node() == &b.node() || a.node().value == b.node().value;
}

bool operator==(const DerivedTable& a, const DerivedTable& b) {
  return a.alias == b.alias && equal_queries(a.query, b.query);
}

bool operator==(const QueryItem& a, const QueryItem& b) {
  return a.expression == b.expression && a.star_table == b.star_table && a.alias == b.alias;
}

bool operator==(const CommonTable& a, const CommonTable& b) {
  return a.name == b.name && a.columns == b.columns && equal_queries(a.query, b.query);
}

std::size_t depth(const Query& query) {
  Deepest deepest;
  deepest.look(query.with);
  deepest.look(query.privacy);
  deepest.look(query.items);
  deepest.look(query.from);
  deepest.look(query.where);
  deepest.look(query.group_by);
  deepest.look(query.having);
  deepest.look(query.order_by);
  deepest.look(query.limit);
  deepest.look(query.offset);
  return deepest.depth() + 1;
}

namespace detail {

std::shared_ptr<const RelationNode> make_relation(RelationNode::Value value) {
  require_query(value);
  const std::size_t depth = std::visit(RelationDepth{}, value);
  if (depth > kMaxTreeDepth) {
    throw Error(ErrorCode::unsupported,
                fmt::format("a query is nested more than {} deep; write it with fewer levels",
                            kMaxTreeDepth));
  }
  return std::make_shared<const RelationNode>(RelationNode{std::move(value), depth});
}

}  // namespace detail
}  // namespace shoal::sql
