#include "learn/methods.hpp"
#include "support/learning_rows.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/risk.hpp>
#include <shoal/learn/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::make_rows;
using test::SeededSource;
using test::uniform;
using test::uniform_vector;

Problem problem_of(const Loss& loss, std::size_t dimension) {
  Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = 1;
  return problem;
}

TEST(Risk, IsTheMeanLoss) {
  SeededSource bits(1);
  const std::vector<double> weights = uniform_vector(bits, 4, 2);
  MemoryRows dense(4, 1, 1, LabelKind::sign);
  MemoryRows sparse(4, 1, 1, LabelKind::sign);
  double sum = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::vector<double> x = uniform_vector(bits, 2, 0.6);
    const double y = bits.next_bit() ? 1 : -1;
    dense.add_dense(std::vector<double>{0, x[0], 0, x[1]}, y);
    sparse.add_sparse(std::vector<std::uint32_t>{1, 3}, x, y);
    sum += std::log1p(std::exp(-y * (x[0] * weights[1] + x[1] * weights[3])));
  }
  EXPECT_NEAR(empirical_risk(Logistic{}, dense, weights), sum / 5000, 1e-12);
  EXPECT_NEAR(empirical_risk(Logistic{}, sparse, weights), sum / 5000, 1e-12);
  EXPECT_EQ(empirical_risk(Logistic{}, MemoryRows(4, 1, 1, LabelKind::sign), weights), 0);

  MemoryRows classes(1, 1, 2, LabelKind::number);
  classes.add_dense(std::vector<double>{1}, 2);
  const std::vector<double> by_class = {0.5, -1, 2};
  const double expected = -2 + std::log(std::exp(0.5) + std::exp(-1) + std::exp(2));
  EXPECT_NEAR(empirical_risk(Softmax{3}, classes, by_class), expected, 1e-12);
}

TEST(Risk, RangesHoldEveryLoss) {
  SeededSource bits(2);
  for (const Loss& loss : {Loss(Squared{}), Loss(Logistic{}), Loss(HuberisedHinge{0.5}),
                           Loss(Hinge{}), Loss(Huber{0.3}), Loss(LogCosh{}), Loss(Poisson{1, 6})}) {
    const bool count = std::holds_alternative<Poisson>(loss);
    const double label_bound = count ? 6 : 1;
    const LossRange range = loss_range(loss, 2.5, label_bound);
    double most = -1e9;
    double least = 1e9;
    for (int i = 0; i < 20'000; ++i) {
      const double z = i < 4 ? (i % 2 == 0 ? 2.5 : -2.5) : uniform(bits, -2.5, 2.5);
      double y = i < 4 ? (i < 2 ? label_bound : count ? 0 : -1) : uniform(bits, -1, 1);
      if (bounds(loss).two_classes) y = y > 0 ? 1 : -1;
      if (count && i >= 4) y = 6 * std::fabs(y);
      most = std::max(most, value(loss, z, y));
      least = std::min(least, value(loss, z, y));
    }
    EXPECT_GE(least, range.least) << name(loss);
    EXPECT_DOUBLE_EQ(most, range.most) << name(loss);
  }
}

// 1000 intervals of 90 %: more than 130 misses have a chance below 1e-3 if the bound were exact;
// the bound is wider than that.
TEST(Risk, IntervalsCover) {
  SeededSource bits(3);
  int missed = 0;
  double width = 0;
  for (int i = 0; i < 1000; ++i) {
    LossSummary summary({0, 1});
    for (int k = 0; k < 1000; ++k) summary.add(uniform(bits, 0, 1) < 0.05 ? 1 : 0);
    const RiskEstimate estimate = summary.population_risk(0.9);
    missed += estimate.lower > 0.05 || estimate.upper < 0.05 ? 1 : 0;
    width = std::max(width, estimate.upper - estimate.lower);
  }
  EXPECT_LE(missed, 130);
  EXPECT_LT(width, 0.1);
  const RiskEstimate nothing = LossSummary({-1, 2}).population_risk(0.9);
  EXPECT_EQ(nothing.lower, -1);
  EXPECT_EQ(nothing.upper, 2);
  EXPECT_THROW(LossSummary({0, 1}).population_risk(1), Error);
}

TEST(Risk, ExcessAndGap) {
  Problem problem = problem_of(Logistic{}, 5);
  problem.regulariser.l2 = 1e-3;
  const auto rows = make_rows({.rows = 2000}, 5);
  const auto others = make_rows({.rows = 2000}, 5);
  Objective objective;
  objective.regulariser = problem.regulariser;
  const std::vector<double> best = minimise(*rows, objective, {}).weights;
  EXPECT_NEAR(excess_risk(problem, *rows, best), 0, 1e-9);
  EXPECT_GT(excess_risk(problem, *rows, std::vector<double>(5, 0.0)), 0.1);
  EXPECT_EQ(generalisation_gap(Logistic{}, *rows, *others, best), 0);  // the same rows
  const auto new_rows = make_rows({.rows = 30}, 6);
  EXPECT_NEAR(generalisation_gap(Logistic{}, *rows, *new_rows, best),
              empirical_risk(Logistic{}, *new_rows, best) - empirical_risk(Logistic{}, *rows, best),
              1e-15);
}

// Mean excess over 400 trainings.
template <typename Spec>
double mean_excess(const Spec& method, const Problem& problem, const RowSource& rows,
                   std::span<const double> best) {
  SeededSource bits(8);
  double sum = 0;
  for (int i = 0; i < 400; ++i)
    sum += empirical_risk(problem.loss, rows, train(method, problem, rows, bits, {.threads = 1}));
  return sum / 400 - empirical_risk(problem.loss, rows, best);
}

// The bounds hold in the mean of 400 trainings (ten times the standard error below them), on rows
// where the loss is a parabola around 0.
TEST(Risk, ExpectedExcessIsABound) {
  const Problem problem = problem_of(Huber{1}, 1);
  for (const double delta : {1e-6, 0.0}) {
    const ObjectivePerturbation objective =
        calibrate_objective(problem, Neighbors::add_remove, Epsilon(2), Delta(delta));
    MemoryRows rows(1, 1, 1, LabelKind::number);
    // Where the loss costs most: as much curvature as the regulariser has.
    const int n = static_cast<int>(objective.l2) + 1;
    for (int i = 0; i < n; ++i) rows.add_dense(std::vector<double>{1}, 0);
    const std::vector<double> best = {0};
    const auto bound = expected_excess_risk(objective, problem, 0);
    ASSERT_TRUE(bound);
    const double at_most = bound->fixed + bound->over_rows / n;
    const double found = mean_excess(objective, problem, rows, best);
    EXPECT_LT(found, at_most * 0.5);  // a quarter of it, by theory
    EXPECT_GT(found, at_most * 0.1);

    // Little noise, so that the loss is a parabola: the bound is reached.
    const OutputPerturbation output =
        calibrate_output(problem, Neighbors::add_remove, Epsilon(2), Delta(delta), 40);
    const auto reached = expected_excess_risk(output, problem, 0);
    ASSERT_TRUE(reached);
    const double mean = mean_excess(output, problem, rows, best);
    EXPECT_LT(mean, 1.35 * (reached->fixed + reached->over_rows / n));
    // Pure noise is so small here that the grid's half step takes half of the bound.
    EXPECT_GT(mean, (delta > 0 ? 0.7 : 0.35) * (reached->fixed + reached->over_rows / n));
    // Longer weights cost more shrinking, and every bound grows with it.
    EXPECT_NEAR(expected_excess_risk(output, problem, 3)->over_rows, 40 * 9 / 2.0, 1e-9);
    EXPECT_NEAR(reached->generalisation, 2.0 / 40, 1e-9);
  }
  Problem squared = problem_of(Squared{}, 1);
  EXPECT_FALSE(expected_excess_risk(
      calibrate_adassp(squared, Neighbors::add_remove, Epsilon(1), Delta(1e-6)), squared, 1));
}

}  // namespace
}  // namespace shoal::learn
