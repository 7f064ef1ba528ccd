// Estimates: values and intervals from released integers, and their coverage.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/plan/estimate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

constexpr const char* kPolicy = R"(
[dataset]
name = "t"
lineage = "t"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "t.ledger"
[table.t]
source = "t.csv"
format = "csv"
[table.t.column.x]
type = "integer"
bounds = [-40, 60]
[table.t.column.r]
type = "real"
bounds = [0, 1]
)";

Plan plan_of(const char* sql, QueryOptions options) {
  static const catalog::Policy kParsed = catalog::parse_policy(kPolicy, "/");
  return make_plan(sql, kParsed, options);
}

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

// Simulates releases of known sums. False alarm: with 4,000 runs at 95%, fewer than 93.5% covered
// has probability below 1e-5 even if coverage were exactly nominal (4.35 standard deviations); the
// seed is fixed anyway.
TEST(Estimate, IntervalsCoverAtLeastAsOftenAsStated) {
  const int runs = 4000;
  for (const bool gaussian : {false, true}) {
    QueryOptions options{0.5};
    if (gaussian) options = {0.5, 1e-5, 0.95, NoiseChoice::gaussian};
    const Plan plan = plan_of("SELECT COUNT(*), AVG(x), SUM(x), SUM(r) FROM t", options);
    // 50 rows, 45 values of x with sum 900; r sums to 20.
    std::vector<Int128> exact;
    for (const catalog::Statistic& statistic : plan.statistics) {
      switch (statistic.kind) {
        case catalog::StatisticKind::rows:
          exact.push_back(50);
          break;
        case catalog::StatisticKind::values:
          exact.push_back(45);
          break;
        case catalog::StatisticKind::centred_sum:
          exact.push_back(900 - 45 * statistic.range.middle());
          break;
        case catalog::StatisticKind::plain_sum:
          exact.push_back(static_cast<Int128>(20 / statistic.range.grid.step()));
          break;
      }
    }
    const double truth[] = {50, 20, 900, 20};
    test::SeededSource bits(11);
    std::vector<int> covered(4, 0);
    for (int run = 0; run < runs; ++run) {
      std::vector<Int128> released = exact;
      for (std::size_t i = 0; i < released.size(); ++i)
        released[i] += sample(plan.noises[i].mechanism, bits);
      for (std::size_t j = 0; j < 4; ++j) {
        const Estimate one = estimate(plan, plan.outputs[j], released);
        EXPECT_LE(one.lower, one.upper);
        covered[j] += one.lower <= truth[j] && truth[j] <= one.upper ? 1 : 0;
      }
    }
    for (const int count : covered)
      EXPECT_GE(count, runs * 0.935) << (gaussian ? "gaussian" : "laplace");
    // Counts and plain sums are not wider than they need be.
    EXPECT_LE(covered[0], runs * 0.975);
    EXPECT_LE(covered[3], runs * 0.975);
  }
}

}  // namespace
}  // namespace shoal::plan
