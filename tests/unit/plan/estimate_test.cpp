// Estimates: values and intervals from released integers, and their limits.
#include "support/plan_fixture.hpp"

#include <shoal/plan/estimate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

using test::plan_of;

Estimate estimate(const Plan& plan, std::vector<Int128> values) {
  return estimate(plan, 0, plan.aggregates.at(0), {{}, std::move(values), {}}, plan.confidence);
}

TEST(Estimate, CountsStayUnbiasedAndTheirIntervalsPossible) {
  const Plan plan = plan_of("SELECT COUNT(*) FROM t", {1});
  const Estimate low = estimate(plan, {-5});
  EXPECT_EQ(low.value, -5);
  EXPECT_EQ(low.lower, 0);
  EXPECT_EQ(low.upper, 0);
  const Estimate high = estimate(plan, {100});
  EXPECT_EQ(high.lower, 97);
  EXPECT_EQ(high.upper, 103);
}

// A quantile's interval is made at its release, so with what the column that shares it most needs.
TEST(Estimate, QuantilesInsideExpressionsShareTheConfidence) {
  const auto confidence = [](const char* sql) {
    return plan_of(sql, {1}).noises.at(0).quantiles.at(0).confidence;
  };
  EXPECT_DOUBLE_EQ(confidence("SELECT MEDIAN(x) FROM t"), 0.95);
  EXPECT_DOUBLE_EQ(confidence("SELECT MEDIAN(x) * 2 FROM t"), 0.95);
  EXPECT_DOUBLE_EQ(confidence("SELECT MEDIAN(x) / COUNT(*) FROM t"), 0.975);
  EXPECT_DOUBLE_EQ(confidence("SELECT MEDIAN(x), AVG(r) + MEDIAN(x) + SUM(r) * MEDIAN(x), "
                              "COUNT(*) + SUM(r) + AVG(x) + AVG(r) FROM t"),
                   1 - 0.05 / 3);
}

TEST(Estimate, AveragesStayWithinTheBounds) {
  const Plan plan = plan_of("SELECT AVG(x) FROM t", {1});
  ASSERT_EQ(plan.statistics.size(), 2u);
  // x in [-40, 60]: the middle is 10. 100 values, 30 above it on average.
  const Estimate good = estimate(plan, {100, 3000});
  EXPECT_DOUBLE_EQ(good.value, 40);
  EXPECT_LT(good.lower, 40);
  EXPECT_GT(good.upper, 40);
  for (const Int128 count : {Int128{-1000}, Int128{0}, Int128{1}}) {
    const Estimate odd = estimate(plan, {count, 1'000'000});
    EXPECT_EQ(odd.value, 60);
    EXPECT_LE(odd.upper, 60);
    EXPECT_GE(odd.lower, -40);
  }
}

TEST(Estimate, VariancesLieBetweenNothingAndTheSquareOfHalfTheRange) {
  const Plan plan = plan_of("SELECT VAR_POP(x) FROM t", {1});
  ASSERT_EQ(plan.statistics.size(), 3u);
  ASSERT_EQ(plan.statistics[2].kind, catalog::StatisticKind::centred_squares);
  const catalog::GridRange& range = plan.statistics[1].range;
  const Int128 steps = static_cast<Int128>(std::lround(1 / range.grid.step()));
  const Int128 offset = catalog::square_offset(range);
  // 1,000,000 values, half of them 20 above the middle and half 10 below: the mean is 5 above it,
  // the variance 15^2.
  const Int128 count = 1'000'000;
  const Int128 sum = count * 5 * steps;
  const Int128 squares = count * 250 * steps * steps - count * offset;
  const Estimate good = estimate(plan, {count, sum, squares});
  EXPECT_NEAR(good.value, 225, 1e-6);
  EXPECT_LT(good.lower, 225);
  EXPECT_GT(good.upper, 225);
  EXPECT_LT(good.upper - good.lower, 20);
  for (const Int128 odd : {Int128{-1'000'000}, Int128{0}, Int128{3}}) {
    const Estimate one = estimate(plan, {odd, sum, squares});
    EXPECT_GE(one.lower, 0);
    EXPECT_LE(one.upper, 2500 * 1.0001);
    EXPECT_LE(one.lower, one.upper);
  }
}

}  // namespace
}  // namespace shoal::plan
