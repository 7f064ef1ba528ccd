// The bounds against independent evaluations, and solved in every direction.
#include "support/golden.hpp"

#include <shoal/adaptive/generalization.hpp>
#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::adaptive {
namespace {

TEST(Generalization, WidthsAndCountsAreThePublishedOnes) {
  int rows = 0;
  for (const auto& row : test::read_golden_text("generalization")) {
    const Bound bound = parse_bound(row.at(0));
    const double a = std::stod(row.at(2));
    const double b = std::stod(row.at(3));
    const Confidence confidence(1 - std::stod(row.at(4)));
    double found = 0;
    if (row.at(1) == "width") found = width_of(bound, {a, b, confidence}).width;
    if (row.at(1) == "questions") found = questions_for(bound, b, a, confidence);
    if (row.at(1) == "rows") found = rows_for(bound, a, b, confidence);
    EXPECT_NEAR(found, std::stod(row.at(5)), std::stod(row.at(6)) + 1e-12)
        << row.at(0) << " " << row.at(1) << " " << row.at(2) << " " << row.at(3);
    ++rows;
  }
  EXPECT_EQ(rows, 34);
}

TEST(Generalization, TheSharperBoundsWin) {
  const Sample sample{1e6, 1000, Confidence(0.95)};
  EXPECT_EQ(best_adaptive(sample).bound, Bound::kl_posterior);
  EXPECT_EQ(best_adaptive({1e6, 1000, Confidence(1 - 1e-6)}).bound, Bound::tanh_posterior);
  // Few questions: nothing beats a fresh part of the sample for each.
  EXPECT_EQ(best_adaptive({1e6, 2, Confidence(0.95)}).bound, Bound::splitting);
}

TEST(Generalization, SigmaIsTheBestOne) {
  const Sample sample{1e6, 1000, Confidence(0.95)};
  const NamedWidth best = best_adaptive(sample);
  for (const double factor : {0.8, 0.95, 1.05, 1.25}) {
    EXPECT_GE(width_at_sigma(sample, factor * best.width.sigma).width.width,
              best.width.width * (1 - 1e-6));
  }
  EXPECT_NEAR(width_at_sigma(sample, best.width.sigma).width.width, best.width.width, 1e-9);
}

TEST(Generalization, EveryNumberSolvesForTheOthers) {
  for (const Bound bound : all_bounds()) {
    const Confidence confidence(0.9);
    const double rows = 3e6;
    const double questions = 50;
    const double width = width_of(bound, {rows, questions, confidence}).width;
    if (width >= 1) continue;
    const double wider = width * (1 + 1e-5);
    EXPECT_NEAR(rows_for(bound, wider, questions, confidence) / rows, 1, 1e-3) << to_string(bound);
    if (bound != Bound::hoeffding) {
      EXPECT_NEAR(questions_for(bound, wider, rows, confidence), questions, 1) << to_string(bound);
    }
    EXPECT_NEAR(confidence_for(bound, wider, rows, questions), 0.9, 2e-3) << to_string(bound);
  }
}

TEST(Generalization, MoreIsBetterOrWorseAsItShouldBe) {
  for (const Bound bound : all_bounds()) {
    const auto width = [&](double rows, double questions, double confidence) {
      return width_of(bound, {rows, questions, Confidence(confidence)}).width;
    };
    EXPECT_LT(width(4e6, 30, 0.95), width(1e6, 30, 0.95)) << to_string(bound);
    EXPECT_LE(width(1e6, 30, 0.95), width(1e6, 300, 0.95)) << to_string(bound);
    EXPECT_LT(width(1e6, 30, 0.95), width(1e6, 30, 0.99)) << to_string(bound);
  }
}

TEST(Generalization, TransferTheoremsAreAsStated) {
  // b / c + 2 delta / ((1 + e^epsilon) d) = beta at the best c and d.
  const double b = 1e-6;
  const double delta = 1e-8;
  const double epsilon = 0.05;
  const Confidence confidence(0.95);
  double least = 1;
  for (double c = 1e-5; c < 1e-3; c *= 1.002) {
    const double left = 0.05 - b / c;
    if (left <= 0) continue;
    const double d = 2 * delta / ((1 + std::exp(epsilon)) * left);
    least = std::min(least, 0.01 + std::tanh(epsilon / 2) + c + d);
  }
  EXPECT_NEAR(tanh_transfer(0.01, b, epsilon, delta, confidence), least, 1e-7);
  EXPECT_GT(jlnrss_transfer(0.01, b, epsilon, delta, confidence), least);
  EXPECT_TRUE(std::isinf(tanh_transfer(0.01, 0.06, epsilon, 0, confidence)));
  EXPECT_THROW(tanh_transfer(-1, b, epsilon, delta, confidence), Error);
}

TEST(Generalization, TheExpectationBoundIsTight) {
  EXPECT_NEAR(expectation_gap(0.5, 1e-3), 0.24567374374130543, 1e-12);
  EXPECT_LE(expectation_gap(0.5, 1e-3), 0.5 / 2 + 1e-3);
  // One bit through randomized response: the sample of one row, told with epsilon, and h chosen to
  // be what was told. E h(S) - E h(P) is e^eps / (1 + e^eps) - 1/2, twice for the other bit.
  const double told = std::exp(0.5) / (1 + std::exp(0.5));
  EXPECT_NEAR(expectation_gap(0.5, 0) / 2, told - 0.5, 1e-12);
}

TEST(Generalization, BadNumbersAreRefused) {
  EXPECT_THROW(width_of(Bound::rogers, {0, 1, Confidence(0.9)}), Error);
  EXPECT_THROW(width_of(Bound::rogers, {10, 0, Confidence(0.9)}), Error);
  EXPECT_THROW(rows_for(Bound::rogers, 1.5, 1, Confidence(0.9)), Error);
  EXPECT_THROW(width_at_sigma({10, 1, Confidence(0.9)}, 0), Error);
  EXPECT_THROW(parse_bound("guess"), Error);
  for (const Bound bound : all_bounds()) EXPECT_EQ(parse_bound(to_string(bound)), bound);
}

}  // namespace
}  // namespace shoal::adaptive
