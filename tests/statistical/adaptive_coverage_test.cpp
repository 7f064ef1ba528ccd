// Coverage against an analyst who tries to overfit: asks for the mean of each of many random
// features, and then for the vote of all of them, each on the side where its answer was. Every true
// mean is 1/2. Exact answers fall for it every time; stated intervals must cover at least as often
// as they say.
#include "support/seeded_source.hpp"

#include <shoal/adaptive/gaussian_answerer.hpp>
#include <shoal/adaptive/holdout.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace shoal::adaptive {
namespace {

constexpr std::size_t kRows = 10'000;
constexpr int kFeatures = 400;
constexpr int kRuns = 60;
// 60 runs that miss with probability 0.1 each miss more than 18 times with probability below 1e-5.
constexpr double kConfidence = 0.9;
constexpr int kMostMisses = 18;

struct Interval {
  double value;
  double lower;
  double upper;
};

// From the sum of 0 and 1 over the rows.
using Answerer = std::function<Interval(std::int64_t)>;

// Whether every interval covered 1/2.
bool covers(const Answerer& ask, random::BitSource& bits) {
  std::vector<double> votes(kRows, 0);
  std::vector<std::uint64_t> feature((kRows + 63) / 64);
  bool covered = true;
  const auto check = [&](const Interval& answer) {
    covered = covered && answer.lower <= 0.5 && 0.5 <= answer.upper;
    return answer.value;
  };
  for (int j = 0; j < kFeatures; ++j) {
    std::int64_t ones = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      if (i % 64 == 0) feature[i / 64] = bits.next_u64();
      ones += static_cast<std::int64_t>(feature[i / 64] >> (i % 64) & 1);
    }
    const double weight = check(ask(ones)) > 0.5 ? 1 : -1;
    for (std::size_t i = 0; i < kRows; ++i) {
      votes[i] += (feature[i / 64] >> (i % 64) & 1) != 0 ? weight : -weight;
    }
  }
  std::int64_t ones = 0;
  for (const double vote : votes) ones += vote > 0 ? 1 : 0;
  check(ask(ones));
  return covered;
}

int misses(const std::function<Answerer()>& make, std::uint64_t seed) {
  test::SeededSource bits(seed);
  int missed = 0;
  for (int run = 0; run < kRuns; ++run) missed += covers(make(), bits) ? 0 : 1;
  return missed;
}

TEST(AdaptiveCoverage, ExactAnswersFallForIt) {
  const double width =
      width_of(Bound::union_bound, {kRows, kFeatures + 1, Confidence(kConfidence)}).width;
  const auto make = [&]() -> Answerer {
    return [width](std::int64_t ones) -> Interval {
      const double mean = static_cast<double>(ones) / kRows;
      return {mean, mean - width, mean + width};
    };
  };
  EXPECT_EQ(misses(make, 1), kRuns);
}

TEST(AdaptiveCoverage, TheGaussianAnswererCovers) {
  const AnswererPlan plan = plan_answerer(kRows, kFeatures + 1, Confidence(kConfidence));
  test::SeededSource noise(2);
  const auto make = [&]() -> Answerer {
    const auto answerer = std::make_shared<GaussianAnswerer>(plan, noise);
    return [answerer](std::int64_t ones) -> Interval {
      const MeanAnswer answer = answerer->ask_sum(static_cast<Int128>(ones) * kGridSteps);
      return {answer.value, answer.lower, answer.upper};
    };
  };
  EXPECT_LE(misses(make, 3), kMostMisses);
}

// The holdout with so little tolerance that it tells what it can, and with so large an epsilon that
// only counting protects; when it is exhausted the analyst goes on with what was learnt.
TEST(AdaptiveCoverage, TheHoldoutCovers) {
  const HoldoutPlan plan = plan_holdout({.rows = kRows,
                                         .questions = kFeatures + 1,
                                         .disagreements = 150,
                                         .confidence = Confidence(kConfidence),
                                         .epsilon = Epsilon(900),
                                         .tolerance = 0.004});
  test::SeededSource noise(4);
  const auto make = [&]() -> Answerer {
    const auto holdout = std::make_shared<Holdout>(plan, noise);
    return [holdout](std::int64_t ones) -> Interval {
      if (holdout->exhausted()) return {0.5, 0, 1};
      const HoldoutAnswer answer = holdout->ask_sum(0.5, static_cast<Int128>(ones) * kGridSteps);
      return {answer.value, answer.lower, answer.upper};
    };
  };
  EXPECT_LE(misses(make, 5), kMostMisses);
}

}  // namespace
}  // namespace shoal::adaptive
