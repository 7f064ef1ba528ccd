// Whole queries by recursive descent. Private to the sql layer.
//
// Invariants: queries inside queries, and parentheses around joins, nest at most kMaxNesting deep
// each, so the stack is bounded; and so does the finished tree over all, which is what a reader
// relies on. As with expressions the two are counted apart, so that a printed tree always parses
// again.
#pragma once

#include "sql/expression_parser.hpp"
#include "sql/token_stream.hpp"

#include <shoal/sql/query.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace shoal::sql {

class QueryParser {
 public:
  explicit QueryParser(TokenStream& tokens) : tokens_(tokens) {}

  // The whole text: one query and its end.
  Query parse();

 private:
  // From WITH or SELECT to what cannot belong to the query.
  Query parse_body();
  void parse_head(Query& query);
  void parse_end();

  void parse_common_tables(Query& query);
  CommonTable parse_common_table();
  // The query between parentheses, both of which are taken.
  std::shared_ptr<const Query> parse_nested();
  std::vector<Identifier> parse_names(std::string_view expected);

  void parse_select(Query& query);
  PrivacyClause parse_privacy();
  QueryItem parse_item();
  void parse_tail(Query& query);

  // In grouping_parser.cpp.
  GroupBy parse_group_by();
  GroupingElement parse_grouping_element();
  GroupingElement parse_grouping_sets(GroupingKind kind);
  std::vector<Expression> parse_grouping_set(GroupingKind kind);
  std::vector<OrderItem> parse_order_by();
  OrderItem parse_order_item();
  Expression parse_row_count(std::string_view clause);

  // In relation_parser.cpp.
  Relation parse_relation();
  Relation parse_joins();
  std::optional<JoinKind> take_join();
  Relation parse_join(Relation left, JoinKind kind, Position position);
  Relation parse_relation_primary();
  Relation parse_table();
  Relation parse_group();
  void refuse_after_table() const;
  std::optional<Identifier> parse_alias();
  Relation make(RelationNode::Value value, Position position) const;

  Expression parse_expression() { return ExpressionParser(tokens_).parse(); }
  void check_list_size(std::size_t size) const;
  void check_nesting(std::size_t depth, Position position) const;

  TokenStream& tokens_;
  std::size_t queries_ = 0;
  std::size_t groups_ = 0;
};

}  // namespace shoal::sql
