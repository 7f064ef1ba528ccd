#include "sql/query_parser.hpp"

#include "sql/refusals.hpp"

#include <shoal/sql/parser.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace shoal::sql {
namespace {

constexpr std::string_view kExample = "write for example SELECT COUNT(*) FROM people";

}  // namespace

Query QueryParser::parse() {
  if (tokens_.at_symbol("(")) {
    tokens_.refuse(tokens_.peek().position,
                   "a SELECT in parentheses is not supported; write it without them");
  }
  const bool explain = tokens_.at_word("EXPLAIN");
  if (explain) {
    tokens_.take();
    if (!tokens_.take_word("PRIVACY")) {
      tokens_.refuse(tokens_.peek().position,
                     "EXPLAIN alone is not supported; write EXPLAIN PRIVACY SELECT ...");
    }
  }
  Query query = parse_body();
  query.explain = explain;
  parse_end();
  return query;
}

Query QueryParser::parse_body() {
  const Position position = tokens_.peek().position;
  Query query;
  parse_common_tables(query);
  parse_select(query);
  parse_tail(query);
  tokens_.refuse_if(clause_refusal(keyword(tokens_.peek())));
  check_nesting(depth(query), position);
  return query;
}

void QueryParser::parse_end() {
  while (tokens_.take_symbol(";")) {
    if (tokens_.peek().kind == TokenKind::end || tokens_.at_symbol(";")) continue;
    tokens_.refuse(tokens_.peek().position,
                   "more than one statement is not supported; send each as a query of its own");
  }
  if (tokens_.peek().kind != TokenKind::end) {
    tokens_.fail("a clause such as WHERE, an operator or the end of the query");
  }
}

void QueryParser::parse_common_tables(Query& query) {
  if (!tokens_.take_word("WITH")) return;
  if (tokens_.at_word("RECURSIVE")) {
    tokens_.refuse(tokens_.peek().position,
                   "recursion is not supported; write each step as a query of its own in WITH");
  }
  do {
    query.with.push_back(parse_common_table());
    check_list_size(query.with.size());
  } while (tokens_.take_symbol(","));
}

CommonTable QueryParser::parse_common_table() {
  CommonTable table{tokens_.take_name("a name"), {}, nullptr};
  if (tokens_.take_symbol("(")) table.columns = parse_names("a column");
  tokens_.expect_word("AS");
  if (tokens_.at_word("MATERIALIZED") || tokens_.at_word("NOT")) {
    tokens_.refuse(tokens_.peek().position, "MATERIALIZED is not supported; leave it out");
  }
  if (!tokens_.at_symbol("(")) tokens_.fail("(", "write WITH name AS (SELECT ...) SELECT ...");
  table.query = parse_nested();
  return table;
}

std::shared_ptr<const Query> QueryParser::parse_nested() {
  const Position position = tokens_.peek().position;
  tokens_.expect_symbol("(");
  check_nesting(++queries_, position);
  auto query = std::make_shared<const Query>(parse_body());
  --queries_;
  if (!tokens_.take_symbol(")")) tokens_.fail("a clause such as WHERE, an operator or )");
  return query;
}

std::vector<Identifier> QueryParser::parse_names(std::string_view expected) {
  std::vector<Identifier> names;
  do {
    names.push_back(tokens_.take_name(expected));
    check_list_size(names.size());
  } while (tokens_.take_symbol(","));
  if (!tokens_.take_symbol(")")) tokens_.fail(", or )");
  return names;
}

void QueryParser::parse_select(Query& query) {
  tokens_.refuse_if(statement_refusal(keyword(tokens_.peek())));
  if (!tokens_.take_word("SELECT")) tokens_.fail("SELECT", kExample);
  if (tokens_.at_word("WITH")) query.privacy = parse_privacy();
  query.distinct = tokens_.take_word("DISTINCT");
  if (!query.distinct) tokens_.take_word("ALL");
  if (query.distinct && tokens_.at_word("ON")) {
    tokens_.refuse(tokens_.peek().position,
                   "DISTINCT ON is not supported; write SELECT DISTINCT, or GROUP BY");
  }
  do {
    query.items.push_back(parse_item());
    check_list_size(query.items.size());
  } while (tokens_.take_symbol(","));
  if (tokens_.take_word("FROM")) {
    query.from = parse_relation();
  } else {
    tokens_.refuse_if(clause_refusal(keyword(tokens_.peek())));
  }
}

PrivacyClause QueryParser::parse_privacy() {
  tokens_.expect_word("WITH");
  if (!tokens_.take_word("DIFFERENTIAL_PRIVACY")) {
    tokens_.fail("DIFFERENTIAL_PRIVACY", "write SELECT WITH DIFFERENTIAL_PRIVACY ...");
  }
  PrivacyClause clause;
  if (!tokens_.at_word("OPTIONS") || !tokens_.at_symbol("(", 1)) return clause;
  tokens_.take();
  tokens_.take();
  if (tokens_.take_symbol(")")) return clause;
  do {
    Identifier name = tokens_.take_name("the name of an option");
    if (!tokens_.take_symbol("=")) tokens_.fail("=", "write for example OPTIONS(epsilon = 1)");
    clause.options.push_back(
        {std::move(name), ExpressionParser(tokens_).parse_from(Precedence::concatenate)});
    check_list_size(clause.options.size());
  } while (tokens_.take_symbol(","));
  if (!tokens_.take_symbol(")")) tokens_.fail(", or )");
  return clause;
}

QueryItem QueryParser::parse_item() {
  QueryItem item;
  item.position = tokens_.peek().position;
  const bool star = tokens_.take_symbol("*");
  if (!star && tokens_.at_name() && tokens_.at_symbol(".", 1) && tokens_.at_symbol("*", 2)) {
    item.star_table = tokens_.take_name("a table");
    tokens_.take();
    tokens_.take();
  }
  if (star || item.star_table) {
    tokens_.refuse_if(star_refusal(keyword(tokens_.peek())));
    return item;
  }
  item.expression = parse_expression();
  item.alias = parse_alias();
  return item;
}

std::optional<Identifier> QueryParser::parse_alias() {
  if (tokens_.take_word("AS") || tokens_.at_name()) return tokens_.take_name("a name");
  return std::nullopt;
}

void QueryParser::parse_tail(Query& query) {
  if (tokens_.take_word("WHERE")) query.where = parse_expression();
  if (tokens_.take_word("GROUP")) query.group_by = parse_group_by();
  if (tokens_.take_word("HAVING")) query.having = parse_expression();
  if (tokens_.take_word("ORDER")) query.order_by = parse_order_by();
  for (;;) {
    if (!query.limit && tokens_.take_word("LIMIT")) {
      query.limit = parse_row_count("LIMIT");
    } else if (!query.offset && tokens_.take_word("OFFSET")) {
      query.offset = parse_row_count("OFFSET");
    } else {
      return;
    }
  }
}

void QueryParser::check_list_size(std::size_t size) const {
  if (size > kMaxListItems) {
    tokens_.fail_at(tokens_.peek().position,
                    fmt::format("a list has more than {} items; send several queries, each with "
                                "fewer of them",
                                kMaxListItems));
  }
}

void QueryParser::check_nesting(std::size_t depth, Position position) const {
  if (depth > kMaxNesting) {
    tokens_.fail_at(position, fmt::format("the query is nested more than {} deep; write it with "
                                          "fewer joins, operators and queries inside of queries",
                                          kMaxNesting));
  }
}

}  // namespace shoal::sql
