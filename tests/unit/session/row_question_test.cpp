// Questions about rows: what is refused by public facts, and the number of each row.
#include "support/code_of.hpp"

#include <shoal/base/error.hpp>
#include <shoal/session/row_question.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace shoal::session {
namespace {

using test::code_of;

catalog::Table a_table() {
  catalog::Table table;
  table.name = "people";
  const auto add = [&](const char* name, catalog::ColumnType type) -> catalog::Column& {
    catalog::Column& column = table.columns.emplace_back();
    column.name = name;
    column.type = type;
    return column;
  };
  add("age", catalog::ColumnType::integer).bounds = catalog::Bounds{0, 100};
  add("income", catalog::ColumnType::real).bounds = catalog::Bounds{-50, 150};
  add("height", catalog::ColumnType::real);
  add("city", catalog::ColumnType::text);
  add("secret", catalog::ColumnType::text).queryable = false;
  add("sex", catalog::ColumnType::text).categories = {" Male", " Female"};
  add("flag", catalog::ColumnType::boolean);
  add("blob", catalog::ColumnType::other);
  return table;
}

data::Cell number(double value) {
  data::Cell cell;
  cell.number = value;
  return cell;
}

data::Cell category(std::int32_t place) {
  data::Cell cell;
  cell.category = place;
  return cell;
}

PlannedRowQuestion plan(RowQuestion question, RowScore score = RowScore::right,
                        std::int64_t rows = 3) {
  return plan_rows(a_table(), std::move(question), score, rows);
}

TEST(RowQuestion, NumbersAreOneARow) {
  const PlannedRowQuestion planned = plan(RowNumbers{{0.5, 2, 0.25}});
  EXPECT_TRUE(planned.rows.columns.empty());
  EXPECT_EQ(planned.number(2, {}), 0.25);
  EXPECT_EQ(code_of([] { plan(RowNumbers{{0.5, 1}}); }), ErrorCode::invalid_argument);
}

std::string refusal(RowQuestion question) {
  try {
    plan(std::move(question));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

// A value that no row can have would use up a question for nothing.
TEST(RowQuestion, ValuesAreAmongThePublicOnes) {
  EXPECT_EQ(refusal(RowShare{"sex", "Male"}),
            "'Male' is not among the public values of sex, which are ' Male' and ' Female'; the "
            "answer would be noise alone");
  EXPECT_NE(refusal(RowMatches{{" Male", "female", " Male"}, "sex"}).find("'female' is not"),
            std::string::npos);
  EXPECT_NE(refusal(RowShare{"flag", "yes"}).find("which are true and false"), std::string::npos);
  EXPECT_EQ(refusal(RowShare{"sex", " Male"}), "");
  EXPECT_EQ(refusal(RowShare{"flag", "true"}), "");
  EXPECT_EQ(refusal(RowShare{"city", "anything"}), "");
}

TEST(RowQuestion, PredictionsMatchLabels) {
  for (const RowScore score : {RowScore::right, RowScore::wrong}) {
    const PlannedRowQuestion planned = plan(RowMatches{{"Bern", "Oslo", "Bern"}, "city"}, score);
    const double right = score == RowScore::right ? 1 : 0;
    ASSERT_EQ(planned.rows.columns.size(), 1U);
    EXPECT_EQ(planned.rows.columns[0].categories, (std::vector<std::string>{"Bern", "Oslo"}));
    EXPECT_TRUE(planned.rows.in_file_order);
    EXPECT_EQ(planned.number(0, std::vector{category(0)}), right);
    EXPECT_EQ(planned.number(1, std::vector{category(0)}), 1 - right);
    EXPECT_EQ(planned.number(2, std::vector{category(0)}), right);
    EXPECT_EQ(planned.number(2, std::vector{category(data::kNoCategory)}), 1 - right);
  }
  const PlannedRowQuestion numbers = plan(RowMatches{{"1", "2.0", "3"}, "age"});
  EXPECT_EQ(numbers.number(1, std::vector{number(2)}), 1);
  EXPECT_EQ(numbers.number(1, std::vector{number(1)}), 0);
  EXPECT_EQ(numbers.number(1, std::vector{number(std::nan(""))}), 0);
  EXPECT_EQ(code_of([] {
              plan(RowMatches{{"1", "two", "3"}, "age"});
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { plan(RowMatches{{"Bern"}, "city"}); }), ErrorCode::invalid_argument);
  // Nobody predicted anything: no row, and no category.
  EXPECT_NO_THROW(plan(RowMatches{{}, "city"}, RowScore::right, 0));
}

TEST(RowQuestion, ColumnsMustBeThereAndOpen) {
  EXPECT_EQ(code_of([] { plan(RowShare{"town", "Bern"}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { plan(RowShare{"blob", "Bern"}); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([] { plan(RowShare{"secret", "Bern"}); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(plan(RowShare{"city", "Bern"}).number(0, std::vector{category(0)}), 1);
  EXPECT_EQ(plan(RowShare{"city", "Bern"}).number(0, std::vector{category(-1)}), 0);
}

// Scaled from the public bounds: 0 is the middle, and what is missing or beyond stays within.
TEST(RowQuestion, ProductsAreScaledFromBounds) {
  const PlannedRowQuestion planned = plan(RowProduct{"age", "income"});
  const auto of = [&](double age, double income) {
    return planned.number(0, std::vector{number(age), number(income)});
  };
  EXPECT_DOUBLE_EQ(of(100, 150), 1);
  EXPECT_DOUBLE_EQ(of(0, 150), 0);
  EXPECT_DOUBLE_EQ(of(50, 150), 0.5);
  EXPECT_DOUBLE_EQ(of(75, 100), (1 + 0.5 * 0.5) / 2);
  EXPECT_DOUBLE_EQ(of(1e300, 150), 1);
  EXPECT_DOUBLE_EQ(of(std::nan(""), 150), 0.5);
  EXPECT_DOUBLE_EQ(of(std::numeric_limits<double>::infinity(), -50), 0);
  EXPECT_EQ(code_of([] { plan(RowProduct{"age", "height"}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { plan(RowProduct{"age", "city"}); }), ErrorCode::invalid_argument);
}

// A model that takes for numbers what the table has as text would fail on the first word.
TEST(RowQuestion, AModelMustFitTheTable) {
  learn::Model model;
  model.pipeline = {{learn::NumericFeature{"age", 0, 100}}, 1, 1};
  model.target = {"city", {"Bern", "Oslo"}, 0, 0};
  model.weights = {1, 0};
  EXPECT_NO_THROW(plan(RowModel{model}));
  model.pipeline.features = {learn::NumericFeature{"city", 0, 100}};
  EXPECT_EQ(code_of([&] { plan(RowModel{model}); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace shoal::session
