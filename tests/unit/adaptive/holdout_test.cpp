// The holdout: what it says, when it stops, what it refuses, and that its intervals cover although
// the analyst tries to overfit.
#include "support/seeded_source.hpp"

#include <shoal/adaptive/holdout.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::adaptive {
namespace {

HoldoutPlan plan_of(std::int64_t rows, std::int64_t questions, std::int64_t disagreements,
                    double epsilon) {
  return plan_holdout({.rows = rows,
                       .questions = questions,
                       .disagreements = disagreements,
                       .confidence = Confidence(0.95),
                       .epsilon = Epsilon(epsilon)});
}

TEST(Holdout, AgreesWhereItAgrees) {
  test::SeededSource bits(1);
  Holdout holdout(plan_of(10'000, 1000, 5, 2), bits);
  const std::vector<double> values(10'000, 0.5);
  for (int i = 0; i < 900; ++i) {
    const HoldoutAnswer answer = holdout.ask(0.51, values);
    ASSERT_TRUE(answer.agrees) << i;
    EXPECT_EQ(answer.value, 0.51);
    EXPECT_LT(answer.lower, 0.5);
    EXPECT_GT(answer.upper, 0.5);
  }
  EXPECT_EQ(holdout.questions_left(), 100);
  EXPECT_EQ(holdout.disagreements_left(), 5);
}

TEST(Holdout, TellsItsOwnValueWhereItDoesNotAndThenStops) {
  test::SeededSource bits(2);
  Holdout holdout(plan_of(10'000, 1000, 5, 2), bits);
  const std::vector<double> values(10'000, 0.5);
  for (int i = 0; i < 5; ++i) {
    const HoldoutAnswer answer = holdout.ask(0.9, values);
    EXPECT_FALSE(answer.agrees);
    EXPECT_NEAR(answer.value, 0.5, 0.05);
    // Only the grid's values are told.
    EXPECT_NEAR(answer.value * 100, std::round(answer.value * 100), 1e-9);
  }
  EXPECT_TRUE(holdout.exhausted());
  EXPECT_EQ(holdout.questions_left(), 0);
  try {
    holdout.ask(0.9, values);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::budget_exceeded);
  }
}

TEST(Holdout, CostsWhatWasAskedFor) {
  for (const double epsilon : {0.1, 1.0, 4.0}) {
    const HoldoutPlan plan = plan_of(10'000, 1000, 20, epsilon);
    const mechanism::ScoreSensitivity sensitivity{Sensitivity(kGridSteps),
                                                  mechanism::ScoreChange::two_sided};
    EXPECT_LE(mechanism::sparse_epsilon(plan.noise, sensitivity), epsilon);
    EXPECT_GT(mechanism::sparse_epsilon(plan.noise, sensitivity), 0.999 * epsilon);
    EXPECT_EQ(privacy_event(plan), mechanism::privacy_event(plan.noise, sensitivity));
  }
}

TEST(Holdout, IntervalsGrowWithWhatWasTold) {
  const HoldoutPlan plan = plan_of(10'000, 1000, 20, 2);
  EXPECT_EQ(plan.bound, HoldoutBound::transcripts);
  EXPECT_LT(own_width(plan, 1, 0), own_width(plan, 500, 1));
  EXPECT_LT(own_width(plan, 500, 1), own_width(plan, 500, 10));
  // By hand: 2 k (B + 1) C(499, 10) 101^10 / (beta / 2).
  const double count = std::log(2 * 1000.0 * 21 / 0.025) +
                       (std::lgamma(500) - std::lgamma(11) - std::lgamma(490)) +
                       10 * std::log(101.0);
  const double sample = std::sqrt(count / 20'000);
  const double steps = 10'000.0 * static_cast<double>(kGridSteps);
  const double over = plan.noise.threshold_scale * std::log(2 / 0.025) / steps;
  EXPECT_NEAR(agreeing_width(plan, 500, 10), plan.tolerance + over + sample, 1e-5);
}

// Many rows and a small epsilon: privacy says more than counting does.
TEST(Holdout, ThePosteriorWinsWhereRowsAreMany) {
  const HoldoutPlan plan = plan_holdout({.rows = 10'000'000'000,
                                         .questions = 1'000'000'000'000,
                                         .disagreements = 10'000,
                                         .confidence = Confidence(0.95),
                                         .epsilon = Epsilon(0.002),
                                         .tolerance = 0.05});
  EXPECT_EQ(plan.bound, HoldoutBound::tanh_posterior);
  EXPECT_LT(agreeing_width(plan, 1000, 10), 0.054);
}

TEST(Holdout, GoesOnFromASavedState) {
  test::SeededSource bits(3);
  Holdout holdout(plan_of(100, 10, 3, 5), bits);
  const std::vector<double> values(100, 0.2);
  holdout.ask(0.99, values);
  Holdout resumed(holdout.save(), bits);
  EXPECT_EQ(resumed.plan(), holdout.plan());
  EXPECT_EQ(resumed.asked(), holdout.asked());
  EXPECT_EQ(resumed.save(), holdout.save());
  EXPECT_THROW(Holdout("{}", bits), Error);
  std::string other = holdout.save();
  other.replace(other.find("\"hits\": 3"), 9, "\"hits\": 4");
  EXPECT_THROW(Holdout(other, bits), Error);
}

TEST(Holdout, BadQuestionsAreRefusedAndCostNothing) {
  test::SeededSource bits(4);
  Holdout holdout(plan_of(100, 10, 3, 5), bits);
  const std::vector<double> values(100, 0.2);
  const std::string before = holdout.save();
  EXPECT_THROW(holdout.ask(0.5, std::vector<double>(99, 0.2)), Error);
  EXPECT_THROW(holdout.ask(1.5, values), Error);
  EXPECT_THROW(holdout.ask(std::nan(""), values), Error);
  EXPECT_EQ(holdout.save(), before);
  EXPECT_THROW(plan_of(0, 10, 3, 5), Error);
  EXPECT_THROW(plan_of(10, 0, 3, 5), Error);
  EXPECT_THROW(plan_of(10, 10, 0, 5), Error);
  EXPECT_THROW(plan_of(10, 10, 3, 0), Error);
}

TEST(Holdout, ValuesOutsideAreClampedAndNeverRefused) {
  const std::vector<double> wild = {-5, 7, std::nan(""), HUGE_VAL, -HUGE_VAL, 0.5};
  EXPECT_EQ(grid_sum(wild), 2 * kGridSteps + kGridSteps / 2);
  EXPECT_EQ(correlation_value(2, -3), 0);
  EXPECT_EQ(correlation_value(-1, -1), 1);
  EXPECT_EQ(correlation_value(std::nan(""), 1), 0.5);
}

TEST(Holdout, AnyFunctionOfARowWillDo) {
  test::SeededSource bits(5);
  struct Row {
    int age;
  };
  std::vector<Row> training(50, Row{30});
  std::vector<Row> holdout_rows(100, Row{60});
  Holdout holdout(plan_of(100, 10, 3, 50), bits);
  const HoldoutAnswer answer =
      holdout.ask(training, holdout_rows, [](const Row& row) { return row.age > 40; });
  EXPECT_FALSE(answer.agrees);
  EXPECT_GT(answer.value, 0.9);
}

// An analyst who combines everything that correlates with the holdout by chance. Population means
// are all 1/2. 300 runs at confidence 0.9 miss more than 60 times with probability below 1e-6 if
// intervals just hold; they are far from tight, so not one may.
TEST(Holdout, IntervalsCoverAgainstAnOverfitter) {
  test::SeededSource bits(6);
  constexpr std::size_t kRows = 1000;
  constexpr int kFeatures = 60;
  int missed = 0;
  for (int run = 0; run < 60; ++run) {
    const HoldoutPlan plan = plan_holdout({.rows = kRows,
                                           .questions = kFeatures + 1,
                                           .disagreements = 30,
                                           .confidence = Confidence(0.9),
                                           .epsilon = Epsilon(200),
                                           .tolerance = 0.001});
    Holdout holdout(plan, bits);
    std::vector<double> votes(kRows, 0);
    std::vector<double> values(kRows);
    bool all = true;
    for (int feature = 0; feature < kFeatures && !holdout.exhausted(); ++feature) {
      for (double& value : values) value = bits.next_bit() ? 1 : 0;
      const HoldoutAnswer answer = holdout.ask(0.5, values);
      all = all && answer.lower <= 0.5 && 0.5 <= answer.upper;
      for (std::size_t i = 0; i < kRows; ++i) votes[i] += (values[i] - 0.5) * (answer.value - 0.5);
    }
    if (!holdout.exhausted()) {
      for (std::size_t i = 0; i < kRows; ++i) values[i] = votes[i] > 0 ? 1 : 0;
      const HoldoutAnswer last = holdout.ask(0.5, values);
      all = all && last.lower <= 0.5 && 0.5 <= last.upper;
    }
    missed += all ? 0 : 1;
  }
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace shoal::adaptive
