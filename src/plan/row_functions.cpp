#include "plan/row_functions.hpp"

#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shoal::plan {
namespace {

using Op = Operation;
using Shape = FunctionShape;

constexpr auto kFunctions = std::to_array<ScalarFunction>({
    {"ABS", Op::absolute, Shape::numbers, 1, 1, "ABS(x)"},
    {"SIGN", Op::sign, Shape::numbers, 1, 1, "SIGN(x)"},
    {"FLOOR", Op::floor, Shape::numbers, 1, 1, "FLOOR(x / 10)"},
    {"CEIL", Op::ceiling, Shape::numbers, 1, 1, "CEIL(x)"},
    {"CEILING", Op::ceiling, Shape::numbers, 1, 1, "CEIL(x)"},
    {"TRUNC", Op::truncate, Shape::numbers, 1, 1, "TRUNC(x)"},
    {"ROUND", Op::round, Shape::round, 1, 2, "ROUND(x, 2)"},
    {"MOD", Op::modulo, Shape::numbers, 2, 2, "MOD(x, 10)"},
    {"LN", Op::natural_log, Shape::numbers, 1, 1, "LN(x)"},
    {"LOG", Op::log_10, Shape::numbers, 1, 1, "LOG(x) for base 10, or LN(x) / LN(b) for base b"},
    {"LOG10", Op::log_10, Shape::numbers, 1, 1, "LOG10(x)"},
    {"LOG2", Op::log_2, Shape::numbers, 1, 1, "LOG2(x)"},
    {"EXP", Op::exponential, Shape::numbers, 1, 1, "EXP(x)"},
    {"SQRT", Op::square_root, Shape::numbers, 1, 1, "SQRT(x)"},
    {"POWER", Op::power, Shape::numbers, 2, 2, "POWER(x, 2)"},
    {"POW", Op::power, Shape::numbers, 2, 2, "POWER(x, 2)"},
    {"SAFE_ADD", Op::add, Shape::numbers, 2, 2, "x + y"},
    {"SAFE_SUBTRACT", Op::subtract, Shape::numbers, 2, 2, "x - y"},
    {"SAFE_MULTIPLY", Op::multiply, Shape::numbers, 2, 2, "x * y"},
    {"SAFE_DIVIDE", Op::divide, Shape::numbers, 2, 2, "x / y"},
    {"SAFE_NEGATE", Op::negate, Shape::numbers, 1, 1, "-x"},
    {"SAFE_MOD", Op::modulo, Shape::numbers, 2, 2, "MOD(x, 10)"},
    {"SAFE_INTEGER_MOD", Op::modulo, Shape::numbers, 2, 2, "MOD(x, 10)"},
    {"SAFE_LN", Op::natural_log, Shape::numbers, 1, 1, "LN(x)"},
    {"SAFE_LOG10", Op::log_10, Shape::numbers, 1, 1, "LOG10(x)"},
    {"SAFE_EXP", Op::exponential, Shape::numbers, 1, 1, "EXP(x)"},
    {"SAFE_SQRT", Op::square_root, Shape::numbers, 1, 1, "SQRT(x)"},
    {"SAFE_POWER", Op::power, Shape::numbers, 2, 2, "POWER(x, 2)"},
    {"GREATEST", Op::greatest, Shape::same, 1, kMaxArguments, "GREATEST(0, x)"},
    {"LEAST", Op::least, Shape::same, 1, kMaxArguments, "LEAST(x, 100)"},
    {"COALESCE", Op::coalesce, Shape::same, 1, kMaxArguments, "COALESCE(x, 0)"},
    {"IFNULL", Op::coalesce, Shape::same, 2, 2, "IFNULL(x, 0)"},
    {"NVL", Op::coalesce, Shape::same, 2, 2, "COALESCE(x, 0)"},
    {"NULLIF", Op::null_if, Shape::same, 2, 2, "NULLIF(x, 0)"},
    {"IF", Op::choose, Shape::choice, 3, 3, "IF(age >= 18, 1, 0)"},
    {"LOWER", Op::lower, Shape::texts, 1, 1, "LOWER(city)"},
    {"LCASE", Op::lower, Shape::texts, 1, 1, "LOWER(city)"},
    {"UPPER", Op::upper, Shape::texts, 1, 1, "UPPER(city)"},
    {"UCASE", Op::upper, Shape::texts, 1, 1, "UPPER(city)"},
    {"TRIM", Op::trim, Shape::texts, 1, 1, "TRIM(city)"},
    {"LTRIM", Op::trim_left, Shape::texts, 1, 1, "LTRIM(city)"},
    {"RTRIM", Op::trim_right, Shape::texts, 1, 1, "RTRIM(city)"},
    {"LENGTH", Op::length, Shape::texts, 1, 1, "LENGTH(city)"},
    {"CHAR_LENGTH", Op::length, Shape::texts, 1, 1, "LENGTH(city)"},
    {"CHARACTER_LENGTH", Op::length, Shape::texts, 1, 1, "LENGTH(city)"},
    {"SUBSTR", Op::substring, Shape::substring, 2, 3, "SUBSTR(city, 1, 3)"},
    {"SUBSTRING", Op::substring, Shape::substring, 2, 3, "SUBSTRING(city, 1, 3)"},
    {"LEFT", Op::substring, Shape::left, 2, 2, "LEFT(city, 3)"},
    {"RIGHT", Op::right, Shape::right, 2, 2, "RIGHT(city, 3)"},
    {"STARTS_WITH", Op::starts_with, Shape::texts, 2, 2, "STARTS_WITH(city, 'San')"},
    {"ENDS_WITH", Op::ends_with, Shape::texts, 2, 2, "ENDS_WITH(city, 'ton')"},
    {"CONTAINS", Op::contains, Shape::texts, 2, 2, "CONTAINS(city, 'York')"},
    {"REPLACE", Op::replace, Shape::replace, 3, 3, "REPLACE(phone, '-', '')"},
    {"CONCAT", Op::concatenate, Shape::concatenate, 1, kMaxArguments,
     "CONCAT(city, ', ', country)"},
    {"REGEXP_MATCHES", Op::matches, Shape::matches, 2, 2, "REGEXP_MATCHES(code, '^[A-Z]+')"},
    {"REGEXP_CONTAINS", Op::matches, Shape::matches, 2, 2, "REGEXP_CONTAINS(code, '^[A-Z]+')"},
    {"EXTRACT", Op::extract, Shape::extract, 2, 2, "EXTRACT(month FROM birth)"},
    {"DATE_PART", Op::extract, Shape::extract, 2, 2, "DATE_PART('month', birth)"},
    {"YEAR", Op::extract, Shape::extract, 1, 1, "YEAR(birth)"},
    {"QUARTER", Op::extract, Shape::extract, 1, 1, "QUARTER(birth)"},
    {"MONTH", Op::extract, Shape::extract, 1, 1, "MONTH(birth)"},
    {"DAY", Op::extract, Shape::extract, 1, 1, "DAY(birth)"},
    {"DAYOFMONTH", Op::extract, Shape::extract, 1, 1, "DAY(birth)"},
    {"DAYOFWEEK", Op::extract, Shape::extract, 1, 1, "DAYOFWEEK(birth)"},
    {"DAYOFYEAR", Op::extract, Shape::extract, 1, 1, "DAYOFYEAR(birth)"},
    {"HOUR", Op::extract, Shape::extract, 1, 1, "HOUR(seen)"},
    {"MINUTE", Op::extract, Shape::extract, 1, 1, "MINUTE(seen)"},
    {"SECOND", Op::extract, Shape::extract, 1, 1, "SECOND(seen)"},
    {"DATE_TRUNC", Op::truncate_date, Shape::truncate_date, 2, 2, "DATE_TRUNC('month', birth)"},
    {"DATE_DIFF", Op::days_between, Shape::days_between, 3, 3,
     "DATE_DIFF('day', first, last), which is the days from first to last"},
    {"DATEDIFF", Op::days_between, Shape::days_between, 3, 3,
     "DATE_DIFF('day', first, last), which is the days from first to last"},
});

constexpr auto kAggregates = std::to_array<std::string_view>({"COUNT",
                                                              "SUM",
                                                              "AVG",
                                                              "MEAN",
                                                              "MIN",
                                                              "MAX",
                                                              "VAR_POP",
                                                              "VAR_SAMP",
                                                              "VARIANCE",
                                                              "VAR",
                                                              "STDDEV",
                                                              "STDDEV_POP",
                                                              "STDDEV_SAMP",
                                                              "STDEV",
                                                              "MEDIAN",
                                                              "PERCENTILE_CONT",
                                                              "PERCENTILE",
                                                              "PERCENTILE_DISC",
                                                              "QUANTILE",
                                                              "QUANTILE_CONT",
                                                              "QUANTILE_DISC",
                                                              "ANY_VALUE",
                                                              "FIRST",
                                                              "LAST",
                                                              "MODE",
                                                              "ARRAY_AGG",
                                                              "STRING_AGG",
                                                              "LIST",
                                                              "GROUP_CONCAT",
                                                              "BOOL_AND",
                                                              "BOOL_OR",
                                                              "COUNT_IF",
                                                              "COUNTIF",
                                                              "SUM_IF",
                                                              "ARG_MIN",
                                                              "ARG_MAX",
                                                              "CORR",
                                                              "COVAR_POP",
                                                              "COVAR_SAMP",
                                                              "BIT_AND",
                                                              "BIT_OR",
                                                              "PRODUCT",
                                                              "APPROX_COUNT_DISTINCT",
                                                              "COUNT_CLIPPED",
                                                              "COUNT_DISTINCT",
                                                              "APPROX_QUANTILE",
                                                              "APPROX_QUANTILES"});

struct Refusal {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kNow =
    "the current time is not supported, since the answer would change with it; write for example "
    "DATE '2024-01-31'";
constexpr std::string_view kRandom =
    "random values are not supported, since the same question must have the same answer; leave "
    "the function out, Shoal adds the noise itself";
constexpr std::string_view kDateArithmetic =
    "adding to dates is not supported, since some dates have no such neighbour; compare with the "
    "date itself, or use DATE_DIFF('day', first, last)";
constexpr std::string_view kRegex =
    "regular expressions can only be matched; write REGEXP_MATCHES(x, 'pattern')";
constexpr std::string_view kLong =
    "functions that make texts of any length are not supported, since a long one could exhaust "
    "memory on some row; write the text itself with ||";

constexpr auto kRefusals = std::to_array<Refusal>({
    {"NOW", kNow},
    {"TODAY", kNow},
    {"GETDATE", kNow},
    {"SYSDATE", kNow},
    {"GET_CURRENT_TIME", kNow},
    {"GET_CURRENT_TIMESTAMP", kNow},
    {"TRANSACTION_TIMESTAMP", kNow},
    {"STATEMENT_TIMESTAMP", kNow},
    {"CLOCK_TIMESTAMP", kNow},
    {"CURRENT_DATE", kNow},
    {"CURRENT_TIMESTAMP", kNow},
    {"UNIX_TIMESTAMP", kNow},
    {"AGE", kNow},
    {"RANDOM", kRandom},
    {"RAND", kRandom},
    {"RANDN", kRandom},
    {"UUID", kRandom},
    {"GEN_RANDOM_UUID", kRandom},
    {"GENERATE_UUID", kRandom},
    {"SETSEED", kRandom},
    {"NEXTVAL", kRandom},
    {"MONOTONICALLY_INCREASING_ID", kRandom},
    {"DATE_ADD", kDateArithmetic},
    {"DATE_SUB", kDateArithmetic},
    {"ADD_MONTHS", kDateArithmetic},
    {"TIMESTAMP_ADD", kDateArithmetic},
    {"TIMESTAMP_DIFF", "write DATE_DIFF('day', first, last) for the days between two timestamps"},
    {"REGEXP_REPLACE", kRegex},
    {"REGEXP_EXTRACT", kRegex},
    {"REGEXP_FULL_MATCH", kRegex},
    {"REPEAT", kLong},
    {"LPAD", kLong},
    {"RPAD", kLong},
    {"ERROR", "an error on some row would tell about it; leave the function out"},
    {"WIDTH_BUCKET",
     "WIDTH_BUCKET is not supported; write FLOOR(x / 10) * 10 for steps of ten, or CASE"},
    {"ISNULL", "ISNULL is not supported; write x IS NULL"},
    {"IIF", "IIF is not supported; write IF(age >= 18, 1, 0) or CASE"},
    {"DECODE", "DECODE is not supported; write CASE x WHEN 1 THEN 'a' ELSE 'b' END"},
    {"GROUPING",
     "GROUPING takes one key as GROUP BY has it, in the list, HAVING or ORDER BY of the outermost "
     "query; write for example GROUPING(city)"},
    {"WEEK", "weeks of a year are not supported; write DATE_TRUNC('week', x)"},
    {"TO_DATE", "TO_DATE is not supported; write CAST(x AS DATE)"},
    {"INSTR", "positions in texts are not supported; write CONTAINS(x, 'part')"},
    {"STRPOS", "positions in texts are not supported; write CONTAINS(x, 'part')"},
});

}  // namespace

const ScalarFunction* find_function(std::string_view upper) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [upper](const auto& one) { return one.name == upper; });
  return found == kFunctions.end() ? nullptr : found;
}

bool is_aggregate(std::string_view upper) {
  return std::find(kAggregates.begin(), kAggregates.end(), upper) != kAggregates.end();
}

std::string function_refusal(std::string_view upper) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.name == upper) return std::string(refusal.why);
  }
  std::vector<std::string> names;
  for (const ScalarFunction& function : kFunctions) names.emplace_back(function.name);
  const auto meant = nearest_name(upper, names);
  const std::string name = printable(upper, 40);
  if (meant) return fmt::format("there is no function {}; did you mean {}?", name, *meant);
  return fmt::format(
      "the function {} is not supported; docs/reference/sql.md lists those that are, among them "
      "ROUND, FLOOR, GREATEST, COALESCE, LOWER, SUBSTR, EXTRACT and DATE_TRUNC",
      name);
}

}  // namespace shoal::plan
