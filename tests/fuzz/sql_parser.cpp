// Any bytes into the SQL parser. What it takes must print, parse back to the equal tree, and, but
// for the privacy words, be taken by DuckDB; and where DuckDB takes the bytes as they stand, it
// must read from them what it reads from the print, so that both parsers agree on what a query
// means.
//
// DuckDB differs legitimately, and is not asked, where it checks more than syntax: the number of
// arguments of functions that its grammar knows, and numbers that it cannot hold (its JSON then
// says Infinity).
#include "../unit/sql/duckdb_oracle.hpp"

#include <shoal/base/error.hpp>
#include <shoal/sql/parser.hpp>
#include <shoal/sql/printer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace shoal::sql;

[[noreturn]] void fail(const char* what, const std::string& text, const std::string& detail) {
  std::fprintf(stderr, "%s\n%s\n%s\n", what, text.c_str(), detail.c_str());
  std::abort();
}

// DuckDB's grammar fixes how many arguments these take and of what form; to us they are functions
// like others.
bool calls_grammar_function(const Expression& expression) {
  static const std::set<std::string> kNames = {"COALESCE", "NULLIF", "SUBSTRING", "TRIM"};
  const Call* call = expression.get_if<Call>();
  if (call != nullptr && kNames.contains(call->name)) return true;
  const std::vector<Expression> inner = children(expression);
  return std::any_of(inner.begin(), inner.end(),
                     [](const Expression& child) { return calls_grammar_function(child); });
}

// DuckDB, like PostgreSQL, takes a sign right behind % or || or != for a part of the operator.
bool glues_signs(std::string_view text) {
  constexpr std::string_view kGlued[] = {"%-", "%+", "|-", "|+", "!=-", "!=+"};
  return std::any_of(std::begin(kGlued), std::end(kGlued), [text](std::string_view glued) {
    return text.find(glued) != std::string_view::npos;
  });
}

// What DuckDB does not read as we do, or refuses for what is no syntax. The privacy words mean
// something to Shoal alone.
bool is_ours_alone(const Query& query);

bool is_ours_alone(const Relation& relation) {
  if (const Join* join = relation.get_if<Join>()) {
    return is_ours_alone(join->left) || is_ours_alone(join->right) ||
           (join->on && calls_grammar_function(*join->on));
  }
  const DerivedTable* table = relation.get_if<DerivedTable>();
  return table != nullptr && is_ours_alone(*table->query);
}

bool is_ours_alone(const Query& query) {
  if (query.explain || query.privacy) return true;
  std::vector<Expression> inside;
  for (const QueryItem& item : query.items) {
    if (item.expression) inside.push_back(*item.expression);
  }
  for (const OrderItem& item : query.order_by) inside.push_back(item.expression);
  if (query.where) inside.push_back(*query.where);
  if (query.having) inside.push_back(*query.having);
  if (query.group_by) {
    for (const GroupingElement& element : query.group_by->elements) {
      for (const std::vector<Expression>& set : element.sets) {
        inside.insert(inside.end(), set.begin(), set.end());
      }
    }
  }
  return std::any_of(inside.begin(), inside.end(),
                     [](const Expression& e) { return calls_grammar_function(e); }) ||
         std::any_of(query.with.begin(), query.with.end(),
                     [](const CommonTable& table) { return is_ours_alone(*table.query); }) ||
         (query.from && is_ours_alone(*query.from));
}

void check_with_duckdb(const std::string& text, const std::string& printed, const Query& query) {
  static testing::DuckdbOracle oracle;
  std::string reason;
  const nlohmann::json tree = oracle.parse(printed, reason);
  if (tree.is_null()) {
    if (is_ours_alone(query)) return;
    constexpr std::string_view kNoSyntax[] = {"umber of arguments", "Duplicate CTE name"};
    for (const std::string_view known : kNoSyntax) {
      if (reason.find(known) != std::string::npos) return;
    }
    fail("DuckDB refuses the print", printed, reason);
  }
  if (glues_signs(text)) return;
  std::string ignored;
  const nlohmann::json written = oracle.parse(text, ignored);
  if (!written.is_null() && written != tree) {
    fail("DuckDB reads text and print differently", text + "\n" + printed,
         written.dump() + "\n" + tree.dump());
  }
}

// Engines print everything but what they do not have; and guarded functions with wrong arguments,
// of which the parser knows nothing.
void print_elsewhere(const Query& query) {
  for (const Dialect dialect : {Dialect::duckdb, Dialect::postgresql, Dialect::spark}) {
    try {
      print(query, dialect);
    } catch (const shoal::Error& error) {
      if (error.code() != shoal::ErrorCode::unsupported &&
          error.code() != shoal::ErrorCode::invalid_argument) {
        fail("an error of another kind", "", error.what());
      }
    }
  }
}

}  // namespace

// DuckDB keeps its memory where the leak checker does not look for pointers.
extern "C" const char* __lsan_default_suppressions() { return "leak:libduckdb\n"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::optional<Query> query;
  try {
    query = parse_query(text);
  } catch (const shoal::Error& error) {
    const bool expected = error.code() == shoal::ErrorCode::parse_error ||
                          error.code() == shoal::ErrorCode::unsupported;
    if (!expected || std::string_view(error.what()).substr(0, 5) != "line ") {
      fail("an error of another kind", text, error.what());
    }
    return 0;
  }
  print_elsewhere(*query);
  const std::string printed = print(*query, Dialect::shoal);
  // Quotes and parentheses may carry a text at the limit over it.
  if (printed.size() > kMaxQueryBytes) return 0;
  if (!(parse_query(printed) == *query)) fail("another tree", text, printed);
  try {
    check_with_duckdb(text, printed, *query);
  } catch (const nlohmann::json::parse_error&) {
    return 0;
  }
  return 0;
}
