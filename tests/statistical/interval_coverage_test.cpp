// Intervals cover the exact value at least as often as they say, for every aggregate and both
// noises.
#include "support/plan_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/plan/estimate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

using test::plan_of;

// Simulates releases of known sums. False alarm: with 4,000 runs at 95%, fewer than 93.5% covered
// has probability below 1e-5 even if coverage were exactly nominal (4.35 standard deviations); the
// seed is fixed anyway.
TEST(IntervalCoverage, IsAtLeastNominal) {
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
        default:
          FAIL() << "a statistic that was not asked for";
      }
    }
    const double truth[] = {50, 20, 900, 20};
    test::SeededSource bits(11);
    std::vector<int> covered(4, 0);
    for (int run = 0; run < runs; ++run) {
      std::vector<Int128> released = exact;
      for (std::size_t i = 0; i < released.size(); ++i)
        released[i] += mechanism::sample(*plan.noises[0].statistics[i].noise, bits);
      for (std::size_t j = 0; j < 4; ++j) {
        const Estimate one =
            estimate(plan, 0, plan.aggregates[j], {{}, released, {}}, plan.confidence);
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
