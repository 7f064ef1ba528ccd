// The search behind calibration, on made-up profiles: it must come close in few steps where they
// are well-behaved, and stay honest where they are not.
#include "privacy/parameter_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Counted {
  SearchSpace space;
  int visits = 0;
};

// Heights are given as a function of the logarithm of the key, those of the lower bound `gap`
// higher; the target's height is 0.
template <class Height>
void prepare(Counted& counted, const Height& height, double gap) {
  SearchSpace& space = counted.space;
  space.judge = [&counted, height, gap](double key) {
    ++counted.visits;
    const double upper = height(std::log(key));
    const double lower = upper + gap;
    return Verdict{upper >= 0, lower < 0, upper, lower};
  };
  space.place = [](double key) { return std::log(key); };
  space.at_or_above = [](double place) { return std::exp(place); };
  space.at_or_below = [](double place) { return std::exp(place); };
  space.close = [](double enough, double less) { return enough <= less * (1 + 1e-6); };
  space.least = 1e-9;
  space.most = 1e9;
  space.height = 0;
  space.slope = 2;
  space.tolerance = 1e-6;
}

// Of a zCDP event an upper bound is known, and from below only that it may be Gaussian noise: in
// between nothing is proven, and the verdict must say so.
TEST(ParameterSearch, TheJudgeSaysWhatIsProven) {
  const Target target{Epsilon(1), Delta(1e-6)};
  const Judge judge(target);
  const auto verdict = [&judge](double rho) { return judge(event::Zcdp{rho}); };
  EXPECT_TRUE(verdict(0.005).sufficient);
  EXPECT_FALSE(verdict(0.005).insufficient);
  EXPECT_TRUE(verdict(0.5).insufficient);
  EXPECT_FALSE(verdict(0.5).sufficient);
  // Gaussian noise of sigma 4.2246794 meets the target: rho = 1 / (2 sigma^2) = 0.02801.
  const Verdict between = verdict(0.0275);
  EXPECT_FALSE(between.sufficient);
  EXPECT_FALSE(between.insufficient);
  EXPECT_LT(between.height_of_upper, judge.height());
  EXPECT_GT(between.height_of_lower, judge.height());
}

TEST(ParameterSearch, TheJudgeOfPureEvents) {
  const Judge judge({Epsilon(1), Delta(0)});
  EXPECT_TRUE(judge(event::Laplace{1.001, 1}).sufficient);
  EXPECT_TRUE(judge(event::Laplace{0.999, 1}).insufficient);
  EXPECT_FALSE(judge(event::Gaussian{1e6, 1}).sufficient);
  EXPECT_EQ(judge.epsilon_of_sufficient(event::Laplace{1, 1}).bounds.upper, 1);
}

TEST(ParameterSearch, SmoothProfilesTakeFewVisits) {
  for (const double slope : {0.5, 1.0, 2.0, 10.0, 60.0}) {
    for (const double start : {-3.0, 0.0, 1.19, 1.21, 4.0}) {
      Counted counted;
      prepare(
          counted,
          [slope](double place) { return slope * (place - 1.2) + 0.1 * std::sin(place - 1.2); }, 0);
      const Crossing found = find_crossing(counted.space, start);
      ASSERT_TRUE(found.sufficient && found.insufficient);
      EXPECT_GE(*found.sufficient, std::exp(1.2) * (1 - 1e-15));
      EXPECT_LT(*found.insufficient, std::exp(1.2));
      EXPECT_LE(*found.sufficient, *found.insufficient * (1 + 1e-6));
      EXPECT_LE(counted.visits, 14) << slope << ' ' << start;
    }
  }
}

// An accountant that knows delta only roughly: both ends are found, each to the tolerance.
TEST(ParameterSearch, BothBoundsAreSolvedWhereTheyDiffer) {
  Counted counted;
  prepare(
      counted, [](double place) { return 2 * place; }, 0.02);
  const Crossing found = find_crossing(counted.space, 0.7);
  ASSERT_TRUE(found.sufficient && found.insufficient);
  EXPECT_GE(*found.sufficient, 1);
  EXPECT_LE(*found.sufficient, 1 + 1e-6);
  EXPECT_LE(*found.insufficient, std::exp(-0.01));
  EXPECT_GE(*found.insufficient, std::exp(-0.01) * (1 - 1e-6));
  EXPECT_LE(counted.visits, 14);
}

// Delta 1 below and delta 0 above, nothing between to draw a line through.
TEST(ParameterSearch, AStepIsBisected) {
  Counted counted;
  prepare(
      counted, [](double place) { return place < 0.3 ? -kInfinity : kInfinity; }, 0);
  const Crossing found = find_crossing(counted.space, -2);
  ASSERT_TRUE(found.sufficient && found.insufficient);
  EXPECT_LE(*found.sufficient, *found.insufficient * (1 + 1e-6));
  EXPECT_NEAR(std::log(*found.sufficient), 0.3, 1e-6);
}

// A bound that fails for no reason in places: what is returned passed itself.
TEST(ParameterSearch, GapsInTheUpperBoundCostOnlyAccuracy) {
  Counted counted;
  prepare(
      counted,
      [](double place) {
        return std::fmod(std::abs(place * 1000), 7) < 3 ? -kInfinity : 2 * (place - 1);
      },
      0);
  // Nothing is proven where the upper bound failed.
  const auto judge = counted.space.judge;
  counted.space.judge = [judge](double key) {
    Verdict verdict = judge(key);
    if (verdict.height_of_upper == -kInfinity) {
      verdict.insufficient = false;
      verdict.height_of_lower = kInfinity;
    }
    return verdict;
  };
  const Crossing found = find_crossing(counted.space, 1.3);
  ASSERT_TRUE(found.sufficient);
  EXPECT_TRUE(judge(*found.sufficient).sufficient);
  EXPECT_LE(std::log(*found.sufficient), 1.3);
  EXPECT_LE(counted.visits, 200);
}

TEST(ParameterSearch, ALowerBoundThatSaysNothingIsGivenUp) {
  Counted counted;
  prepare(
      counted, [](double place) { return 2 * place; }, kInfinity);
  const Crossing found = find_crossing(counted.space, 0.5);
  ASSERT_TRUE(found.sufficient);
  EXPECT_LE(*found.sufficient, 1 + 1e-6);
  EXPECT_FALSE(found.insufficient);
  EXPECT_LE(counted.visits, 40);
}

TEST(ParameterSearch, EndsOfTheRange) {
  Counted never;
  prepare(
      never, [](double) { return -1.0; }, 0);
  EXPECT_FALSE(find_crossing(never.space, 0).sufficient);
  Counted always;
  prepare(
      always, [](double) { return 1.0; }, 0);
  const Crossing found = find_crossing(always.space, 0);
  EXPECT_EQ(found.sufficient, 1e-9);
  EXPECT_FALSE(found.insufficient);
}

TEST(ParameterSearch, WholeNumbersAreClosedToTheLast) {
  for (const double largest : {1.0, 2.0, 3.0, 89.0, 123456.0, 999999999.0}) {
    Counted counted;
    prepare(
        counted, [](double place) { return place; }, 0);
    SearchSpace& space = counted.space;
    space.judge = [&](double count) {
      ++counted.visits;
      const double height = std::log(largest + 0.5) - std::log(count);
      return Verdict{count <= largest, count > largest, height, height};
    };
    space.place = [](double count) { return -std::log(count); };
    space.at_or_above = [](double place) {
      return std::max(1.0, std::floor(std::exp(-place) * (1 + 1e-14)));
    };
    space.at_or_below = [](double place) { return std::ceil(std::exp(-place) * (1 - 1e-14)); };
    space.close = [](double enough, double more) { return more - enough <= 1; };
    space.least = 1e9;
    space.most = 1;
    space.tolerance = 0;
    const Crossing found = find_crossing(space, 0);
    EXPECT_EQ(found.sufficient, largest);
    EXPECT_EQ(found.insufficient, largest + 1);
    EXPECT_LE(counted.visits, 40);
  }
}

}  // namespace
}  // namespace shoal::privacy
