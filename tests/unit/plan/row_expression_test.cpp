// Row expressions: what they become, of what type, within which bounds, and what is refused.
#include "plan/row_expression.hpp"

#include "support/row_fixture.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

namespace shoal::plan {
namespace {

using catalog::Bounds;

const Scope& scope() {
  static const Scope kScope = test::people_scope();
  return kScope;
}

TypedExpression value(const std::string& text) {
  return RowExpressions(scope(), text).value(sql::parse_expression(text));
}

std::string shown(const sql::Expression& expression) { return test::call_text(expression); }

std::string value_text(const std::string& text) { return shown(value(text).expression); }

std::string condition_text(const std::string& text) {
  return shown(RowExpressions(scope(), text).condition(sql::parse_expression(text)));
}

void expect_refusal(const std::string& text, ErrorCode code, const std::string& part,
                    bool condition = false) {
  try {
    if (condition) {
      condition_text(text);
    } else {
      value_text(text);
    }
    FAIL() << text << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << text << ": " << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << text << ": " << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("line 1, column ")) << error.what();
  }
}

std::optional<Bounds> bounds(const std::string& text) { return value(text).type.bounds; }

using Values = std::optional<std::vector<std::string>>;
Values values(const std::string& text) { return value(text).type.values; }

TEST(RowExpressionForm, ComparisonsOfWholeNumbersStayWhole) {
  EXPECT_EQ(condition_text("age >= 18"), R"("age" >= 18)");
  EXPECT_EQ(condition_text("age >= 18.0"), R"("age" >= 18)");
  EXPECT_EQ(condition_text("age >= 2 * 9"), R"("age" >= 18)");
  EXPECT_EQ(condition_text("age >= -5"), R"("age" >= -5)");
  EXPECT_EQ(condition_text("big = 9007199254740993"), R"("big" = 9007199254740993)");
  EXPECT_EQ(condition_text("big = -9007199254740993"), R"("big" = -9007199254740993)");
  EXPECT_EQ(condition_text("age = big"), R"("age" = "big")");
  EXPECT_EQ(condition_text("age IN (1, 2, 3)"), R"("age" IN (1, 2, 3))");
}

TEST(RowExpressionForm, MixedNumbersAreComparedAsDoubles) {
  EXPECT_EQ(condition_text("age >= 17.5"), R"(CAST("age" AS DOUBLE) >= CAST(17.5e0 AS DOUBLE))");
  EXPECT_EQ(condition_text("income > 5"), R"("income" > CAST(5e0 AS DOUBLE))");
  EXPECT_EQ(condition_text("income > age"), R"("income" > CAST("age" AS DOUBLE))");
  EXPECT_EQ(condition_text("age BETWEEN 1 AND 2.5"),
            R"(CAST("age" AS DOUBLE) BETWEEN CAST(1e0 AS DOUBLE) AND CAST(2.5e0 AS DOUBLE))");
}

TEST(RowExpressionForm, ArithmeticIsGuarded) {
  EXPECT_EQ(value_text("income + 1"), R"(SAFE_ADD("income", CAST(1e0 AS DOUBLE)))");
  EXPECT_EQ(value_text("income - ratio"), R"(SAFE_SUBTRACT("income", "ratio"))");
  EXPECT_EQ(value_text("income / ratio"), R"(SAFE_DIVIDE("income", "ratio"))");
  EXPECT_EQ(value_text("income % 7"), R"(SAFE_MOD("income", CAST(7e0 AS DOUBLE)))");
  EXPECT_EQ(value_text("-income"), R"(SAFE_NEGATE("income"))");
  EXPECT_EQ(value_text("LN(income)"), R"(SAFE_LN("income"))");
  EXPECT_EQ(value_text("POWER(income, 2)"), R"(SAFE_POWER("income", CAST(2e0 AS DOUBLE)))");
  EXPECT_EQ(value_text("SAFE_DIVIDE(income, 2)"), value_text("income / 2"));
}

// Whole arithmetic goes through doubles and comes back by one guarded cast.
TEST(RowExpressionForm, WholeResultsComeBackByAGuardedCast) {
  EXPECT_EQ(value_text("age + 1"),
            R"(SAFE_DOUBLE_TO_BIGINT(SAFE_ADD(CAST("age" AS DOUBLE), CAST(1e0 AS DOUBLE))))");
  EXPECT_EQ(
      value_text("FLOOR(age / 10) * 10"),
      R"(SAFE_DOUBLE_TO_BIGINT(SAFE_MULTIPLY(FLOOR(SAFE_DIVIDE(CAST("age" AS DOUBLE), CAST(10e0 AS DOUBLE))), )"
      R"(CAST(10e0 AS DOUBLE))))");
  EXPECT_TRUE(value("FLOOR(age / 10) * 10").type.whole);
  EXPECT_FALSE(value("age / 10").type.whole);
  EXPECT_FALSE(value("FLOOR(age / 10) * 0.5").type.whole);
  EXPECT_EQ(value_text("FLOOR(age)"), R"("age")");
  EXPECT_EQ(value_text("ROUND(age, 2)"), R"("age")");
  EXPECT_TRUE(value("ROUND(age, -1)").type.whole);
  EXPECT_FALSE(value("ROUND(income, 1)").type.whole);
  EXPECT_EQ(value_text("CAST(income AS BIGINT)"), R"(SAFE_DOUBLE_TO_BIGINT("income"))");
  EXPECT_EQ(value_text("CAST(income AS INTEGER)"), R"(SAFE_DOUBLE_TO_BIGINT("income"))");
}

TEST(RowExpressionForm, CastsAreTotal) {
  EXPECT_EQ(value_text("CAST(name AS DOUBLE)"), R"(SAFE_TEXT_TO_DOUBLE("name"))");
  EXPECT_EQ(value_text("CAST(name AS BIGINT)"), R"(SAFE_TEXT_TO_BIGINT("name"))");
  EXPECT_EQ(value_text("TRY_CAST(name AS DATE)"), R"(SAFE_TEXT_TO_DATE("name"))");
  EXPECT_EQ(value_text("CAST(birth AS TIMESTAMP)"), R"(SAFE_DATE_TO_TIMESTAMP("birth"))");
  EXPECT_EQ(value_text("CAST(age AS VARCHAR)"), R"(SAFE_BIGINT_TO_TEXT("age"))");
  EXPECT_EQ(value_text("CAST(age AS DOUBLE)"), R"(CAST("age" AS DOUBLE))");
  EXPECT_EQ(value_text("CAST(income AS DECIMAL(10, 2))"), R"(ROUND("income", 2))");
  EXPECT_EQ(
      value_text("CAST(married AS BIGINT)"),
      R"(CASE "married" WHEN TRUE THEN CAST(1 AS BIGINT) WHEN FALSE THEN CAST(0 AS BIGINT) END)");
  EXPECT_EQ(value_text("CAST('2024-01-31' AS DATE)"), "DATE '2024-01-31'");
  EXPECT_EQ(value_text("CAST('x' AS DOUBLE)"), "SAFE_TEXT_TO_DOUBLE('x')");
}

TEST(RowExpressionForm, ConditionsKeepTheirShape) {
  EXPECT_EQ(condition_text("NOT married AND (age IS NULL OR city LIKE 'P%')"),
            R"(NOT "married" AND ("age" IS NULL OR "city" LIKE 'P%'))");
  EXPECT_EQ(condition_text("birth > '2000-01-01'"), R"("birth" > DATE '2000-01-01')");
  EXPECT_EQ(condition_text("seen > DATE '2000-01-01'"),
            R"("seen" > TIMESTAMP '2000-01-01 00:00:00')");
  EXPECT_EQ(condition_text("seen > birth"), R"("seen" > SAFE_DATE_TO_TIMESTAMP("birth"))");
  EXPECT_EQ(condition_text("1 = 1"), "TRUE");
  EXPECT_EQ(condition_text("NULL"), "CAST(NULL AS BOOLEAN)");
  EXPECT_EQ(condition_text("people.AGE > 3 AND \"age\" < 9"), R"("age" > 3 AND "age" < 9)");
}

TEST(RowExpressionForm, CaseHasOneType) {
  EXPECT_EQ(value_text("CASE WHEN married THEN 1 ELSE 0 END"),
            R"(CASE WHEN "married" THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END)");
  EXPECT_EQ(value_text("CASE WHEN married THEN 1 ELSE 0.5 END"),
            R"(CASE WHEN "married" THEN CAST(1e0 AS DOUBLE) ELSE CAST(0.5e0 AS DOUBLE) END)");
  EXPECT_EQ(value_text("CASE age WHEN 1 THEN 'one' END"), R"(CASE "age" WHEN 1 THEN 'one' END)");
  EXPECT_EQ(value_text("CASE WHEN married THEN NULL ELSE age END"),
            R"(CASE WHEN "married" THEN CAST(NULL AS BIGINT) ELSE "age" END)");
  EXPECT_EQ(value_text("IF(married, age, NULL)"), R"(CASE WHEN "married" THEN "age" END)");
  EXPECT_EQ(value_text("COALESCE(age, 0)"), R"(COALESCE("age", CAST(0 AS BIGINT)))");
  EXPECT_EQ(value_text("IFNULL(income, 0)"), R"(COALESCE("income", CAST(0e0 AS DOUBLE)))");
}

TEST(RowExpressionForm, TextsAndDates) {
  EXPECT_EQ(value_text("LEFT(name, 2)"), R"(SUBSTR("name", 1, 2))");
  EXPECT_EQ(value_text("SUBSTR(name, 2)"), R"(SUBSTR("name", 2, 1000000000))");
  EXPECT_EQ(value_text("name || '-' || city"), R"(CONCAT("name", '-', "city"))");
  EXPECT_EQ(value_text("CONCAT(name, '-', city)"), R"(CONCAT("name", '-', "city"))");
  EXPECT_EQ(value_text("MONTH(birth)"), R"(EXTRACT('MONTH', "birth"))");
  EXPECT_EQ(value_text("DATE_TRUNC('month', birth)"), R"(DATE_TRUNC('month', "birth"))");
  EXPECT_EQ(value_text("DATE_TRUNC(seen, HOUR)"), R"(DATE_TRUNC('hour', "seen"))");
  EXPECT_EQ(value_text("DATE_TRUNC('month', seen)"),
            R"(SAFE_DATE_TO_TIMESTAMP(DATE_TRUNC('month', "seen")))");
  EXPECT_EQ(value_text("DATE_DIFF('day', birth, seen)"),
            R"(DATE_DIFF('day', "birth", SAFE_TIMESTAMP_TO_DATE("seen")))");
  EXPECT_EQ(value_text("DATE_DIFF(seen, birth, DAY)"), value_text("DATE_DIFF('day', birth, seen)"));
  EXPECT_EQ(value_text("LENGTH(name)"), R"(LENGTH("name"))");
}

TEST(RowExpressionTypes, BoundsFollowTheArithmetic) {
  EXPECT_EQ(bounds("age"), (Bounds{0, 120}));
  EXPECT_EQ(bounds("age + 1"), (Bounds{1, 121}));
  EXPECT_EQ(bounds("10 - age"), (Bounds{-110, 10}));
  EXPECT_EQ(bounds("age * -2"), (Bounds{-240, 0}));
  EXPECT_EQ(bounds("age / 4"), (Bounds{0, 30}));
  EXPECT_EQ(bounds("1 / age"), std::nullopt);
  EXPECT_EQ(bounds("1 / (age + 1)")->upper, 1);
  EXPECT_EQ(bounds("FLOOR(age / 10) * 10"), (Bounds{0, 120}));
  EXPECT_EQ(bounds("ABS(age - 50)"), (Bounds{0, 70}));
  EXPECT_EQ(bounds("age % 10"), (Bounds{0, 10}));
  EXPECT_EQ(bounds("age * income"), (Bounds{0, 120000}));
  EXPECT_EQ(bounds("SIGN(ratio)"), (Bounds{-1, 1}));
  EXPECT_EQ(bounds("SQRT(age + 1)")->lower, 1);
  EXPECT_EQ(bounds("POWER(age - 60, 2)")->lower, 0);
  EXPECT_EQ(bounds("ratio"), std::nullopt);
  EXPECT_EQ(bounds("ratio + age"), std::nullopt);
  EXPECT_EQ(bounds("LENGTH(name)"), std::nullopt);
}

TEST(RowExpressionTypes, BoundsFollowChoices) {
  EXPECT_EQ(bounds("GREATEST(0, LEAST(100, ratio))"), (Bounds{0, 100}));
  EXPECT_EQ(bounds("LEAST(GREATEST(ratio, -3), 100)"), (Bounds{-3, 100}));
  EXPECT_EQ(bounds("GREATEST(0, ratio)"), std::nullopt);
  EXPECT_EQ(bounds("CASE WHEN married THEN age ELSE -5 END"), (Bounds{-5, 120}));
  EXPECT_EQ(bounds("CASE WHEN married THEN ratio ELSE -5 END"), std::nullopt);
  EXPECT_EQ(bounds("CASE WHEN married THEN 1 END"), (Bounds{0, 1}));
  EXPECT_EQ(bounds("COALESCE(age, 500)"), (Bounds{0, 500}));
  EXPECT_EQ(bounds("NULLIF(age, 0)"), (Bounds{0, 120}));
  EXPECT_EQ(bounds("CAST(married AS BIGINT)"), (Bounds{0, 1}));
  EXPECT_EQ(bounds("MONTH(birth)"), (Bounds{1, 12}));
  EXPECT_EQ(bounds("YEAR(birth)"), std::nullopt);
  EXPECT_EQ(bounds("5"), (Bounds{0, 5}));
  EXPECT_EQ(bounds("0"), (Bounds{0, 1}));
  EXPECT_EQ(bounds("-5"), (Bounds{-5, 0}));
}

TEST(RowExpressionTypes, ListsFollowWhatIsDoneToThem) {
  EXPECT_EQ(values("city"), (Values{{"Paris", "Rome"}}));
  EXPECT_EQ(values("UPPER(city)"), (Values{{"PARIS", "ROME"}}));
  EXPECT_EQ(values("SUBSTR(city, 2, 1)"), (Values{{"a", "o"}}));
  EXPECT_EQ(values("city || '!'"), (Values{{"Paris!", "Rome!"}}));
  EXPECT_EQ(values("COALESCE(city, 'none')"), (Values{{"Paris", "Rome", "none"}}));
  EXPECT_EQ(values("married"), (Values{{"true", "false"}}));
  EXPECT_EQ(values("age > 5"), (Values{{"true", "false"}}));
  EXPECT_EQ(values("CAST(married AS BIGINT)"), (Values{{"1", "0"}}));
  EXPECT_EQ(values("QUARTER(birth)"), (Values{{"1", "2", "3", "4"}}));
  EXPECT_EQ(values("QUARTER(birth) * 10 + 1"), (Values{{"11", "21", "31", "41"}}));
  EXPECT_EQ(values("CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' END"),
            (Values{{"child", "adult"}}));
  EXPECT_EQ(values("CASE WHEN age < 18 THEN 0 ELSE 1 END"), (Values{{"0", "1"}}));
  EXPECT_EQ(values("CASE WHEN age < 18 THEN name ELSE 'adult' END"), std::nullopt);
  EXPECT_EQ(values("name"), std::nullopt);
  EXPECT_EQ(values("age"), std::nullopt);
  EXPECT_EQ(values("QUARTER(birth) / 3"), std::nullopt);
  EXPECT_EQ(values("DATE_TRUNC('month', birth)"), std::nullopt);
}

// The engine knows the capital of every letter; this code does not, and lists nothing then.
TEST(RowExpressionTypes, ListsAreNotGuessed) {
  Scope accents;
  accents.columns.push_back(test::row_column("people", "city",
                                             {ValueKind::text,
                                              false,
                                              std::nullopt,
                                              {{"Orl\xC3\xA9"
                                                "ans",
                                                "Rome"}}}));
  const auto listed = [&accents](const std::string& text) {
    return RowExpressions(accents, text).value(sql::parse_expression(text)).type.values;
  };
  EXPECT_EQ(listed("UPPER(city)"), std::nullopt);
  EXPECT_EQ(listed("CONCAT(city, '!')")->size(), 2u);
}

TEST(RowExpressionTypes, NullsAreKnown) {
  EXPECT_FALSE(value("5").type.nullable);
  EXPECT_FALSE(value("age IS NULL").type.nullable);
  EXPECT_FALSE(value("COALESCE(age, 0)").type.nullable);
  EXPECT_FALSE(value("CASE WHEN married THEN 1 ELSE 0 END").type.nullable);
  EXPECT_TRUE(value("CASE WHEN married THEN 1 END").type.nullable);
  EXPECT_TRUE(value("5 + age").type.nullable);
  EXPECT_TRUE(value("NULLIF(5, age)").type.nullable);
  EXPECT_TRUE(value("CAST(NULL AS DOUBLE)").type.nullable);
}

TEST(RowExpressionTypes, KindsAreKnown) {
  EXPECT_EQ(value("birth").type.kind, ValueKind::date);
  EXPECT_EQ(value("DATE_TRUNC('year', seen)").type.kind, ValueKind::timestamp);
  EXPECT_EQ(value("COALESCE(birth, seen)").type.kind, ValueKind::timestamp);
  EXPECT_EQ(value("GREATEST(name, 'a')").type.kind, ValueKind::text);
  EXPECT_EQ(value("CONTAINS(name, 'a')").type.kind, ValueKind::boolean);
}

TEST(RowExpressionFolding, ConstantsAreComputed) {
  EXPECT_EQ(value_text("7 / 2"), "CAST(3.5e0 AS DOUBLE)");
  EXPECT_EQ(value_text("2 * 9"), "CAST(18 AS BIGINT)");
  EXPECT_EQ(value_text("1 / 0"), "CAST(NULL AS DOUBLE)");
  EXPECT_EQ(value_text("LN(-1)"), "CAST(NULL AS DOUBLE)");
  EXPECT_EQ(value_text("UPPER('a') || 'b'"), "'Ab'");
  EXPECT_EQ(value_text("UPPER('\xC3\xA9')"), "UPPER('\xC3\xA9')");
  EXPECT_EQ(value_text("SUBSTR('abc', 2, 1)"), "'b'");
  EXPECT_EQ(value_text("MONTH('2024-05-06')"), "CAST(5 AS BIGINT)");
  EXPECT_EQ(value_text("DATE_DIFF('day', '2024-02-28', '2024-03-01')"), "CAST(2 AS BIGINT)");
  EXPECT_EQ(value_text("CASE WHEN 1 > 2 THEN 'x' ELSE 'y' END"), "'y'");
  EXPECT_EQ(value_text("COALESCE(NULL, 5)"), "CAST(5 AS BIGINT)");
  EXPECT_EQ(condition_text("5 BETWEEN 1 AND 9 AND 'abc' LIKE 'a_c'"), "TRUE");
  EXPECT_EQ(condition_text("5 IN (1, 2)"), "FALSE");
}

TEST(RowExpressionRefusal, Names) {
  expect_refusal("agee > 1", ErrorCode::not_found,
                 "column 1: table people has no column agee; did you mean age?");
  expect_refusal("1 + visits.age", ErrorCode::not_found,
                 "column 5: the query reads people, not visits");
  expect_refusal("LENGTH(secret)", ErrorCode::refused_by_policy,
                 "column 8: the policy does not let queries use column secret");
  expect_refusal("\"Age\"", ErrorCode::not_found, "no column Age");
}

TEST(RowExpressionRefusal, AmbiguousNames) {
  Scope two = test::people_scope();
  two.columns.push_back(test::row_column("visits", "age", {ValueKind::number, true}));
  const std::string text = "1 + age";
  try {
    RowExpressions(two, text).value(sql::parse_expression(text));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(
        std::string(error.what()).find("line 1, column 5: age may mean people.age and visits.age"),
        std::string::npos)
        << error.what();
  }
  const std::string qualified = "visits.age + people.age";
  EXPECT_NO_THROW(RowExpressions(two, qualified).value(sql::parse_expression(qualified)));
}

TEST(RowExpressionRefusal, Types) {
  const ErrorCode wrong = ErrorCode::invalid_argument;
  expect_refusal("city > 5", wrong,
                 "column 8: found a number where a text is needed to compare; put it in quotes");
  expect_refusal("age > '5'", wrong,
                 "found a text where a number is needed to compare; leave the quotes out");
  expect_refusal("birth > '5'", wrong, "'5' is no date");
  expect_refusal("age = NULL", wrong, "a comparison with NULL is never true");
  expect_refusal("NULL IN (1, 2)", wrong, "column 1: a comparison with NULL");
  expect_refusal("name + 1", wrong, "found a text where a number is needed for arithmetic");
  expect_refusal("married + 1", wrong, "write CAST(x AS BIGINT), which is 1 or 0");
  expect_refusal("birth - 1", ErrorCode::unsupported, "DATE_DIFF('day', first, last)");
  expect_refusal("age || 'x'", wrong, "write CAST(x AS VARCHAR)");
  expect_refusal("CASE WHEN married THEN 1 ELSE 'x' END", wrong, "in every branch of CASE");
  expect_refusal("age", wrong, "expected a condition but found a number", true);
  expect_refusal("NOT age", wrong, "column 5: expected a condition");
  expect_refusal("NULL", wrong, "NULL alone has no type");
  expect_refusal("age LIKE 'x'", wrong, "LIKE needs a text and a pattern in quotes");
  expect_refusal("name LIKE city", wrong, "LIKE needs a text and a pattern in quotes");
  expect_refusal("CAST(birth AS DOUBLE)", ErrorCode::unsupported, "a date is no number");
  expect_refusal("CAST(birth AS BOOLEAN)", ErrorCode::unsupported, "write a comparison");
  expect_refusal("CAST(income AS VARCHAR)", ErrorCode::unsupported,
                 "CAST(CAST(x AS BIGINT) AS VARCHAR)");
  expect_refusal("1e400", wrong, "too large a number");
}

TEST(RowExpressionRefusal, Functions) {
  expect_refusal("age > SUM(age)", ErrorCode::unsupported,
                 "column 7: the aggregate SUM cannot stand in WHERE");
  expect_refusal("COUNT(*)", ErrorCode::unsupported, "use HAVING");
  expect_refusal("RANDOM()", ErrorCode::unsupported, "the same question must have the same answer");
  expect_refusal("NOW()", ErrorCode::unsupported, "the current time");
  expect_refusal("UUID()", ErrorCode::unsupported, "random");
  expect_refusal("FLOORR(age)", ErrorCode::unsupported, "did you mean FLOOR?");
  expect_refusal("READ_CSV('x')", ErrorCode::unsupported, "READ_CSV is not supported");
  expect_refusal("ABS(1, 2)", ErrorCode::invalid_argument,
                 "ABS has 2 arguments here; write ABS(x)");
  expect_refusal("ABS(DISTINCT age)", ErrorCode::invalid_argument, "belong to aggregates");
  expect_refusal("ROUND(income, age)", ErrorCode::invalid_argument,
                 "the number of decimals must be a whole number from -15 to 15");
  expect_refusal("SUBSTR(name, 0, 2)", ErrorCode::invalid_argument, "the first character must be");
  expect_refusal("SUBSTR(name, 1, age)", ErrorCode::invalid_argument, "written out");
  expect_refusal("RIGHT(name, -1)", ErrorCode::invalid_argument, "from 0 to");
  expect_refusal("REPLACE(name, 'a', '" + std::string(101, 'x') + "')", ErrorCode::unsupported,
                 "a part of 101 characters cannot be replaced; use at most 100");
  expect_refusal("REPLACE(name, city, 'x')", ErrorCode::invalid_argument, "written out");
  expect_refusal("REGEXP_MATCHES(name, '(')", ErrorCode::invalid_argument,
                 "column 22: the pattern '(' is not supported: a ( without a )");
  expect_refusal("REGEXP_MATCHES(name, city)", ErrorCode::invalid_argument,
                 "the pattern must be a text in quotes");
  expect_refusal("HOUR(birth)", ErrorCode::invalid_argument, "a date has no hour");
  expect_refusal("DATE_TRUNC('decade', birth)", ErrorCode::invalid_argument,
                 "this is no part of a date");
  expect_refusal("DATE_TRUNC('hour', birth)", ErrorCode::invalid_argument,
                 "cannot be truncated to hour");
  expect_refusal("DATE_DIFF('month', birth, seen)", ErrorCode::unsupported,
                 "only days are counted");
  expect_refusal("YEAR(name)", ErrorCode::invalid_argument, "write CAST(x AS DATE)");
}

// Deep trees come out within the limit or are refused, never worse.
TEST(RowExpressionDepth, DeepTreesAreHandled) {
  const std::string empty;
  const RowExpressions rows(scope(), empty);
  const auto nested = [](std::size_t depth, const auto& wrap) {
    sql::Expression expression = sql::parse_expression("age");
    for (std::size_t i = 1; i < depth; ++i) expression = wrap(expression);
    return expression;
  };
  const auto add = [](const sql::Expression& inner) {
    return sql::Expression(
        sql::Binary{sql::BinaryOperator::add, inner, sql::parse_expression("income")});
  };
  const auto negate = [](const sql::Expression& inner) {
    return sql::Expression(sql::Unary{sql::UnaryOperator::minus, inner});
  };
  EXPECT_NO_THROW(rows.value(nested(490, add)));
  EXPECT_NO_THROW(rows.value(nested(490, negate)));
  const auto logarithm = [](const sql::Expression& inner) {
    return sql::Expression(sql::Call{"LOG2", {inner}});
  };
  EXPECT_NO_THROW(rows.value(nested(240, logarithm)));
  try {
    rows.value(nested(400, logarithm));  // two calls each
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

void count_nodes(const sql::Expression& expression, std::size_t& count) {
  ++count;
  for (const sql::Expression& child : sql::children(expression)) count_nodes(child, count);
}

// What was written once occurs once: an expression never grows out of proportion.
TEST(RowExpressionDepth, SizeIsLinear) {
  std::string text = "income";
  for (int i = 0; i < 60; ++i) text = "GREATEST(TRUNC(LOG2(" + text + ")), 1)";
  std::size_t size = 0;
  count_nodes(value(text).expression, size);
  EXPECT_LT(size, 60u * 20u);
}

// A list of texts is one list, however it is nested, and has an end.
TEST(RowExpressionDepth, LongListsOfTexts) {
  std::string text = "name";
  for (int i = 1; i < 100; ++i) text += " || name";
  EXPECT_EQ(value(text).expression.get_if<sql::Call>()->arguments.size(), 100u);
  expect_refusal(text + " || 'x'", ErrorCode::unsupported, "101 texts are put together");
}

}  // namespace
}  // namespace shoal::plan
