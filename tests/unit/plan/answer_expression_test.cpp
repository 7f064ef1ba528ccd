// Expressions over released values: what they give, what their intervals hold, what is refused.
#include "plan/answer_expression.hpp"

#include "support/row_fixture.hpp"
#include "support/row_generator.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::plan {
namespace {

using Clause = AnswerExpression::Clause;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

sql::Expression parsed(const std::string& text) { return sql::parse_expression(text); }

// Grouped by city and FLOOR(age / 10); released are COUNT(*), SUM(income) and AVG(income).
AnswerScope scope() {
  static const Scope kRows = test::people_scope();
  AnswerScope scope;
  scope.inputs = {
      {parsed("city"), {ValueKind::text}},
      {parsed("FLOOR(age / 10)"), {ValueKind::number, true}},
      {parsed("COUNT(*)"), {ValueKind::number, true}},
      {parsed("SUM(income)"), {ValueKind::number}},
      {parsed("AVG(income)"), {ValueKind::number}},
  };
  scope.aliases = {{"total", parsed("SUM(income)")},
                   {"mean", parsed("SUM(income) / COUNT(*)")},
                   {"city", parsed("UPPER(city)")}};
  scope.rows = &kRows;
  return scope;
}

std::vector<AnswerValue> group() {
  return {{std::string("Paris"), 0, 0},
          {3.0, 3, 3},
          {100.0, 90, 110},
          {5000.0, 4800, 5200},
          {50.0, 45, 55}};
}

AnswerValue answer(const std::string& text, const std::vector<AnswerValue>& inputs = group()) {
  return AnswerExpression::compile(parsed(text), scope(), Clause::order_by, text).evaluate(inputs);
}

double number(const std::string& text) { return std::get<double>(answer(text).value); }
Value truth(const std::string& text) { return answer(text).value; }

void expect_refusal(const std::string& text, ErrorCode code, const std::string& part) {
  try {
    AnswerExpression::compile(parsed(text), scope(), Clause::order_by, text);
    FAIL() << text << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(AnswerExpression, FindsItsInputs) {
  EXPECT_EQ(number("COUNT(*)"), 100);
  EXPECT_EQ(number("SUM(INCOME)"), 5000);
  EXPECT_EQ(number("SUM(people.Income)"), 5000);
  EXPECT_EQ(number("floor(people.age / 10)"), 3);
  EXPECT_EQ(number("FLOOR(age / 10) * 10"), 30);
  EXPECT_EQ(number("total"), 5000);
  EXPECT_EQ(number("mean * 2"), 100);
  // Alone a name is the alias, inside an expression the key.
  EXPECT_EQ(answer("city").value, Value("PARIS"));
  EXPECT_EQ(answer("city || ''").value, Value("Paris"));
  const AnswerExpression used =
      AnswerExpression::compile(parsed("mean + COUNT(*) + 1"), scope(), Clause::select, "");
  EXPECT_EQ(used.inputs(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(used.type().kind, ValueKind::number);
}

TEST(AnswerExpression, ComputesWithIntervals) {
  EXPECT_EQ(answer("COUNT(*)"), (AnswerValue{100.0, 90, 110}));
  EXPECT_EQ(answer("COUNT(*) + 1"), (AnswerValue{101.0, 91, 111}));
  EXPECT_EQ(answer("-COUNT(*)"), (AnswerValue{-100.0, -110, -90}));
  EXPECT_EQ(answer("COUNT(*) * 2 - SUM(income)"), (AnswerValue{-4800.0, -5020, -4580}));
  const AnswerValue mean = answer("mean");
  EXPECT_EQ(mean.value, Value(50.0));
  EXPECT_NEAR(mean.lower, 4800.0 / 110, 1e-9);
  EXPECT_NEAR(mean.upper, 5200.0 / 90, 1e-9);
  EXPECT_EQ(answer("ROUND(COUNT(*) / 7)"), (AnswerValue{14.0, 13, 16}));
  EXPECT_EQ(answer("ABS(COUNT(*) - 100)"), (AnswerValue{0.0, 0, 10}));
  EXPECT_EQ(answer("SQRT(COUNT(*) - 9)").lower, 9);
  EXPECT_EQ(answer("GREATEST(COUNT(*), 95)"), (AnswerValue{100.0, 95, 110}));
  EXPECT_EQ(answer("LEAST(COUNT(*), 95)"), (AnswerValue{95.0, 90, 95}));
}

TEST(AnswerExpression, WhatMayBeMissingHasNoInterval) {
  const AnswerValue ratio = answer("1 / (COUNT(*) - 95)");
  EXPECT_EQ(ratio.value, Value(0.2));
  EXPECT_EQ(ratio.lower, -kInfinity);
  EXPECT_EQ(ratio.upper, kInfinity);
  EXPECT_TRUE(is_null(answer("1 / (COUNT(*) - 100)").value));
  const AnswerValue replaced = answer("COALESCE(1 / (COUNT(*) - 100), 0)");
  EXPECT_EQ(replaced.value, Value(0.0));
  EXPECT_EQ(replaced.upper, kInfinity);
  EXPECT_EQ(answer("COALESCE(COUNT(*), 0)"), (AnswerValue{100.0, 90, 110}));
  EXPECT_EQ(answer("COALESCE(NULLIF(1, 1), 7)"), (AnswerValue{7.0, 7, 7}));
  EXPECT_EQ(answer("NULLIF(COUNT(*), 0)"), (AnswerValue{100.0, 90, 110}));
  EXPECT_EQ(answer("NULLIF(COUNT(*), 95)").upper, kInfinity);
}

// A condition that the intervals leave open lets every branch be the true one.
TEST(AnswerExpression, OpenConditionsWidenTheInterval) {
  EXPECT_EQ(answer("CASE WHEN COUNT(*) > 95 THEN 1 ELSE 0 END"), (AnswerValue{1.0, 0, 1}));
  EXPECT_EQ(answer("CASE WHEN COUNT(*) > 50 THEN 1 ELSE 0 END"), (AnswerValue{1.0, 1, 1}));
  EXPECT_EQ(answer("CASE WHEN city = 'Paris' THEN 1 ELSE 0 END"), (AnswerValue{1.0, 1, 1}));
  EXPECT_EQ(
      answer("CASE WHEN COUNT(*) BETWEEN 50 AND 99 THEN 1 WHEN COUNT(*) > 10 THEN 2 ELSE 3 END"),
      (AnswerValue{2.0, 1, 2}));
  EXPECT_EQ(answer("CASE COUNT(*) WHEN 95 THEN 5 ELSE 6 END"), (AnswerValue{6.0, 5, 6}));
  EXPECT_EQ(
      answer("CASE WHEN (CASE WHEN COUNT(*) > 95 THEN 'a' ELSE 'b' END) = 'a' THEN 1 ELSE 2 END"),
      (AnswerValue{1.0, 1, 2}));
  EXPECT_EQ(answer("CASE WHEN COUNT(*) > 95 AND city = 'Rome' THEN 1 ELSE 2 END"),
            (AnswerValue{2.0, 2, 2}));
  EXPECT_EQ(answer("CASE WHEN COUNT(*) > 95 THEN 1 END").lower, -kInfinity);
  EXPECT_EQ(answer("CASE WHEN 1 / (COUNT(*) - 95) IS NULL THEN 1 ELSE 2 END"),
            (AnswerValue{2.0, 1, 2}));
  EXPECT_EQ(answer("CASE WHEN COUNT(*) IS NULL THEN 1 ELSE 2 END"), (AnswerValue{2.0, 2, 2}));
}

TEST(AnswerExpression, ThreeValuedLogic) {
  EXPECT_EQ(truth("COUNT(*) > 50 AND city LIKE 'P%'"), Value(true));
  EXPECT_EQ(truth("COUNT(*) > 500 OR city IN ('Rome', 'Oslo')"), Value(false));
  EXPECT_EQ(truth("NOT COUNT(*) BETWEEN 1 AND 10"), Value(true));
  std::vector<AnswerValue> hidden = group();
  hidden[0] = {};
  EXPECT_EQ(answer("city = 'Rome'", hidden).value, Value());
  EXPECT_EQ(answer("city = 'Rome' OR COUNT(*) > 5", hidden).value, Value(true));
  EXPECT_EQ(answer("city = 'Rome' AND COUNT(*) > 5", hidden).value, Value());
  EXPECT_EQ(answer("city IS NULL", hidden).value, Value(true));
  EXPECT_EQ(answer("COALESCE(city, 'none') || '!'", hidden).value, Value("none!"));
}

TEST(AnswerExpression, NoValueThrows) {
  const std::vector<double> nasty = {0,      -0.0,         1e308,     -1e308,
                                     5e-324, std::nan(""), kInfinity, -kInfinity};
  for (const char* text :
       {"COUNT(*) / SUM(income)", "COUNT(*) % SUM(income)", "LN(COUNT(*))", "LOG2(COUNT(*))",
        "SQRT(SUM(income))", "EXP(COUNT(*))", "POWER(COUNT(*), SUM(income))", "ROUND(COUNT(*), 15)",
        "COUNT(*) * SUM(income) + 1", "CAST(SUM(income) AS SMALLINT)",
        "CAST(CAST(COUNT(*) AS BIGINT) AS VARCHAR)", "SUBSTR(city, 2, 3)", "CAST(city AS DOUBLE)",
        "CAST(city AS DATE)", "MONTH(CAST(city AS DATE))", "LENGTH(UPPER(city))"}) {
    const AnswerExpression expression =
        AnswerExpression::compile(parsed(text), scope(), Clause::order_by, text);
    for (const double a : nasty) {
      for (const double b : nasty) {
        std::vector<AnswerValue> inputs = group();
        inputs[0].value = std::string("\xFF\xC3 2024-13-99");
        inputs[2] = {a, b, a};
        inputs[3] = {b, a, b};
        AnswerValue result;
        ASSERT_NO_THROW(result = expression.evaluate(inputs)) << text;
        const double* value = std::get_if<double>(&result.value);
        if (value == nullptr) continue;
        EXPECT_TRUE(std::isfinite(*value)) << text;
        EXPECT_TRUE(result.lower <= *value && *value <= result.upper) << text;
      }
    }
    EXPECT_NO_THROW(expression.evaluate({})) << text;
  }
}

TEST(AnswerExpression, Refuses) {
  expect_refusal("age", ErrorCode::invalid_argument,
                 "age is neither in GROUP BY nor inside an aggregate");
  expect_refusal("COUNT(*) + income", ErrorCode::invalid_argument,
                 "column 12: income is neither in GROUP BY");
  expect_refusal("MAX(income)", ErrorCode::unsupported, "this aggregate MAX");
  expect_refusal("COUNT(DISTINCT city)", ErrorCode::unsupported, "this aggregate COUNT");
  expect_refusal("city + 1", ErrorCode::invalid_argument, "found a text where a number is needed");
  expect_refusal("REGEXP_MATCHES(city, 'a')", ErrorCode::unsupported,
                 "put the condition into WHERE");
  expect_refusal("RANDOM()", ErrorCode::unsupported, "random");
  EXPECT_THROW(AnswerExpression::compile(parsed("COUNT(*)"), scope(), Clause::having, ""), Error);
  EXPECT_NO_THROW(AnswerExpression::compile(parsed("COUNT(*) > 1"), scope(), Clause::having, ""));
}

TEST(AnswerExpression, TwoAliasesOfOneNameAreRefused) {
  AnswerScope two = scope();
  two.aliases.push_back({"total", parsed("COUNT(*)")});
  EXPECT_THROW(AnswerExpression::compile(parsed("total"), two, Clause::order_by, "total"), Error);
  two.aliases.back().expression = parsed("SUM(income)");
  EXPECT_NO_THROW(AnswerExpression::compile(parsed("total"), two, Clause::order_by, "total"));
}

TEST(AnswerExpression, SameExpressionLooksAtEveryPart) {
  const auto& rows = test::people_scope();
  const auto same = [&rows](const char* a, const char* b) {
    return same_expression(parsed(a), parsed(b), &rows);
  };
  EXPECT_TRUE(same("people.AGE + 1", "age + 1"));
  EXPECT_TRUE(same("CASE WHEN age > 1 THEN 2 END", "CASE WHEN Age > 1 THEN 2 END"));
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"age + 1", "age - 1"},
           {"age + 1", "age + 2"},
           {"age + 1", "big + 1"},
           {"SUM(age)", "AVG(age)"},
           {"COUNT(age)", "COUNT(DISTINCT age)"},
           {"COUNT(*)", "COUNT(age)"},
           {"CAST(age AS DOUBLE)", "CAST(age AS BIGINT)"},
           {"CAST(age AS DOUBLE)", "TRY_CAST(age AS DOUBLE)"},
           {"age IS NULL", "age IS NOT NULL"},
           {"age IN (1, 2)", "age IN (1, 2, 3)"},
           {"age IN (1)", "age NOT IN (1)"},
           {"age BETWEEN 1 AND 2", "age NOT BETWEEN 1 AND 2"},
           {"name LIKE 'a'", "name NOT LIKE 'a'"},
           {"-age", "+age"},
           {"CASE age WHEN 1 THEN 2 END", "CASE WHEN age = 1 THEN 2 END"},
           {"CASE WHEN married THEN 2 WHEN married THEN 3 END",
            "CASE WHEN married THEN 2 ELSE 3 END"}}) {
    EXPECT_FALSE(same(a, b)) << a << " and " << b;
  }
}

// If the interval of each input holds its truth, the interval of the result holds the result at the
// truth; and a result that the truth does not have is given no bounds.
TEST(AnswerExpression, IntervalsHoldTheTruth) {
  const Scope rows = test::people_scope();
  AnswerScope answers;
  for (const ScopeColumn& column : rows.columns) {
    ValueType type = column.type;
    type.bounds.reset();
    answers.inputs.push_back({column.reference, type});
  }
  answers.rows = &rows;
  test::RowGenerator generator(31, false);
  std::size_t bounded = 0;
  std::size_t moved = 0;
  for (int round = 0; round < 40'000; ++round) {
    const std::string text =
        generator.expression(ValueKind::number, 1 + static_cast<int>(generator.below(4)));
    std::optional<AnswerExpression> expression;
    try {
      expression = AnswerExpression::compile(parsed(text), answers, Clause::select, text);
    } catch (const Error&) {
      continue;
    }
    const auto small = [&generator] { return static_cast<double>(generator.below(41)) / 4 - 2; };
    std::vector<AnswerValue> seen;
    std::vector<AnswerValue> truths;
    for (const ScopeColumn& column : rows.columns) {
      AnswerValue value;
      AnswerValue truth_value;
      if (column.type.kind == ValueKind::number) {
        const double a = small();
        const double b = generator.below(3) == 0 ? a : small();
        const double share = static_cast<double>(generator.below(5)) / 4;
        const double t = a + share * (b - a);
        value = {a, std::min(a, b), std::max(a, b)};
        truth_value = {t, t, t};
      } else if (column.type.kind == ValueKind::boolean) {
        value.value = generator.below(2) == 0;
      } else if (column.type.kind == ValueKind::text) {
        value.value = std::string(generator.below(2) == 0 ? "Rome" : "12");
      } else if (column.type.kind == ValueKind::date) {
        value.value = std::string("2001-05-06");
      }
      if (column.type.kind != ValueKind::number) truth_value = value;
      seen.push_back(value);
      truths.push_back(truth_value);
    }
    const AnswerValue result = expression->evaluate(seen);
    const AnswerValue exact = expression->evaluate(truths);
    if (is_null(result.value)) continue;
    if (is_null(exact.value)) {
      ASSERT_TRUE(result.lower == -kInfinity && result.upper == kInfinity) << text;
      continue;
    }
    const double at_truth = std::get<double>(exact.value);
    ASSERT_TRUE(result.lower <= at_truth && at_truth <= result.upper)
        << text << ": " << at_truth << " outside [" << result.lower << ", " << result.upper << "]";
    if (result.upper < kInfinity) ++bounded;
    if (result.upper < kInfinity && exact.value != result.value) ++moved;
  }
  EXPECT_GT(bounded, 10'000u);
  EXPECT_GT(moved, 1'000u);
}

}  // namespace
}  // namespace shoal::plan
