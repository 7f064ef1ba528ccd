// Estimates: values and intervals from released integers, and their limits.
#include "support/plan_fixture.hpp"

#include <shoal/plan/estimate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

using test::plan_of;

TEST(Estimate, CountsStayUnbiasedAndTheirIntervalsPossible) {
  const Plan plan = plan_of("SELECT COUNT(*) FROM t", {1});
  const std::vector<Int128> released{-5};
  const Estimate low = estimate(plan, plan.outputs[0], released);
  EXPECT_EQ(low.value, -5);
  EXPECT_EQ(low.lower, 0);
  EXPECT_EQ(low.upper, 0);
  const Estimate high = estimate(plan, plan.outputs[0], std::vector<Int128>{100});
  EXPECT_EQ(high.lower, 97);
  EXPECT_EQ(high.upper, 103);
}

TEST(Estimate, AveragesStayWithinTheBounds) {
  const Plan plan = plan_of("SELECT AVG(x) FROM t", {1});
  ASSERT_EQ(plan.statistics.size(), 2u);
  // x in [-40, 60]: the middle is 10. 100 values, 30 above it on average.
  const Estimate good = estimate(plan, plan.outputs[0], std::vector<Int128>{100, 3000});
  EXPECT_DOUBLE_EQ(good.value, 40);
  EXPECT_LT(good.lower, 40);
  EXPECT_GT(good.upper, 40);
  for (const Int128 count : {Int128{-1000}, Int128{0}, Int128{1}}) {
    const Estimate odd = estimate(plan, plan.outputs[0], std::vector<Int128>{count, 1'000'000});
    EXPECT_EQ(odd.value, 60);
    EXPECT_LE(odd.upper, 60);
    EXPECT_GE(odd.lower, -40);
  }
}

}  // namespace
}  // namespace shoal::plan
