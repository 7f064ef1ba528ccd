// Names and strings in quotes, for each dialect.
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

namespace shoal::sql {
namespace {

void check_characters(std::string_view text, std::string_view what) {
  if (text.find('\0') != std::string_view::npos || !is_utf8(text, false)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a {} holds a NUL byte or is not UTF-8; use plain text", what));
  }
}

std::string doubled(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == quote) quoted.push_back(quote);
    quoted.push_back(c);
  }
  quoted.push_back(quote);
  return quoted;
}

// Spark reads the backslash as an escape, and 'it''s' as two strings in a row.
std::string quote_for_spark(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    // Spark replaces ${name} in a statement by a setting's value, inside of strings too.
    quoted += c == '$' ? std::string("\\u0024") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace

std::string quote_identifier(std::string_view name, Dialect dialect) {
  check_characters(name, "name");
  if (name.empty()) throw Error(ErrorCode::invalid_argument, "a name is empty; give it letters");
  if (dialect != Dialect::spark) return doubled(name, '"');
  // A name has no escape that would keep Spark from replacing ${name}; see quote_for_spark.
  if (name.find("${") != std::string_view::npos) {
    throw Error(ErrorCode::unsupported,
                fmt::format("Spark cannot take the name {}, which holds ${{; rename it",
                            printable(name, 80)));
  }
  return doubled(name, '`');
}

std::string quote_string(std::string_view text, Dialect dialect) {
  check_characters(text, "string");
  return dialect == Dialect::spark ? quote_for_spark(text) : doubled(text, '\'');
}

}  // namespace shoal::sql
