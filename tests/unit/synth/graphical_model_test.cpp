// Estimation, against sums over the whole domain.
#include "support/ledger_requests.hpp"
#include "synth/belief_tree.hpp"
#include "unit/synth/whole_domain.hpp"

#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/workload.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shoal::synth {
namespace {

TEST(GraphicalModelTest, AFitIsTheSameForAnyNumberOfThreads) {
  const std::vector<std::uint32_t> sizes = {40, 40, 60, 5};
  test::SeededSource bits(9);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set :
       {AttributeSet::of({0, 1, 2}), AttributeSet::of({2, 3}), AttributeSet::of({0})}) {
    marginals.push_back({set, 3, {}});
    for (std::int64_t i = 0; i < data::cell_count(sizes, set); ++i) {
      marginals.back().counts.push_back(20 * uniform(bits) * uniform(bits));
    }
  }
  FitOptions options;
  options.max_iterations = 12;
  const GraphicalModel one = GraphicalModel::fit(sizes, marginals, options);
  ASSERT_GT(one.cells(), std::int64_t{1} << 16);
  for (const int threads : {0, 2, 3}) {
    options.threads = threads;
    const GraphicalModel model = GraphicalModel::fit(sizes, marginals, options);
    EXPECT_EQ(model.report().iterations, one.report().iterations);
    EXPECT_EQ(model.report().promise, one.report().promise);
    EXPECT_EQ(model.potentials(), one.potentials());
    for (std::size_t c = 0; c < one.beliefs().tree().cliques.size(); ++c) {
      EXPECT_TRUE(std::ranges::equal(model.beliefs().belief(c), one.beliefs().belief(c)));
    }
  }
}

// The conditions of the optimum: n p_r - y_r + w sigma^2 theta_r = 0, where the potentials that the
// residuals define must give the same density.
TEST(GraphicalModelTest, FitsTheRegularisedOptimum) {
  test::SeededSource bits(11);
  std::vector<NoisyMarginal> marginals;
  double sigma = 3;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, sigma += 2, {}};
    const auto cells = static_cast<std::size_t>(data::cell_count(kSizes, set));
    marginal.counts.resize(cells);
    for (double& count : marginal.counts)
      count = 2000.0 / static_cast<double>(cells) * uniform(bits) - 20;
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.shrinkage = {0.05, 0.05, 0.05};
  options.tolerance = 1e-12;
  options.max_iterations = 2000;
  const GraphicalModel model = GraphicalModel::fit(kSizes, marginals, options);
  EXPECT_TRUE(model.report().converged);
  std::vector<std::vector<double>> potentials;
  for (const NoisyMarginal& marginal : marginals) {
    const auto fitted = model.marginal(marginal.set);
    const double sum = std::accumulate(marginal.counts.begin(), marginal.counts.end(), 0.0);
    const double shift = (model.total() - sum) / static_cast<double>(fitted.size());
    const double ridge = options.shrinkage[0] * marginal.sigma * marginal.sigma;
    potentials.emplace_back();
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      potentials.back().push_back((marginal.counts[i] + shift - fitted[i]) / ridge);
    }
  }
  const BruteForce truth = brute_force(potentials);
  const auto joint = model.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < joint.size(); ++i) {
    EXPECT_NEAR(joint[i] / model.total(), truth.joint[i], 1e-6);
  }
}

// With a prior, the residual of each part is its log-linear table times sigma^2 cells / (n
// variance): here of one column and of a pair, from the joint density.
TEST(GraphicalModelTest, APriorLeavesResidualsInProportionToTheEffects) {
  const std::vector<std::uint32_t> sizes = {3, 4};
  const AttributeSet both = AttributeSet::of({0, 1});
  const double sigma = 30;
  const std::vector<double> counts = {120, 40, 260, 90, 310, 75, 20, 55, 10, 190, 60, 150};
  FitOptions options;
  options.prior_variance = 0.7;
  options.tolerance = 1e-12;
  options.max_iterations = 2000;
  const GraphicalModel model = GraphicalModel::fit(sizes, {{{both, sigma, counts}}}, options);
  EXPECT_TRUE(model.report().converged);
  const auto joint = model.marginal(both);
  std::vector<double> residual(12);
  std::vector<double> logs(12);
  for (std::size_t i = 0; i < 12; ++i) {
    residual[i] = counts[i] - joint[i];
    logs[i] = std::log(joint[i]);
  }
  const auto effect = [](const std::vector<double>& table, std::size_t r, std::size_t c) {
    double row = 0;
    double column = 0;
    double all = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      if (i / 4 == r) row += table[i] / 4;
      if (i % 4 == c) column += table[i] / 3;
      all += table[i] / 12;
    }
    return table[4 * r + c] - row - column + all;
  };
  const double expected = sigma * sigma * 12 / (model.total() * 0.7);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(effect(residual, r, c), expected * effect(logs, r, c), 1e-3) << r << " " << c;
    }
  }
  options.prior_variance = 0;
  EXPECT_THROW(GraphicalModel::fit(sizes, {{{both, sigma, counts}}}, options), Error);
}

TEST(GraphicalModelTest, ReproducesConsistentMarginals) {
  const auto potentials = random_potentials(9, 2);
  const BruteForce truth = brute_force(potentials);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, 1, brute_marginal(truth.joint, set, kSizes)};
    for (double& count : marginal.counts) count *= 1e6;
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.shrinkage = {1e-3, 1e-3, 1e-3};
  options.tolerance = 1e-10;
  const GraphicalModel model = GraphicalModel::fit(kSizes, marginals, options);
  EXPECT_NEAR(model.total(), 1e6, 1e-3);
  const auto joint = model.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < joint.size(); ++i) EXPECT_NEAR(joint[i] / 1e6, truth.joint[i], 1e-5);
}

TEST(GraphicalModelTest, MergesRepeatedMarginalsByInverseVariance) {
  const std::vector<std::uint32_t> sizes = {2};
  const AttributeSet set = AttributeSet::of({0});
  const std::vector<NoisyMarginal> marginals = {{set, 1, {600, 400}}, {set, 3, {700, 400}}};
  FitOptions options;
  options.shrinkage = {1e-6, 1e-6, 1e-6};
  options.tolerance = 1e-12;
  const GraphicalModel model = GraphicalModel::fit(sizes, marginals, options);
  EXPECT_NEAR(model.total(), (1000 + 1100 / 9.0) / (1 + 1 / 9.0), 1e-9);
  EXPECT_NEAR(model.marginal(set)[0], (600 + 700 / 9.0) / (1 + 1 / 9.0), 1e-2);
}

TEST(GraphicalModelTest, AWarmStartGivesTheSameModelInFewerSteps) {
  test::SeededSource bits(13);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, 5, {}};
    marginal.counts.resize(static_cast<std::size_t>(data::cell_count(kSizes, set)));
    for (double& count : marginal.counts) count = 100 * uniform(bits);
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.tolerance = 1e-8;
  const GraphicalModel cold = GraphicalModel::fit(kSizes, marginals, options);
  const GraphicalModel warm = GraphicalModel::fit(kSizes, marginals, options, &cold);
  EXPECT_LT(warm.report().iterations, 2);
  EXPECT_GT(cold.report().iterations, 5);
  const auto a = cold.marginal(AttributeSet(63));
  const auto b = warm.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
}

TEST(GraphicalModelTest, RefusesWhatDoesNotFit) {
  using test::code_of;
  const std::vector<std::uint32_t> sizes = {2, 3};
  const AttributeSet set = AttributeSet::of({1});
  const auto fit = [&](NoisyMarginal marginal, double weight) {
    FitOptions options;
    options.shrinkage[1] = weight;
    return code_of([&] { GraphicalModel::fit(sizes, {&marginal, 1}, options); });
  };
  EXPECT_EQ(code_of([&] { GraphicalModel::fit(sizes, {}, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2}}, 0.1), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 0, {1, 2, 3}}, 0.1), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2, 3}}, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2, 3}}, 0.1), std::nullopt);
}

}  // namespace
}  // namespace shoal::synth
