// Conversions that give NULL where a value has no counterpart in the other type.
//
// A text converts only in its plain form, which a pattern checks in every engine before the
// engine's own conversion sees it: so all of them take the same texts, and none raises an error.
#include "sql/guard.hpp"

#include <shoal/sql/guarded_functions.hpp>

#include <fmt/format.h>

#include <array>

namespace shoal::sql {
namespace {

using enum ParameterKind;

constexpr std::string_view kWholeNumber = "-?[0-9]{1,19}";
constexpr std::string_view kDecimal = "-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?";
// Days that exist: months of 31 and of 30 days, February, and its 29th in leap years.
constexpr std::string_view kDay =
    "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
    "02-(0[1-9]|1[0-9]|2[0-8]))|"
    "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";
constexpr std::string_view kTime =
    "([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?)?";

std::string when(std::string_view condition, std::string_view value) {
  return fmt::format("CASE WHEN {} THEN {} END", condition, value);
}

GuardedFunction text_to_whole() {
  const auto tried = [](Dialect dialect) {
    return when(matches_whole(dialect, kWholeNumber), "TRY_CAST(a AS BIGINT)");
  };
  return {"SAFE_TEXT_TO_BIGINT",
          {any},
          false,
          tried(Dialect::duckdb),
          when(matches_whole(Dialect::postgresql, kWholeNumber),
               when("EXACT(a) BETWEEN -9223372036854775808 AND 9223372036854775807",
                    "CAST(a AS BIGINT)")),
          tried(Dialect::spark)};
}

// The length is bounded since PostgreSQL's numbers are.
GuardedFunction text_to_number() {
  const auto plain = [](Dialect dialect) {
    return "LENGTH(a) <= 100 AND " + matches_whole(dialect, kDecimal);
  };
  const auto tried = [&](Dialect dialect) {
    return when(plain(dialect), when("ABS(TRY_CAST(a AS DOUBLE)) <= 1.7976931348623157e308",
                                     "TRY_CAST(a AS DOUBLE)"));
  };
  return {"SAFE_TEXT_TO_DOUBLE",
          {any},
          true,
          tried(Dialect::duckdb),
          when(plain(Dialect::postgresql), when(fmt::format("ABS(EXACT(a)) <= {}", kLargest),
                                                "CAST(ROUND(EXACT(a), 300) AS DOUBLE)")),
          tried(Dialect::spark)};
}

// The year 0000 is none to PostgreSQL.
GuardedFunction text_to_dated(std::string name, const std::string& pattern, std::string_view type) {
  const auto form = [&](Dialect dialect, std::string_view cast) {
    return when(matches_whole(dialect, pattern) + " AND a NOT LIKE '0000%'",
                fmt::format("{}(a AS {})", cast, type));
  };
  return {std::move(name),
          {any},
          false,
          form(Dialect::duckdb, "TRY_CAST"),
          form(Dialect::postgresql, "CAST"),
          form(Dialect::spark, "TRY_CAST")};
}

constexpr const char* kTextToBoolean =
    "CASE WHEN LOWER(a) IN ('true', 't', 'yes', 'y', '1') THEN TRUE WHEN LOWER(a) IN ('false', "
    "'f', 'no', 'n', '0') THEN FALSE END";

std::string_view type_word(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
      return "BOOLEAN";
    case ScalarType::smallint:
    case ScalarType::integer:
    case ScalarType::bigint:
      return "BIGINT";
    case ScalarType::real:
    case ScalarType::double_precision:
    case ScalarType::decimal:
      return "DOUBLE";
    case ScalarType::varchar:
      return "TEXT";
    case ScalarType::date:
      return "DATE";
    case ScalarType::timestamp:
      return "TIMESTAMP";
  }
  return "";
}

}  // namespace

std::string matches_whole(Dialect dialect, std::string_view pattern) {
  switch (dialect) {
    case Dialect::postgresql:
      return fmt::format("REGEXP_LIKE(a, '^({})$')", pattern);
    case Dialect::spark:  // where $ would let a line's end follow
      return fmt::format("REGEXP_LIKE(a, '^({})\\z')", pattern);
    case Dialect::duckdb:
    case Dialect::shoal:
      break;
  }
  return fmt::format("REGEXP_FULL_MATCH(a, '{}')", pattern);
}

std::vector<GuardedFunction> conversion_templates() {
  const std::string rounded = when("ABS(a) <= 9.2e18", "CAST(ROUND(a) AS BIGINT)");
  const std::string exactly = when("ABS(a) <= 9.2e18", "CAST(ROUND(EXACT(a)) AS BIGINT)");
  const std::string finite = fmt::format("ABS(a) <= {}", kLargest);
  const std::string day(kDay);
  return {
      text_to_whole(),
      text_to_number(),
      {"SAFE_TEXT_TO_BOOLEAN", {any}, false, kTextToBoolean},
      text_to_dated("SAFE_TEXT_TO_DATE", day, "DATE"),
      text_to_dated("SAFE_TEXT_TO_TIMESTAMP", day + std::string(kTime), "TIMESTAMP"),
      {"SAFE_BIGINT_TO_DOUBLE", {any}, true, "CAST(a AS DOUBLE)"},
      {"SAFE_BIGINT_TO_TEXT", {any}, false, "CAST(a AS VARCHAR)"},
      {"SAFE_BIGINT_TO_BOOLEAN", {any}, false, "a <> 0"},
      {"SAFE_DOUBLE_TO_BIGINT", {number}, false, rounded, exactly},
      {"SAFE_DOUBLE_TO_BOOLEAN", {number}, false, when(finite, "a <> 0")},
      {"SAFE_BOOLEAN_TO_BIGINT",
       {any},
       false,
       "CAST(CASE WHEN a THEN 1 WHEN NOT a THEN 0 END AS BIGINT)"},
      {"SAFE_BOOLEAN_TO_DOUBLE",
       {any},
       true,
       "CAST(CASE WHEN a THEN 1 WHEN NOT a THEN 0 END AS DOUBLE)"},
      {"SAFE_BOOLEAN_TO_TEXT", {any}, false, "CASE WHEN a THEN 'true' WHEN NOT a THEN 'false' END"},
      {"SAFE_DATE_TO_TIMESTAMP", {any}, false, when(kDateRange, "CAST(a AS TIMESTAMP)")},
      {"SAFE_TIMESTAMP_TO_DATE", {any}, false, when(kDateRange, "CAST(a AS DATE)")},
      {"SAFE_DATE_TO_TEXT",
       {any},
       false,
       when(kDateRange, "STRFTIME(a, '%Y-%m-%d')"),
       when(kDateRange, "TO_CHAR(a, 'YYYY-MM-DD')"),
       when(kDateRange, "CAST(a AS VARCHAR)")},
      {"SAFE_TIMESTAMP_TO_TEXT",
       {any},
       false,
       when(kDateRange, "STRFTIME(a, '%Y-%m-%d %H:%M:%S')"),
       when(kDateRange, "TO_CHAR(a, 'YYYY-MM-DD HH24:MI:SS')"),
       when(kDateRange, "SUBSTR(CAST(a AS VARCHAR), 1, 19)")},
  };
}

std::optional<std::string> conversion_function(ScalarType from, ScalarType to) {
  std::string name = fmt::format("SAFE_{}_TO_{}", type_word(from), type_word(to));
  if (!has_template(name)) return std::nullopt;
  return name;
}

}  // namespace shoal::sql
