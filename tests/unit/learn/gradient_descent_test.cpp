#include "learn/methods.hpp"
#include "support/golden.hpp"
#include "support/learning_rows.hpp"
#include "support/trained_law.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::SeededSource;

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Problem problem_of(const Loss& loss = Logistic{}, std::size_t dimension = 5) {
  Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = 1;
  return problem;
}

double sigma_of(const GradientDescent& method) {
  return std::ldexp(method.noise.sigma, method.noise.exponent);
}

// sqrt(T) times the Gaussian mechanism's golden sigma; twice that for an exchange.
TEST(GradientCalibration, AgreesWithGoldenValues) {
  int compared = 0;
  for (const auto& row : test::read_golden_text("learning")) {
    if (row[0] != "gauss_sigma") continue;
    const double epsilon = std::stod(row[1].substr(row[1].find("eps=") + 4));
    const double delta = std::stod(row[1].substr(row[1].find("delta=") + 6));
    const double golden = std::stod(row[3]);
    for (const std::int64_t steps : {1, 100}) {
      for (const Neighbors neighbors : {kAdd, kReplace}) {
        const auto method = calibrate_gradient(problem_of(), neighbors, Epsilon(epsilon),
                                               Delta(delta), {.steps = steps, .rows = 1000.0});
        const double expected =
            golden * std::sqrt(static_cast<double>(steps)) * (neighbors == kReplace ? 2 : 1);
        EXPECT_GE(sigma_of(method) / expected, 1 - 1e-14);
        EXPECT_LE(sigma_of(method) / expected, 1 + 1e-9);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 12);
}

// The reserved event, asked of the accountant: within the target, and near it.
TEST(GradientCalibration, TheAccountantAgrees) {
  for (const Neighbors neighbors : {kAdd, kReplace}) {
    for (const bool counted : {true, false}) {
      DescentOptions options;
      if (!counted) options.rows = 500;
      const Problem problem = problem_of();
      const auto method = calibrate_gradient(problem, neighbors, Epsilon(1), Delta(1e-6), options);
      const privacy::Profile profile(privacy_event(method, problem), neighbors);
      const auto delta = profile.delta(1).bounds;
      EXPECT_LE(delta.lower, 1e-6);
      EXPECT_LE(delta.upper, 1.001e-6);
      EXPECT_GE(delta.upper, neighbors == kReplace && counted ? 0.8e-6 : 0.99e-6);
    }
  }
}

TEST(GradientCalibration, TooLittleNoiseOrTooManyStepsAreRefused) {
  const Problem problem = problem_of();
  const auto method = calibrate_gradient(problem, kAdd, Epsilon(1), Delta(1e-6));
  const auto refused = [&](auto change) {
    GradientDescent other = method;
    change(other);
    EXPECT_THROW(privacy_event(other, problem), Error);
  };
  EXPECT_NO_THROW(privacy_event(method, problem));
  refused([](auto& m) { m.noise.sigma *= 0.999; });
  refused([](auto& m) { m.path.steps += 1; });
  refused([](auto& m) { m.noise.clip *= 1.01; });
  refused([](auto& m) { m.noise.exponent -= 1; });
  refused([](auto& m) { m.count_sigma *= 0.5; });
  refused([](auto& m) { m.count_sigma = 0; });
  refused([](auto& m) { m.neighbors = kReplace; });
  refused([](auto& m) { m.path.momentum = 1; });
  const auto calibrate = [&](const DescentOptions& options, double delta = 1e-6) {
    calibrate_gradient(problem, kAdd, Epsilon(1), Delta(delta), options);
  };
  EXPECT_THROW(calibrate({}, 0), Error);
  EXPECT_THROW(calibrate({.steps = 0}), Error);
  EXPECT_THROW(calibrate({.row_step = -1}), Error);
  EXPECT_THROW(calibrate({.weight_norm = 0}), Error);
  EXPECT_THROW(calibrate({.rows = 0.5}), Error);
  EXPECT_THROW(calibrate({.clip = -1}), Error);
  EXPECT_THROW(calibrate_gradient(problem_of(Squared{}), kAdd, Epsilon(1), Delta(1e-6)), Error);
  EXPECT_NO_THROW(
      calibrate_gradient(problem_of(Squared{}), kAdd, Epsilon(1), Delta(1e-6), {.clip = 1.0}));
}

// Weights after four steps, in units of the noise that is claimed for all of them together.
std::vector<double> draws(const GradientDescent& method, double claimed_sigma, int rows,
                          std::uint64_t seed, int count) {
  const Problem problem = test::worst_problem();
  const MemoryRows data = test::worst_rows(rows);
  SeededSource bits(seed);
  std::vector<double> found;
  for (int i = 0; i < count; ++i) {
    const double w = train(method, problem, data, bits, {.threads = 1})[0];
    const double pulled = w * method.path.rows / method.path.row_step;
    found.push_back(pulled / (claimed_sigma * std::sqrt(static_cast<double>(method.path.steps))));
  }
  return found;
}

GradientDescent worst_method(double epsilon, double delta) {
  return calibrate_gradient(
      test::worst_problem(), kAdd, Epsilon(epsilon), Delta(delta),
      {.steps = 4, .row_step = 1e-6, .momentum = 0, .averaged = 0, .l2 = 0, .rows = 1.0});
}

// False alarms: 4e-4 in all.
TEST(GradientLaw, IsTheOneThatWasProven) {
  const GradientDescent method = worst_method(1, 0.01);
  const double mu = gradient_mu_up(method);
  EXPECT_NEAR(mu, 2 / sigma_of(method), 1e-6);
  for (const int rows : {0, 1}) {
    const auto cdf = [&](double x) { return test::normal_cdf(x - rows * mu); };
    EXPECT_LT(test::kolmogorov(draws(method, sigma_of(method), rows, 31, 2000), cdf), 2.15);
    GradientDescent half = method;
    half.noise.sigma /= 2;
    EXPECT_GT(test::kolmogorov(draws(half, sigma_of(method), rows, 31, 2000), cdf), 4);
  }
}

// An exchange of a row for its opposite moves the weight twice as far, and the noise is twice as
// large: the same law. False alarms: 4e-4 in all.
TEST(GradientLaw, HoldsForAnExchange) {
  const auto method = calibrate_gradient(
      test::worst_problem(), kReplace, Epsilon(1), Delta(0.01),
      {.steps = 4, .row_step = 1e-6, .momentum = 0, .averaged = 0, .l2 = 0, .rows = 1.0});
  const double mu = gradient_mu_up(method);
  EXPECT_NEAR(mu, gradient_mu_up(worst_method(1, 0.01)), 1e-6);
  for (const int sign : {-1, 1}) {
    MemoryRows rows(1, 1, 1, LabelKind::sign);
    rows.add_dense(std::vector<double>{1}, sign);
    SeededSource bits(41);
    std::vector<double> found;
    for (int i = 0; i < 2000; ++i) {
      const double w = train(method, test::worst_problem(), rows, bits, {.threads = 1})[0];
      found.push_back(w / method.path.row_step / (2 * sigma_of(method)));
    }
    const auto cdf = [&](double x) { return test::normal_cdf(x - sign * mu / 2); };
    EXPECT_LT(test::kolmogorov(found, cdf), 2.15);
  }
}

// Noise shared by coordinates or steps would cancel. The mean of n products of independent standard
// normal variables is beyond 5 / sqrt(n) with a chance below 1e-6.
TEST(GradientLaw, CoordinatesHaveNoiseOfTheirOwn) {
  const Problem problem = problem_of(Logistic{}, 3);
  const MemoryRows none(3, 1.0, 1.0, LabelKind::sign);
  const auto method = calibrate_gradient(
      problem, kAdd, Epsilon(1), Delta(1e-3),
      {.steps = 2, .row_step = 1, .momentum = 0, .averaged = 0, .l2 = 0, .rows = 1.0});
  SeededSource bits(6);
  constexpr int kDraws = 3000;
  double products[3] = {0, 0, 0};
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    auto w = train(method, problem, none, bits, {.threads = 1});
    for (double& x : w) x /= sigma_of(method) * std::sqrt(2.0);
    for (std::size_t j = 0; j < 3; ++j) products[j] += w[j] * w[(j + 1) % 3] / kDraws;
    squares += (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / (3 * kDraws);
  }
  for (const double one : products) EXPECT_NEAR(one, 0, 5 / std::sqrt(1.0 * kDraws));
  EXPECT_NEAR(squares, 1, 5 * std::sqrt(2.0 / (3 * kDraws)));
}

// The best test between the worst neighbours, which is one threshold, told exactly: its delta is
// the target's, and half of the noise is caught.
TEST(GradientLaw, WorstNeighboursReachTheTargetAndNoMore) {
  const GradientDescent method = worst_method(1, 0.01);
  const auto delta = [](double mu) {
    const double cut = 1 / mu + mu / 2;  // where the log ratio is epsilon = 1
    return test::normal_cdf(mu - cut) - std::exp(1.0) * test::normal_cdf(-cut);
  };
  EXPECT_LE(delta(gradient_mu_up(method)), 0.01 * (1 + 1e-12));
  EXPECT_GE(delta(gradient_mu_up(method)), 0.01 * (1 - 1e-6));
  EXPECT_GT(delta(2 * gradient_mu_up(method)), 0.1);
}

TEST(GradientTraining, DependsOnNoThreadsAndDrawsTheSameBitsForAnyRows) {
  const Problem problem = problem_of();
  const auto method = calibrate_gradient(problem, kAdd, Epsilon(1), Delta(1e-6), {.steps = 5});
  const auto rows = test::make_rows({.rows = 9000}, 1);
  SeededSource first(9);
  SeededSource second(9);
  SeededSource third(9);
  const auto once = train(method, problem, *rows, first, {.threads = 1});
  EXPECT_EQ(train(method, problem, *rows, second, {.threads = 4}), once);
  train(method, problem, *test::make_rows({.rows = 3}, 2), third, {.threads = 1});
  const std::uint64_t next = first.next_u64();
  EXPECT_EQ(second.next_u64(), next);
  EXPECT_EQ(third.next_u64(), next);
}

TEST(GradientTraining, LearnsKeepsTheSetAndTakesAnyRows) {
  for (const Loss& loss : std::vector<Loss>{Logistic{}, HuberisedHinge{0.5}, Hinge{}}) {
    Problem problem = problem_of(loss);
    problem.set = L2Ball{3};
    problem.regulariser.l1 = 0.5;
    const auto method = calibrate_gradient(problem, kAdd, Epsilon(2), Delta(1e-6));
    SeededSource bits(3);
    const auto rows = test::make_rows({.rows = 8000}, 11);
    const auto weights = train(method, problem, *rows, bits, {});
    EXPECT_TRUE(contains(problem.set, weights, 1e-12));
    BlockBuffer buffer;
    int right = 0;
    for (std::size_t b = 0; b < rows->block_count(); ++b) {
      const RowBlock block = rows->block(b, buffer);
      for (std::size_t i = 0; i < block.rows; ++i) {
        double z = 0;
        for (std::size_t j = 0; j < 5; ++j) z += block.values[i * 5 + j] * weights[j];
        right += z * block.labels[i] > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(right, 7200) << name(loss);
    for (int odd = 0; odd < 3; ++odd) {
      MemoryRows few(5, 1.0, 1.0, LabelKind::sign);
      if (odd == 1) few.add_dense(std::vector<double>(5, INFINITY), std::nan(""));
      if (odd == 2) few.add_dense(std::vector<double>(5, 0.0), 1);
      for (const double w : train(method, problem, few, bits, {})) EXPECT_TRUE(std::isfinite(w));
    }
  }
}

}  // namespace
}  // namespace shoal::learn
