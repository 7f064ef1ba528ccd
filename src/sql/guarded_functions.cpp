// The table of guarded functions that have a fixed form in each dialect.
//
// Why each form raises no error is in guarded_functions.proof.md.
#include "sql/guard.hpp"

#include <shoal/sql/guarded_functions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shoal::sql {
namespace {

using enum ParameterKind;

std::string when(std::string_view condition, std::string_view value) {
  return fmt::format("CASE WHEN {} THEN {} END", condition, value);
}

// A power whose logarithm is beyond 700 either way is out of range, or zero.
std::string power(std::string_view logarithm) {
  return fmt::format(
      "CASE WHEN ABS(a) > {0} OR ABS(b) > {0} THEN NULL WHEN a = 0 THEN CASE WHEN b > 0 THEN "
      "CAST(0 AS DOUBLE) WHEN b = 0 THEN CAST(1 AS DOUBLE) END WHEN a < 0 AND (b <> FLOOR(b) OR "
      "ABS(b) > 9007199254740992) THEN NULL WHEN {1} > 700 THEN NULL WHEN {1} < -700 THEN CAST(0 "
      "AS DOUBLE) ELSE POWER(a, b) END",
      kLargest, logarithm);
}

// Spark's FLOOR and CEIL give whole numbers of 64 bits; beyond 2^53 every double is whole.
std::string whole_on_spark(std::string_view function) {
  return fmt::format(
      "CASE WHEN ABS(a) < 9007199254740992 THEN CAST({}(a) AS DOUBLE) WHEN ABS(a) <= {} THEN a END",
      function, kLargest);
}

std::vector<GuardedFunction> number_templates() {
  const std::string finite = fmt::format("ABS(a) <= {}", kLargest);
  const std::string positive = fmt::format("a > 0 AND a <= {}", kLargest);
  const std::string divides = fmt::format("b <> 0 AND ABS(b) <= {0} AND ABS(a) <= {0}", kLargest);
  const std::string exponential = fmt::format(
      "CASE WHEN a >= -{} AND a < -700 THEN CAST(0 AS DOUBLE) WHEN a >= -700 AND a <= 709 THEN "
      "EXP(a) END",
      kLargest);
  const std::string sign = fmt::format(
      "CAST(CASE WHEN ABS(a) > {} THEN NULL WHEN a > 0 THEN 1 WHEN a < 0 THEN -1 WHEN a = 0 THEN 0 "
      "END AS DOUBLE)",
      kLargest);
  return {
      {"SAFE_LN", {number}, true, when(positive, "LN(a)")},
      {"SAFE_LOG10", {number}, true, when(positive, "LOG10(a)")},
      {"SAFE_EXP", {number}, true, exponential},
      {"SAFE_SQRT", {number}, true, when(fmt::format("a >= 0 AND a <= {}", kLargest), "SQRT(a)")},
      {"SAFE_POWER",
       {number, number},
       true,
       power("b * LN(ABS(a))"),
       power("EXACT(b) * EXACT(LN(ABS(a)))")},
      {"SIGN", {number}, true, sign},
      {"FLOOR", {number}, true, when(finite, "FLOOR(a)"), "", whole_on_spark("FLOOR")},
      {"CEIL", {number}, true, when(finite, "CEIL(a)"), "", whole_on_spark("CEIL")},
      {"ROUND",
       {number},
       true,
       when(finite, "ROUND(a)"),
       when(finite, "CAST(ROUND(EXACT(a)) AS DOUBLE)")},
      {"SAFE_MOD",
       {number, number},
       true,
       when(divides, "a % b"),
       when(divides, "CAST(ROUND(MOD(EXACT(a), EXACT(b)), 300) AS DOUBLE)")},
      {"SAFE_INTEGER_MOD",
       {any, any},
       false,
       "CASE WHEN b NOT IN (0, -1) THEN a % b WHEN b = -1 AND a IS NOT NULL THEN 0 END"},
      {"IF", {any, any, any}, false, "CASE WHEN a THEN b ELSE c END"},
  };
}

// Texts grow at most a hundredfold in REPLACE, and only from so short a one that they stay short.
constexpr const char* kReplace =
    "CASE WHEN LENGTH(a) <= 10000 AND LENGTH(b) <= 100 AND LENGTH(c) <= 100 THEN REPLACE(a, b, c) "
    "END";
constexpr const char* kSubstring =
    "CASE WHEN b BETWEEN 1 AND 1000000000 THEN SUBSTR(a, CAST(b AS INTEGER)) END";
constexpr const char* kSubstringOfLength =
    "CASE WHEN b BETWEEN 1 AND 1000000000 AND c BETWEEN 0 AND 1000000000 THEN SUBSTR(a, CAST(b AS "
    "INTEGER), CAST(c AS INTEGER)) END";

std::vector<GuardedFunction> text_templates() {
  return {
      {"LENGTH", {any}, false, "CAST(LENGTH(a) AS BIGINT)"},
      {"TRIM", {any}, false, "TRIM(a, ' ')", "BTRIM(a, ' ')", "TRIM(a)"},
      {"SUBSTR", {any, any}, false, kSubstring},
      {"SUBSTR", {any, any, any}, false, kSubstringOfLength},
      {"SUBSTRING", {any, any}, false, kSubstring},
      {"SUBSTRING", {any, any, any}, false, kSubstringOfLength},
      {"LEFT",
       {any, any},
       false,
       "CASE WHEN b BETWEEN 0 AND 1000000000 THEN LEFT(a, CAST(b AS INTEGER)) END"},
      {"RIGHT",
       {any, any},
       false,
       "CASE WHEN b BETWEEN 0 AND 1000000000 THEN RIGHT(a, CAST(b AS INTEGER)) END"},
      {"STARTS_WITH", {any, any}, false, "STARTS_WITH(a, b)", "", "STARTSWITH(a, b)"},
      {"ENDS_WITH",
       {any, any},
       false,
       "ENDS_WITH(a, b)",
       "RIGHT(a, LENGTH(b)) = b",
       "ENDSWITH(a, b)"},
      {"CONTAINS", {any, any}, false, "CONTAINS(a, b)", "STRPOS(a, b) > 0"},
      {"REPLACE", {any, any, any}, false, kReplace},
  };
}

const std::vector<GuardedFunction>& table() {
  static const std::vector<GuardedFunction> functions = [] {
    std::vector<GuardedFunction> all = number_templates();
    for (std::vector<GuardedFunction> more : {text_templates(), conversion_templates()}) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }();
  return functions;
}

}  // namespace

const GuardedFunction* find_template(std::string_view name, std::size_t arguments) {
  for (const GuardedFunction& function : table()) {
    if (function.name == name && function.parameters.size() == arguments) return &function;
  }
  return nullptr;
}

bool has_template(std::string_view name) {
  return std::any_of(table().begin(), table().end(),
                     [name](const GuardedFunction& function) { return function.name == name; });
}

std::string_view template_for(const GuardedFunction& function, Dialect dialect) {
  if (dialect == Dialect::postgresql && !function.postgresql.empty()) return function.postgresql;
  if (dialect == Dialect::spark && !function.spark.empty()) return function.spark;
  return function.duckdb;
}

}  // namespace shoal::sql
