#include "sql/words.hpp"

#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace shoal::sql {
namespace {

// The reserved words of DuckDB 1.4 (duckdb_keywords), the joins and predicates among its other
// keywords, and the words that PostgreSQL and Spark read as a value that is not a column. A
// space stands on each side of every word.
constexpr std::string_view kReserved =
    " ALL ANALYSE ANALYZE AND ANTI ANY ARRAY AS ASC ASOF ASYMMETRIC BETWEEN BOTH BY CASE CAST"
    " CHECK COLLATE COLUMN COLUMNS CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_ROLE"
    " CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEFAULT DEFERRABLE DESC DESCRIBE DISTINCT DO"
    " ELSE END EXCEPT EXISTS FALSE FETCH FOR FOREIGN FROM FULL GLOB GROUP HAVING ILIKE IN"
    " INITIALLY INNER INTERSECT INTERVAL INTO IS ISNULL JOIN LAMBDA LATERAL LEADING LEFT LIKE"
    " LIMIT LOCALTIME LOCALTIMESTAMP NATURAL NOT NOTNULL NULL OFFSET ON ONLY OR ORDER OUTER"
    " OVER OVERLAPS PIVOT PIVOT_LONGER PIVOT_WIDER PLACING POSITIONAL PRIMARY QUALIFY"
    " REFERENCES RETURNING RIGHT SELECT SEMI SESSION_USER SHOW SIMILAR SOME SUMMARIZE"
    " SYMMETRIC TABLE TABLESAMPLE THEN TO TRAILING TRUE TRY_CAST UNION UNIQUE UNPIVOT USER"
    " USING VALUES VARIADIC WHEN WHERE WINDOW WITH ";

// Not reserved, but a call of this name is read by a special rule in DuckDB, in PostgreSQL or here.
constexpr std::string_view kSpecialForms =
    " AT AUTHORIZATION BIGINT BINARY BIT BOOLEAN CHAR CHARACTER COLLATION CONCURRENTLY CUBE"
    " DEC DECIMAL EXTRACT FLOAT FREEZE GENERATED GROUPING_ID INOUT INT INTEGER MAP NATIONAL"
    " NCHAR NONE NUMERIC OPTIONS OUT OVERLAY POSITION PRECISION REAL ROLLUP ROW SAFE_CAST"
    " SETOF SMALLINT"
    " STRUCT TIME TIMESTAMP TREAT UNPACK VARCHAR VERBOSE XMLATTRIBUTES XMLCONCAT XMLELEMENT"
    " XMLEXISTS XMLFOREST XMLNAMESPACES XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLTABLE ";

constexpr auto kTypes = std::to_array<std::pair<std::string_view, ScalarType>>({
    {"BOOLEAN", ScalarType::boolean},
    {"BOOL", ScalarType::boolean},
    {"SMALLINT", ScalarType::smallint},
    {"INT2", ScalarType::smallint},
    {"INTEGER", ScalarType::integer},
    {"INT", ScalarType::integer},
    {"INT4", ScalarType::integer},
    {"BIGINT", ScalarType::bigint},
    {"INT8", ScalarType::bigint},
    {"REAL", ScalarType::real},
    {"FLOAT4", ScalarType::real},
    {"DOUBLE", ScalarType::double_precision},
    {"FLOAT8", ScalarType::double_precision},
    {"DECIMAL", ScalarType::decimal},
    {"NUMERIC", ScalarType::decimal},
    {"VARCHAR", ScalarType::varchar},
    {"TEXT", ScalarType::varchar},
    {"STRING", ScalarType::varchar},
    {"DATE", ScalarType::date},
    {"TIMESTAMP", ScalarType::timestamp},
});

bool lists(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a fixed number of digits off the front; -1 if they are not there.
int take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (!is_digit(c)) return -1;
    value = 10 * value + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

std::size_t take_all_digits(std::string_view& text) {
  std::size_t count = 0;
  while (!text.empty() && is_digit(text.front())) {
    text.remove_prefix(1);
    ++count;
  }
  return count;
}

int days_in_month(int year, int month) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays.at(static_cast<std::size_t>(month - 1));
}

bool take_date(std::string_view& text) {
  const int year = take_digits(text, 4);
  if (year < 1 || !take(text, '-')) return false;
  const int month = take_digits(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return false;
  const int day = take_digits(text, 2);
  return day >= 1 && day <= days_in_month(year, month);
}

bool take_time(std::string_view& text) {
  const int hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return false;
  const int minute = take_digits(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ':')) return false;
  const int second = take_digits(text, 2);
  if (second < 0 || second > 59) return false;
  if (!take(text, '.')) return true;
  const std::size_t decimals = take_all_digits(text);
  return decimals >= 1 && decimals <= 6;
}

}  // namespace

bool is_reserved(std::string_view upper) { return lists(kReserved, upper); }

bool is_function_name(std::string_view upper) {
  if (upper == "LEFT" || upper == "RIGHT")
    return true;  // joins elsewhere, functions before a parenthesis
  const bool plain = !upper.empty() && !is_digit(upper.front()) &&
                     std::all_of(upper.begin(), upper.end(), [](char c) {
                       return (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
                     });
  return plain && !is_reserved(upper) && !lists(kSpecialForms, upper);
}

bool is_date_field(std::string_view upper) {
  return lists(" YEAR QUARTER MONTH DAY DOW DOY HOUR MINUTE SECOND ", upper);
}

std::optional<ScalarType> scalar_type(std::string_view upper) {
  for (const auto& [name, type] : kTypes) {
    if (name == upper) return type;
  }
  return std::nullopt;
}

bool is_date(std::string_view text) { return take_date(text) && text.empty(); }

bool is_timestamp(std::string_view text) {
  if (!take_date(text)) return false;
  if (text.empty()) return true;
  return (take(text, ' ') || take(text, 'T')) && take_time(text) && text.empty();
}

bool is_integer_text(std::string_view text) { return take_all_digits(text) > 0 && text.empty(); }

bool is_decimal_text(std::string_view text) {
  const std::size_t whole = take_all_digits(text);
  const bool point = take(text, '.');
  if (point ? take_all_digits(text) == 0 : whole == 0) return false;
  const bool exponent = take(text, 'e') || take(text, 'E');
  if (!exponent) return point && text.empty();
  if (!take(text, '+')) take(text, '-');
  return take_all_digits(text) > 0 && text.empty();
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace shoal::sql
