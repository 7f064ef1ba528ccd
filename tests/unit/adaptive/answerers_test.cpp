// The Gaussian answerer and the Ladder, and multiplicative weights below them.
#include "support/seeded_source.hpp"

#include <shoal/adaptive/gaussian_answerer.hpp>
#include <shoal/adaptive/ladder.hpp>
#include <shoal/base/error.hpp>
#include <shoal/mechanism/multiplicative_weights.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::adaptive {
namespace {

TEST(GaussianAnswerer, HasTheBestNoiseAndItsName) {
  const AnswererPlan plan = plan_answerer(1'000'000, 1000, Confidence(0.95));
  EXPECT_EQ(plan.bound, Bound::kl_posterior);
  EXPECT_NEAR(plan.width, 0.03017, 2e-5);
  // mu = sqrt(k) / (n sigma): the accountant agrees on what that costs.
  const privacy::Profile profile(privacy_event(plan), Neighbors::replace_one);
  const double mu = std::sqrt(1000.0) / (1e6 * plan.sigma);
  EXPECT_NEAR(profile.delta(0).bounds.upper, std::erf(mu / std::sqrt(8.0)), 1e-6);
}

TEST(GaussianAnswerer, AnswersWithItsNoiseAndStops) {
  test::SeededSource bits(1);
  const AnswererPlan plan = plan_answerer(100'000, 200, Confidence(0.9));
  GaussianAnswerer answerer(plan, bits);
  const std::vector<double> values(100'000, 0.25);
  double squares = 0;
  for (int i = 0; i < 200; ++i) {
    const MeanAnswer answer = answerer.ask(values);
    squares += (answer.value - 0.25) * (answer.value - 0.25);
    EXPECT_LE(answer.lower, answer.value);
  }
  // A chi-square of 200 degrees lies within these with probability above 1 - 1e-6.
  EXPECT_GT(squares / (plan.sigma * plan.sigma), 117);
  EXPECT_LT(squares / (plan.sigma * plan.sigma), 313);
  EXPECT_THROW(answerer.ask(values), Error);
}

TEST(GaussianAnswerer, BadQuestionsAreRefusedAndCostNothing) {
  test::SeededSource bits(2);
  GaussianAnswerer answerer(plan_answerer(100'000, 10, Confidence(0.9)), bits);
  EXPECT_THROW(answerer.ask(std::vector<double>(10, 0.5)), Error);
  EXPECT_EQ(answerer.questions_left(), 10);
  EXPECT_THROW(plan_answerer(10, 1'000'000, Confidence(0.9)), Error);
  EXPECT_THROW(plan_answerer(0, 1, Confidence(0.9)), Error);
}

TEST(Ladder, ClimbsOnlyByMoreThanAStep) {
  test::SeededSource bits(3);
  Ladder ladder(
      plan_ladder({.rows = 100, .submissions = 50, .confidence = Confidence(0.9), .step = 0.1}),
      bits);
  const auto submit = [&](double loss) { return ladder.submit(std::vector<double>(100, loss)); };
  EXPECT_EQ(ladder.standing().lower, 0);  // nothing is claimed of no submissions
  EXPECT_NEAR(submit(0.52).best, 0.5, 1e-12);
  EXPECT_TRUE(ladder.standing().improved);
  EXPECT_NEAR(submit(0.45).best, 0.5, 1e-12);  // better, not by a step
  EXPECT_FALSE(ladder.standing().improved);
  EXPECT_NEAR(submit(0.9).best, 0.5, 1e-12);
  EXPECT_NEAR(submit(0.29).best, 0.3, 1e-12);
  Ladder resumed(ladder.save(), bits);
  EXPECT_NEAR(resumed.standing().best, 0.3, 1e-12);
  EXPECT_EQ(resumed.submissions_left(), 46);
  EXPECT_THROW(resumed.submit(std::vector<double>(99, 0.1)), Error);
  EXPECT_EQ(resumed.submissions_left(), 46);
  EXPECT_THROW(Ladder("[]", bits), Error);
}

TEST(Ladder, WidthIsThePublishedOne) {
  LadderPlan plan{10'000, 1000, 0.95, 0.05, {}};
  const double exponent = (1 / 0.05 + 2) * std::log(4 * 1000 / 0.05) + 1 + std::log(1 / 0.05);
  EXPECT_NEAR(ladder_width(plan), std::sqrt(exponent / 20'000) + 0.05, 1e-5);
  const LadderPlan best =
      plan_ladder({.rows = 10'000, .submissions = 1000, .confidence = Confidence(0.95)});
  for (const double factor : {0.8, 1.25}) {
    LadderPlan other = best;
    other.step *= factor;
    EXPECT_GE(ladder_width(other), ladder_width(best));
  }
}

TEST(Ladder, WithAnEpsilonItIsPaidForAndEnds) {
  test::SeededSource bits(4);
  const LadderPlan plan = plan_ladder({.rows = 10'000,
                                       .submissions = 50,
                                       .confidence = Confidence(0.9),
                                       .epsilon = Epsilon(2),
                                       .improvements = 2,
                                       .step = 0.1});
  const privacy::Profile profile(privacy_event(plan), Neighbors::replace_one);
  EXPECT_LE(profile.epsilon(Delta(0)).bounds.upper, 2 + 1e-9);
  Ladder ladder(plan, bits);
  EXPECT_NEAR(ladder.submit(std::vector<double>(10'000, 0.6)).best, 0.6, 1e-9);
  EXPECT_NEAR(ladder.submit(std::vector<double>(10'000, 0.59)).best, 0.6, 1e-9);
  EXPECT_NEAR(ladder.submit(std::vector<double>(10'000, 0.2)).best, 0.2, 1e-9);
  EXPECT_EQ(ladder.submissions_left(), 0);
  EXPECT_THROW(ladder.submit(std::vector<double>(10'000, 0.1)), Error);
}

// Boosting random submissions by what the leaderboard shows: the true loss of all is 1/2.
TEST(Ladder, DoesNotClimbByLuck) {
  test::SeededSource bits(5);
  constexpr std::size_t kRows = 500;
  Ladder ladder(plan_ladder({.rows = kRows, .submissions = 400, .confidence = Confidence(0.95)}),
                bits);
  std::vector<double> losses(kRows);
  double best_sample = 1;
  for (int i = 0; i < 400; ++i) {
    double sum = 0;
    for (double& loss : losses) sum += loss = bits.next_bit() ? 1 : 0;
    best_sample = std::min(best_sample, sum / kRows);
    const LadderStanding standing = ladder.submit(losses);
    EXPECT_LE(standing.lower, 0.5);
    EXPECT_GE(standing.upper, 0.5);
  }
  EXPECT_GT(ladder.standing().best, best_sample);
}

}  // namespace
}  // namespace shoal::adaptive

namespace shoal::mechanism {
namespace {

WeightsPlan weights_plan() {
  return plan_weights({.rows = 1'000'000,
                       .cells = 64,
                       .questions = 2000,
                       .accuracy = 0.1,
                       .epsilon = Epsilon(1),
                       .updates = 300});
}

TEST(MultiplicativeWeights, LearnsAHistogramThatItNeverTells) {
  test::SeededSource bits(6);
  std::vector<std::int64_t> histogram(64, 0);
  histogram[3] = 700'000;
  histogram[40] = 300'000;
  const WeightsPlan plan = weights_plan();
  const double error = weights_error(plan, Confidence(1 - 1e-6));
  EXPECT_LT(error, 0.12);
  MultiplicativeWeights weights(plan, std::vector<std::int64_t>(histogram), bits);
  std::vector<double> question(64);
  int updates = 0;
  for (int i = 0; i < 1500; ++i) {
    double truth = 0;
    for (std::size_t cell = 0; cell < 64; ++cell) {
      question[cell] = bits.next_bit() ? 1 : 0;
      truth += question[cell] * static_cast<double>(histogram[cell]) / 1e6;
    }
    const WeightsAnswer answer = weights.ask(question);
    ASSERT_NEAR(answer.value, truth, error) << i;
    updates += answer.updated ? 1 : 0;
  }
  EXPECT_LT(updates, 300);
  EXPECT_EQ(weights.updates_left(), 300 - updates);
  EXPECT_GT(weights.guess()[3], 0.4);
}

TEST(MultiplicativeWeights, CostsItsSparseVector) {
  const privacy::Charge charge =
      privacy::price(privacy_event(weights_plan()), Neighbors::replace_one);
  EXPECT_LE(*charge.epsilon_units, 1'000'000'000'001);
  EXPECT_GT(*charge.epsilon_units, 999'999'000'000);
}

TEST(MultiplicativeWeights, BadInputIsRefused) {
  test::SeededSource bits(7);
  const WeightsPlan plan = weights_plan();
  EXPECT_THROW(MultiplicativeWeights(plan, std::vector<std::int64_t>(63, 1), bits), Error);
  EXPECT_THROW(MultiplicativeWeights(plan, std::vector<std::int64_t>(64, 1), bits), Error);
  std::vector<std::int64_t> negative(64, 0);
  negative[0] = 1'000'001;
  negative[1] = -1;
  EXPECT_THROW(MultiplicativeWeights(plan, std::move(negative), bits), Error);
  EXPECT_THROW(
      plan_weights(
          {.rows = 10, .cells = 1, .questions = 1, .accuracy = 0.1, .epsilon = Epsilon(1)}),
      Error);
}

}  // namespace
}  // namespace shoal::mechanism
