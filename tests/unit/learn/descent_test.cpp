#include "support/learning_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/descent.hpp>
#include <shoal/learn/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

Problem problem_of() {
  Problem problem;
  problem.dimension = 5;
  problem.row_norm = 1;
  return problem;
}

std::vector<double> gradient_at(const RowSource& rows, const Loss& loss,
                                const std::vector<double>& w) {
  std::vector<double> sum(5);
  BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      double z = 0;
      for (std::size_t j = 0; j < 5; ++j) z += block.values[i * 5 + j] * w[j];
      const double s = slope(loss, z, block.labels[i]);
      for (std::size_t j = 0; j < 5; ++j) sum[j] += s * block.values[i * 5 + j];
    }
  }
  return sum;
}

// With gradients that are exact, the path ends where the solver says the minimum is: l2, l1, set
// and momentum all mean what they mean there.
TEST(Descents, EndAtTheMinimum) {
  const auto rows = test::make_rows({.rows = 600}, 7);
  for (const double momentum : {0.0, 0.9}) {
    for (const bool constrained : {false, true}) {
      Problem problem = problem_of();
      if (constrained) {
        problem.regulariser.l1 = 4;
        problem.set = L2Ball{1.5};
      }
      DescentOptions options;
      options.steps = 3000;
      options.momentum = momentum;
      options.l2 = 5;
      const DescentPath path = descent_path(problem, options, {}, 0);
      Descent descent(problem, path, 600);
      for (int t = 0; t < 3000; ++t)
        descent.step(gradient_at(*rows, problem.loss, descent.weights()));
      Objective objective;
      objective.regulariser = {5, problem.regulariser.l1};
      objective.set = problem.set;
      const auto exact = minimise(*rows, objective, {}).weights;
      const auto found = descent.result();
      EXPECT_TRUE(contains(problem.set, found, 1e-12));
      for (std::size_t j = 0; j < 5; ++j)
        EXPECT_NEAR(found[j], exact[j], 1e-4) << momentum << " " << constrained;
    }
  }
}

// The mean of the last half, and of none: the last iterate.
TEST(Descents, AverageWhatWasAskedFor) {
  const Problem problem = problem_of();
  for (const double averaged : {0.0, 0.5, 1.0}) {
    DescentOptions options;
    options.steps = 4;
    options.momentum = 0;
    options.averaged = averaged;
    options.row_step = 1;
    options.l2 = 0;
    Descent descent(problem, descent_path(problem, options, {}, 0), 1);
    for (int t = 0; t < 4; ++t) descent.step(std::vector<double>(5, -1.0));
    // The iterates are 1, 2, 3, 4.
    EXPECT_DOUBLE_EQ(descent.result()[0], averaged == 0 ? 4 : averaged == 0.5 ? 3.5 : 2.5);
  }
}

TEST(Descents, StayFiniteWhateverTheGradient) {
  const Problem problem = problem_of();
  DescentOptions options;
  options.steps = 50;
  options.l2 = 0;
  Descent descent(problem, descent_path(problem, options, {.steps = 50, .momentum = 0.9}, 0), 0);
  for (int t = 0; t < 50; ++t) descent.step(std::vector<double>(5, t % 2 ? 1e60 : -1e60));
  for (const double w : descent.result()) EXPECT_TRUE(std::isfinite(w));
}

TEST(Descents, RefuseBadNumbers) {
  const auto path = [](const DescentOptions& options) {
    descent_path(problem_of(), options, {.steps = 10, .momentum = 0.9}, 1);
  };
  EXPECT_NO_THROW(path({}));
  EXPECT_THROW(path({.steps = 0}), Error);
  EXPECT_THROW(path({.steps = kMaxDescentSteps + 1}), Error);
  EXPECT_THROW(path({.row_step = 0.0}), Error);
  EXPECT_THROW(path({.momentum = 1.0}), Error);
  EXPECT_THROW(path({.averaged = 1.5}), Error);
  EXPECT_THROW(path({.l2 = -1.0}), Error);
  EXPECT_THROW(path({.l2 = std::nan("")}), Error);
  EXPECT_THROW(path({.weight_norm = -1}), Error);
}

}  // namespace
}  // namespace shoal::learn
