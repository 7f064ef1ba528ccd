// Predicted errors: what was measured has a bound, what rests on the model has none, and the bound
// holds as often as it says.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"

#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/synth/predicted_error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::synth {
namespace {

using data::AttributeSet;

const std::vector<std::uint32_t> kSizes = {3, 4, 2};

// Exact counts of a table of 2400 rows with independent columns, all values alike.
std::vector<double> truth(AttributeSet set) {
  const auto cells = static_cast<std::size_t>(data::cell_count(kSizes, set));
  return std::vector<double>(cells, 2400.0 / static_cast<double>(cells));
}

NoisyMarginal measured(AttributeSet set, double sigma, random::BitSource& bits) {
  NoisyMarginal marginal{set, sigma, truth(set)};
  const random::DiscreteGaussianSampler sampler(sigma);
  for (double& count : marginal.counts) count += static_cast<double>(sampler.sample(bits));
  return marginal;
}

// Each prediction fails with probability at most 0.1; of 300, 58 or more fail with probability
// below 1e-6 even if it were exactly that (binomial, independent runs).
TEST(PredictedErrorTest, HoldsAsOftenAsItSays) {
  test::SeededSource bits(3);
  const Workload workload = {{AttributeSet::of({0, 1}), 1}, {AttributeSet::of({1}), 1}};
  int failures = 0;
  double tightest = 1e9;
  for (int run = 0; run < 150; ++run) {
    std::vector<NoisyMarginal> marginals = {measured(AttributeSet::of({0, 1}), 20, bits),
                                            measured(AttributeSet::of({1, 2}), 10, bits)};
    GraphicalModel model = GraphicalModel::fit(kSizes, marginals, {});
    const Synthesis synthesis{std::move(model), {}, std::move(marginals)};
    for (const PredictedError& one : predicted_errors(synthesis, workload, 0.1, 1)) {
      const std::vector<double> found = synthesis.model.marginal(one.set);
      const std::vector<double> exact = truth(one.set);
      double error = 0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        error += std::abs(found[i] / synthesis.model.total() - exact[i] / 2400);
      failures += error > one.bound.value() ? 1 : 0;
      tightest = std::min(tightest, *one.bound / error);
    }
  }
  EXPECT_LT(failures, 58);
  EXPECT_LT(tightest, 4);  // not so wide that it says nothing
}

TEST(PredictedErrorTest, IsWorkedOutFromTheBestLinearEstimate) {
  std::vector<NoisyMarginal> marginals = {{AttributeSet::of({1, 2}), 10, truth(AttributeSet(6))},
                                          {AttributeSet::of({1}), 5, truth(AttributeSet(2))}};
  GraphicalModel model = GraphicalModel::fit(kSizes, marginals, {});
  const Synthesis synthesis{std::move(model), {}, std::move(marginals)};
  const auto found = predicted_errors(
      synthesis, {{AttributeSet::of({1}), 1}, {AttributeSet::of({0, 1}), 1}}, 0.05, 1);
  // Column 1: variances 2 * 100 and 25 together; the model agrees with both measurements.
  const double sigma = std::sqrt(1 / (1 / 200.0 + 1 / 25.0));
  const double noise = sigma * (4 * std::sqrt(2 * std::log(2)) + std::sqrt(8 * std::log(20)));
  EXPECT_NEAR(found[0].bound.value(), noise / 2400, 1e-3 * noise / 2400);
  EXPECT_FALSE(found[1].bound.has_value());
  EXPECT_EQ(test::code_of([&] { predicted_errors(synthesis, {}, 1, 1); }),
            ErrorCode::invalid_argument);
}

// What no measurement holds may have more cells than there is memory: it is not worked out.
TEST(PredictedErrorTest, TablesThatNothingHoldsAreNotMade) {
  const std::vector<std::uint32_t> sizes(40, 2);
  const Synthesis synthesis{
      GraphicalModel::from_tables(sizes, {AttributeSet::of({0})}, {{0.0, 0.0}}, 10), {}, {}};
  const auto found =
      predicted_errors(synthesis, {{AttributeSet((std::uint64_t{1} << 40) - 1), 1}}, 0.05, 1);
  EXPECT_FALSE(found[0].bound.has_value());
}

}  // namespace
}  // namespace shoal::synth
