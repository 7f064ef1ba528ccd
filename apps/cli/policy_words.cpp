#include "policy_words.hpp"

#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace shoal::cli {
namespace {

constexpr const char* kSqlWords =
    "ALL AND AS ASC AVG BETWEEN BY CASE CAST CEIL COALESCE CONCAT CONTAINS COUNT CROSS CUBE DATE "
    "DATE_DIFF DATE_TRUNC DESC DIFFERENTIAL_PRIVACY DISTINCT ELSE END ENDS_WITH EXPLAIN EXTRACT "
    "FALSE FILTER FLOOR FROM FULL GREATEST GROUP GROUPING HAVING IF IN INNER IS JOIN LEAST LEFT "
    "LENGTH LIKE LIMIT LOWER MAX MEDIAN MIN NOT NULL NULLIF OFFSET ON OPTIONS OR ORDER OUTER "
    "PERCENTILE_CONT PRIVACY REGEXP_MATCHES REPLACE RIGHT ROLLUP ROUND SELECT SETS STARTS_WITH "
    "STDDEV_POP STDDEV_SAMP SUBSTR SUM THEN TIMESTAMP TRIM TRUE TRY_CAST UPPER USING VAR_POP "
    "VAR_SAMP WHEN WHERE WITH confidence delta epsilon group_selection_strategy "
    "max_groups_contributed max_rows_contributed max_rows_per_group min_privacy_units_per_group "
    "noise";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

bool begins_like(std::string_view word, std::string_view start) {
  return word.size() >= start.size() && equals_ignoring_case(word.substr(0, start.size()), start);
}

bool is_plain(const std::string& name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_word_character(c) && (static_cast<unsigned char>(c) & 0x80) == 0;
         });
}

std::string bounds_text(const catalog::Column& column) {
  if (column.bounds) {
    return fmt::format("{} to {}", format_number(column.bounds->lower),
                       format_number(column.bounds->upper));
  }
  std::string text;
  for (const std::string& category : column.categories) {
    if (text.size() > 50) return text + ", ...";
    text += (text.empty() ? "" : ", ") + printable(category, 40);
  }
  return text;
}

std::string notes(const catalog::Table& table, const catalog::Column& column) {
  std::string text;
  const auto add = [&text](bool holds, const char* note) {
    if (holds) text += fmt::format("{}{}", text.empty() ? "" : ", ", note);
  };
  add(column.name == table.person_column, "the person");
  add(!column.queryable, "not queryable");
  add(!column.nulls, "no NULL");
  add(column.unique, "unique");
  return text;
}

std::string whose(const catalog::Policy& policy, const catalog::Table& table) {
  if (table.is_public) return "public";
  if (policy.unit == catalog::PrivacyUnit::row) return "each row protected";
  std::string text = table.person_path
                         ? fmt::format("of a person, through {}", table.person_path->table)
                         : fmt::format("of a person ({})", table.person_column);
  if (table.max_rows_per_person)
    text += fmt::format(", at most {} of each", *table.max_rows_per_person);
  if (table.max_groups_per_person) {
    text += fmt::format(", in at most {} group{}", *table.max_groups_per_person,
                        *table.max_groups_per_person == 1 ? "" : "s");
  }
  if (table.max_rows_per_group)
    text += fmt::format(", at most {} in a group", *table.max_rows_per_group);
  return text;
}

}  // namespace

std::string schema_text(const catalog::Policy& policy) {
  TextTable text({"table", "columns", "rows are"}, {Align::left, Align::right, Align::left});
  for (const catalog::Table& table : policy.tables) {
    text.add({table.name, fmt::format("{}", table.columns.size()), whose(policy, table)});
  }
  return text.text();
}

std::string schema_text(const catalog::Policy& policy, std::string_view name) {
  const catalog::Table* table = policy.find_table(name, false);
  if (!table) {
    std::vector<std::string> names;
    for (const catalog::Table& one : policy.tables) names.push_back(one.name);
    throw Error(ErrorCode::not_found, fmt::format("the policy has no table {}; it has {}",
                                                  printable(name, 60), join_names(names)));
  }
  TextTable text({"column", "type", "values", ""},
                 {Align::left, Align::left, Align::left, Align::left});
  for (const catalog::Column& column : table->columns) {
    text.add({column.name, std::string(to_string(column.type)), bounds_text(column),
              notes(*table, column)});
  }
  return fmt::format("{}\n  rows are {}\n", text.text(), whose(policy, *table));
}

PolicyWords::PolicyWords(const catalog::Policy& policy, std::vector<std::string> commands)
    : commands_(std::move(commands)) {
  std::istringstream sql(kSqlWords);
  for (std::string word; sql >> word;) words_.push_back(word);
  const auto add = [this](const std::string& name) {
    words_.push_back(is_plain(name) ? name : sql::quote_identifier(name, sql::Dialect::shoal));
  };
  for (const catalog::Table& table : policy.tables) {
    tables_.push_back(table.name);
    add(table.name);
    for (const catalog::Column& column : table.columns) {
      if (column.queryable) add(column.name);
    }
  }
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
}

Completions PolicyWords::complete(std::string_view before_cursor) const {
  std::size_t begin = before_cursor.size();
  while (begin > 0 && is_word_character(before_cursor[begin - 1])) --begin;
  const bool command = begin == 1 && before_cursor[0] == '\\';
  const bool quoted = begin > 0 && before_cursor[begin - 1] == '"';
  if (command || quoted) --begin;
  const std::string_view start = before_cursor.substr(begin);
  Completions found{start.size(), {}};
  if (start.empty()) return found;
  const bool table = before_cursor.starts_with("\\schema ");
  for (const std::string& word : command ? commands_ : table ? tables_ : words_) {
    if (begins_like(word, start)) found.words.push_back(word);
  }
  return found;
}

}  // namespace shoal::cli
