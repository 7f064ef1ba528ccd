#include "learn/methods.hpp"
#include "learn/step_scores.hpp"
#include "support/choice_law.hpp"
#include "support/learning_rows.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/conversion.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::SeededSource;
using test::uniform;
using test::uniform_vector;

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Problem problem_of(const Loss& loss, std::size_t dimension, double radius = 2) {
  Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = std::sqrt(static_cast<double>(dimension));
  problem.set = L1Ball{radius};
  return problem;
}

MemoryRows rows_of(const Problem& problem) {
  return MemoryRows(problem.dimension, problem.row_norm, problem.label_bound,
                    bounds(problem.loss).two_classes ? LabelKind::sign : LabelKind::number);
}

// At whatever weights, a row moves the log-chances of the corners by a span of at most what one
// step is charged; the hinge, whose slope is 1, by that.
TEST(FrankWolfe, AStepSpansWhatIsCharged) {
  SeededSource bits(6);
  for (const Loss& loss : {Loss(Logistic{}), Loss(Hinge{}), Loss(Squared{})}) {
    for (const Neighbors neighbors : {kAdd, kReplace}) {
      const Problem problem = problem_of(loss, 3);
      const FrankWolfe method = calibrate_frank_wolfe(problem, neighbors, Epsilon(1), Delta(1e-6),
                                                      {.steps = 10, .feature_bound = 0.75});
      const double charged = step_epsilon_up(method);
      double widest = 0;
      for (int i = 0; i < 500; ++i) {
        MemoryRows first = rows_of(problem);
        MemoryRows second = rows_of(problem);
        // Beyond the bound, so that clamping is needed.
        const std::vector<double> x = uniform_vector(bits, 3, 1.5);
        const double y = uniform(bits, -1, 1);
        first.add_dense(x, y);
        if (neighbors == kReplace) second.add_dense(std::vector<double>{-x[0], -x[1], -x[2]}, y);
        std::vector<double> weights = uniform_vector(bits, 3, 0.6);
        const test::LossSpan span =
            test::loss_span(corner_scores(method, problem, first, weights, 1),
                            corner_scores(method, problem, second, weights, 1), method.scale);
        EXPECT_LE(span.most - span.least, charged * (1 + 1e-9)) << name(loss);
        widest = std::max(widest, span.most - span.least);
      }
      if (std::holds_alternative<Hinge>(loss)) {
        EXPECT_GT(widest, charged * 0.999);
      }
    }
  }
}

TEST(FrankWolfe, ChargesAdaptiveComposition) {
  const Problem problem = problem_of(Logistic{}, 50);
  for (const int steps : {1, 7, 100}) {
    for (const double delta : {0.0, 1e-6}) {
      const FrankWolfe method =
          calibrate_frank_wolfe(problem, kAdd, Epsilon(0.8), Delta(delta), {.steps = steps});
      const double once = step_epsilon_up(method);
      const privacy::Event event = privacy_event(method, problem);
      if (const auto* zcdp = std::get_if<privacy::event::Zcdp>(&event.node())) {
        EXPECT_NEAR(zcdp->rho, steps * once * once / 8, 1e-12);
        EXPECT_LE(privacy::epsilon_of_rho_up(Rho(zcdp->rho), Delta(delta)), 0.8);
        EXPECT_GT(privacy::epsilon_of_rho_up(Rho(zcdp->rho), Delta(delta)), 0.7999);
        EXPECT_GT(steps, 1);  // alone, pure is better
      } else {
        const auto& pure = std::get<privacy::event::Pure>(event.node());
        EXPECT_LE(pure.epsilon, 0.8);
        EXPECT_NEAR(pure.epsilon, steps * once, 1e-12);
      }
    }
  }
  FrankWolfe method = calibrate_frank_wolfe(problem, kAdd, Epsilon(0.8), Delta(1e-6));
  method.scale *= 0.999;
  EXPECT_THROW(privacy_event(method, problem), Error);
}

// 4000 draws of one step; a chi-square as large has a chance of 1e-4.
TEST(FrankWolfe, DrawsTheLawThatWasProven) {
  const Problem problem = problem_of(Hinge{}, 2, 1);
  const FrankWolfe method =
      calibrate_frank_wolfe(problem, kAdd, Epsilon(0.6), Delta(0), {.steps = 1});
  FrankWolfe half = method;
  half.scale /= 2;
  MemoryRows rows = rows_of(problem);
  for (int i = 0; i < 3; ++i) rows.add_dense(std::vector<double>{1, 0.25}, 1);
  const std::vector<double> law = test::log_chances(
      corner_scores(method, problem, rows, std::vector<double>{0, 0}, 1), method.scale);
  for (const FrankWolfe& used : {method, half}) {
    SeededSource bits(8);
    std::vector<int> counts(4);
    for (int i = 0; i < 4000; ++i) {
      const std::vector<double> w = train(used, problem, rows, bits, {.threads = 1});
      ++counts[w[0] != 0 ? (w[0] > 0 ? 0 : 1) : (w[1] > 0 ? 2 : 3)];
    }
    if (used == method) {
      EXPECT_GT(test::fit_of(counts, law), 1e-4);
    } else {
      EXPECT_LT(test::fit_of(counts, law), 1e-6);
    }
  }
}

// Two features of 300 decide; one step's noise hardly grows with the others.
TEST(FrankWolfe, LearnsFromManyFeatures) {
  const Problem problem = problem_of(Logistic{}, 300, 6);
  SeededSource bits(10);
  MemoryRows rows = rows_of(problem);
  std::vector<std::vector<double>> kept;
  std::vector<double> labels;
  for (int i = 0; i < 3000; ++i) {
    kept.push_back(uniform_vector(bits, 300, 1));
    labels.push_back(kept.back()[7] - kept.back()[200] > 0 ? 1 : -1);
    rows.add_dense(kept.back(), labels.back());
  }
  const FrankWolfe method =
      calibrate_frank_wolfe(problem, kAdd, Epsilon(4), Delta(1e-6), {.steps = 20});
  const std::vector<double> weights = train(method, problem, rows, bits, {.threads = 2});
  double norm = 0;
  for (const double w : weights) norm += std::fabs(w);
  EXPECT_LE(norm, 6 * (1 + 1e-12));
  int right = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    double z = 0;
    for (std::size_t j = 0; j < 300; ++j) z += kept[i][j] * weights[j];
    right += z * labels[i] > 0 ? 1 : 0;
  }
  EXPECT_GT(right, 2400);
}

TEST(FrankWolfe, RefusesWhatPublicFactsShow) {
  const auto code_of = [](const Problem& problem, const FrankWolfeOptions& options) {
    try {
      calibrate_frank_wolfe(problem, kAdd, Epsilon(1), Delta(1e-6), options);
    } catch (const Error& failure) {
      return failure.code();
    }
    return ErrorCode::internal;
  };
  Problem problem = problem_of(Logistic{}, 3);
  EXPECT_EQ(code_of(problem, {.steps = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(problem, {.steps = kMostFrankWolfeSteps + 1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(problem, {.feature_bound = 0}), ErrorCode::invalid_argument);
  problem.regulariser.l2 = 1;
  EXPECT_EQ(code_of(problem, {}), ErrorCode::invalid_argument);
  problem = problem_of(Logistic{}, 3);
  problem.set = L2Ball{1};
  EXPECT_EQ(code_of(problem, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(problem_of(Softmax{3}, 3), {}), ErrorCode::unsupported);
}

}  // namespace
}  // namespace shoal::learn
