// The suite itself: each kind of difference is a finding, and a finding becomes small.
#include "neighbors/commands.hpp"
#include "neighbors/scenario.hpp"
#include "neighbors/shrink.hpp"
#include "neighbors/table_generator.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shoal::test {
namespace {

Scenario asked(Reading reading) {
  return {.name = "asked", .steps = {{.words = {"query"}, .output = reading, .same_draws = true}}};
}

Seen seen(const std::string& output) {
  return {.steps = {{0, output, "", 7}}, .files = {{"model.json", "{}"}}, .charges = {"settled"}};
}

bool differ(Reading reading, const Seen& one, const Seen& other) {
  return difference(asked(reading), {}, one, other).has_value();
}

TEST(Suite, EveryKindOfDifferenceIsAFinding) {
  const Seen one = seen("text\n");
  EXPECT_FALSE(differ(Reading::exact, one, one));
  const auto expect_finding = [&](const char* what, const auto& change) {
    Seen other = one;
    change(other);
    EXPECT_TRUE(differ(Reading::anything, one, other)) << what;
    EXPECT_TRUE(differ(Reading::anything, other, one)) << what;
  };
  expect_finding("a signal", [](Seen& other) { other.signal = 11; });
  expect_finding("a command less", [](Seen& other) { other.steps.clear(); });
  expect_finding("the exit status", [](Seen& other) { other.steps[0].status = 13; });
  expect_finding("a message", [](Seen& other) { other.steps[0].errors = "line 2001"; });
  expect_finding("draws", [](Seen& other) { other.steps[0].draws = 8; });
  expect_finding("a file more", [](Seen& other) { other.files["report"] = ""; });
  expect_finding("a file's text", [](Seen& other) { other.files["model.json"] = "{ }"; });
  expect_finding("a charge", [](Seen& other) { other.charges[0] = "failed"; });
  expect_finding("a charge more", [](Seen& other) { other.charges.emplace_back("settled"); });
}

TEST(Suite, OutputsAreReadAsAsked) {
  const auto differ_in = [](Reading reading, const char* one, const char* other) {
    return differ(reading, seen(one), seen(other));
  };
  EXPECT_TRUE(differ_in(Reading::exact, "left 1", "left 2"));
  EXPECT_FALSE(differ_in(Reading::exact, "2026-11-19T03:35:30Z", "2027-01-01T00:00:00.5Z"));
  EXPECT_FALSE(differ_in(Reading::numbers, "about -1.5e-3 of  3", "about 12 of 3,000"));
  EXPECT_TRUE(differ_in(Reading::numbers, "from 1 to 2", "from 1 to nan"));
  EXPECT_FALSE(differ_in(Reading::table, "a,b\n1,2\n", "a,b\n3,4\n"));
  EXPECT_TRUE(differ_in(Reading::table, "a,b\n1,2\n", "a,b\n1,2\n3,4\n"));
  EXPECT_TRUE(differ_in(Reading::table, "a,b\n1,2\n", "a,c\n1,2\n"));
  EXPECT_FALSE(differ_in(Reading::model, R"({"l2": 1, "weights": [1, 2]})",
                         R"({"l2": 1, "weights": [3, 4]})"));
  EXPECT_TRUE(
      differ_in(Reading::model, R"({"l2": 1, "weights": [1, 2]})", R"({"l2": 1, "weights": [3]})"));
  EXPECT_TRUE(
      differ_in(Reading::model, R"({"l2": 1, "weights": []})", R"({"l2": 2, "weights": []})"));
}

std::string answer(const std::string& rows, double sensitivity = 1) {
  return fmt::format(
      R"({{"columns": [{{"name": "n", "aggregate": "count", "noise": [{{"statistic": "rows",
         "mechanism": "discrete_laplace", "scale": 1, "sensitivity": {}, "step": 1}}]}}],
         "rows": {}, "confidence": 0.95}})",
      sensitivity, rows);
}

std::string count(int value) { return fmt::format(R"([[{{"value": {}}}]])", value); }

TEST(Suite, AValueMovesByItsSensitivityAtMost) {
  const auto differ_in = [](Reading reading, const std::string& one, const std::string& other) {
    return differ(reading, seen(one), seen(other));
  };
  EXPECT_FALSE(differ_in(Reading::answer, answer(count(30)), answer(count(31))));
  EXPECT_TRUE(differ_in(Reading::answer, answer(count(30)), answer(count(32))));
  EXPECT_TRUE(differ_in(Reading::answer, answer(count(5)), answer(count(30'010))));
  EXPECT_FALSE(differ_in(Reading::answer, answer(count(30), 2), answer(count(32), 2)));
  EXPECT_TRUE(differ_in(Reading::answer, answer(count(30)), answer(count(30), 2)));
  EXPECT_TRUE(differ_in(Reading::answer, answer(count(30)), answer("[]")));
  EXPECT_TRUE(differ_in(Reading::answer, answer(count(30)), answer("[[null]]")));
  EXPECT_FALSE(differ_in(Reading::rows, answer(count(30)), answer("[]")));
}

TEST(Suite, AFailureOnBothSidesIsADefect) {
  Seen failed = seen("");
  failed.steps[0].status = error_door(ErrorCode::internal).exit_status;
  EXPECT_TRUE(defect(asked(Reading::exact), failed));
  failed.steps[0].status = error_door(ErrorCode::budget_exceeded).exit_status;
  EXPECT_FALSE(defect(asked(Reading::exact), failed));
  failed.signal = 6;
  EXPECT_TRUE(defect(asked(Reading::exact), failed));
}

// Of thirty rows, the finding is in one cell of one row.
TEST(Suite, AFindingIsShrunkToWhatShowsIt) {
  Dice dice(3);
  TablePair pair = draw_pair(dice, {.byte_order_mark = true});
  while (pair.before.size() < 5) pair = draw_pair(dice, {.byte_order_mark = true});
  pair.before[3].raw.reset();
  pair.before[3][Field::note] = "needle";
  const auto shows = [](const TablePair& smaller) {
    for (const Row& row : smaller.before) {
      if (row[Field::note] == "needle") return true;
    }
    return false;
  };
  const TablePair small = shrink(pair, shows);
  ASSERT_EQ(small.before.size(), 1U);
  EXPECT_TRUE(small.after.empty());
  EXPECT_EQ(small.one.size() + small.other.size(), 1U);
  EXPECT_FALSE(small.setting.byte_order_mark);
  EXPECT_EQ(small.before[0][Field::note], "needle");
  for (const Field field : {Field::age, Field::income, Field::sex, Field::seen})
    EXPECT_FALSE(small.before[0][field]);
}

// What the tables differ in is one row, or rows of one person.
TEST(Suite, PairsAreNeighbours) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    const Setting setting = draw_setting(dice, scenario_kinds().front());
    const TablePair pair = draw_pair(dice, setting);
    const bool exchange = setting.neighbors == Neighbors::replace_one;
    EXPECT_EQ(pair.one.empty() || pair.other.empty(), !exchange);
    EXPECT_FALSE(pair.one.empty() && pair.other.empty());
    for (const Rows* rows : {&pair.one, &pair.other}) {
      if (setting.unit == catalog::PrivacyUnit::row) {
        EXPECT_LE(rows->size(), 1U);
      }
      for (const Row& row : *rows) EXPECT_EQ(row[Field::person], "4242");
    }
    for (const Rows* rows : {&pair.before, &pair.after}) {
      for (const Row& row : *rows) EXPECT_NE(row[Field::person], "4242");
    }
  }
}

}  // namespace
}  // namespace shoal::test
