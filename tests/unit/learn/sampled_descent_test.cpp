#include "learn/methods.hpp"
#include "learn/poisson_sample.hpp"
#include "support/accounting_rows.hpp"
#include "support/learning_rows.hpp"
#include "support/trained_law.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::normal_cdf;
using test::SeededSource;

constexpr Neighbors kAdd = Neighbors::add_remove;

Problem problem_of() {
  Problem problem;
  problem.dimension = 5;
  problem.row_norm = 1;
  return problem;
}

double ratio_of(const SampledDescent& method) {
  return method.noise.sigma / gradient_sensitivity(method.noise);
}

// Independent values of epsilon for 100 steps of sampled Gaussian noise give back its sigma.
TEST(SampledCalibration, AgreesWithGoldenValues) {
  int compared = 0;
  for (const test::AccountingRow& row : test::accounting_rows()) {
    const privacy::Event event = privacy::event_from_json(row.event);
    const auto* repeat = std::get_if<privacy::event::Repeat>(&event.node());
    if (!row.epsilon_asked || !repeat || repeat->count != 100) continue;
    const auto* sampled = std::get_if<privacy::event::PoissonSampled>(&repeat->event.node());
    if (!sampled || sampled->rate < 0.05) continue;
    const auto* noise = std::get_if<privacy::event::Gaussian>(&sampled->event.node());
    if (!noise || noise->sigma < 1 || compared == 3) continue;
    const auto method =
        calibrate_sampled(problem_of(), kAdd, Epsilon(row.upper), Delta(row.at),
                          {.descent = {.steps = 100, .rows = 1000.0}, .rate = sampled->rate});
    EXPECT_NEAR(ratio_of(method) / noise->sigma, 1, 3e-3) << row.name();
    EXPECT_GE(rate(method), sampled->rate);
    EXPECT_LE(rate(method), sampled->rate + 0x1p-32);
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

TEST(SampledCalibration, TooLittleNoiseIsRefusedAndBothRelationsAreTaken) {
  const Problem problem = problem_of();
  for (const Neighbors neighbors : {kAdd, Neighbors::replace_one}) {
    const auto method = calibrate_sampled(problem, neighbors, Epsilon(1), Delta(1e-6),
                                          {.descent = {.steps = 20}, .rate = 0.25});
    EXPECT_EQ(privacy_event(method, problem),
              privacy::Event(privacy::event::EpsilonDelta{1, 1e-6}));
    const auto refused = [&](auto change) {
      SampledDescent other = method;
      change(other);
      EXPECT_THROW(privacy_event(other, problem), Error);
    };
    refused([](auto& m) { m.noise.sigma *= 0.98; });
    refused([](auto& m) { m.rate_units += m.rate_units / 16; });
    refused([](auto& m) { m.path.steps *= 2; });
    refused([](auto& m) { m.rate_units = 0; });
    refused([](auto& m) { m.count_sigma = 0; });
  }
  const auto calibrate = [&](double delta, double rate) {
    calibrate_sampled(problem, kAdd, Epsilon(1), Delta(delta), {.rate = rate});
  };
  EXPECT_THROW(calibrate(0, 0.1), Error);
  EXPECT_THROW(calibrate(1e-6, 0), Error);
  EXPECT_THROW(calibrate(1e-6, 1.5), Error);
}

// Every row is in by a coin of its own: the number of times it was in is binomial. The sum of
// squares over 200 rows is a chi-square of 200 degrees; beyond 5 of its deviations with a chance
// below 1e-5.
TEST(PoissonSample, HasItsLaw) {
  SeededSource bits(2);
  const std::uint64_t units = (std::uint64_t{1} << 32) / 5;
  const double q = static_cast<double>(units) * 0x1p-32;
  constexpr int kDraws = 4000;
  std::vector<int> times(200);
  int together = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto chosen = poisson_sample(200, units, bits);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    for (const std::uint64_t one : chosen) ++times.at(one);
    together += std::binary_search(chosen.begin(), chosen.end(), 7u) &&
                std::binary_search(chosen.begin(), chosen.end(), 8u);
  }
  double squares = 0;
  for (const int one : times) squares += std::pow(one - kDraws * q, 2) / (kDraws * q * (1 - q));
  EXPECT_NEAR(squares, 200, 5 * std::sqrt(400.0));
  EXPECT_NEAR(together, kDraws * q * q, 5 * std::sqrt(kDraws * q * q));
  EXPECT_EQ(poisson_sample(5000, std::uint64_t{1} << 32, bits).size(), 5000);
  EXPECT_TRUE(poisson_sample(5000, 0, bits).empty());
  EXPECT_TRUE(poisson_sample(0, units, bits).empty());
}

SampledDescent one_step(double noise_ratio) {
  SampledDescent method;
  method.rate_units = std::uint64_t{1} << 30;
  method.noise.clip = 1;
  method.noise.exponent = gradient_exponent(1, noise_ratio);
  method.noise.sigma = noise_ratio * gradient_sensitivity(method.noise);
  method.path = {.steps = 1, .row_step = 1e-6, .momentum = 0, .averaged = 0, .l2 = 0, .rows = 1};
  return method;
}

std::vector<double> draws(const SampledDescent& method, double claimed_ratio, int rows) {
  const Problem problem = test::worst_problem();
  const MemoryRows data = test::worst_rows(rows);
  SeededSource bits(17);
  std::vector<double> found;
  for (int i = 0; i < 3000; ++i) {
    const double w = train(method, problem, data, bits, {.threads = 1})[0];
    found.push_back(w * rate(method) / method.path.row_step / claimed_ratio);
  }
  return found;
}

// A row that is in a quarter of the samples: a mixture of two Gaussians, and without it one. False
// alarms: 4e-4 in all.
TEST(SampledLaw, IsTheMixtureThatTheAccountantPrices) {
  const double ratio = 0.5;
  const SampledDescent method = one_step(ratio);
  const auto law = [&](int rows) {
    return [=](double x) {
      return rows == 0 ? normal_cdf(x) : 0.75 * normal_cdf(x) + 0.25 * normal_cdf(x - 1 / ratio);
    };
  };
  EXPECT_LT(test::kolmogorov(draws(method, ratio, 0), law(0)), 2.15);
  EXPECT_LT(test::kolmogorov(draws(method, ratio, 1), law(1)), 2.15);
  // Half the noise, and a row that is in every sample, are caught.
  EXPECT_GT(test::kolmogorov(draws(one_step(ratio / 2), ratio, 1), law(1)), 4);
  SampledDescent always = method;
  always.rate_units = std::uint64_t{1} << 32;
  EXPECT_GT(test::kolmogorov(draws(always, ratio, 1), law(1)), 4);
  // No noise where the sample is empty: three quarters of the draws are exactly 0.
  std::vector<double> quiet = draws(method, ratio, 1);
  SeededSource bits(3);
  for (double& one : quiet)
    if (poisson_sample(1, method.rate_units, bits).empty()) one = 0;
  EXPECT_GT(test::kolmogorov(quiet, law(1)), 4);
}

// The divergence of that mixture, by quadrature, is what the accountant says of the plan.
TEST(SampledLaw, TheAccountantsDeltaIsThatOfTheLaw) {
  const SampledDescent method = one_step(0.5);
  const privacy::Profile profile(sampled_plan(method), kAdd);
  for (const double epsilon : {0.2, 0.8}) {
    double there = 0;
    double back = 0;
    constexpr double kStep = 1e-3;
    for (double x = -10; x < 12; x += kStep) {
      const auto density = [](double at) { return std::exp(-at * at / 2) / std::sqrt(2 * M_PI); };
      const double with = 0.75 * density(x) + 0.25 * density(x - 2);
      there += kStep * std::max(0.0, with - std::exp(epsilon) * density(x));
      back += kStep * std::max(0.0, density(x) - std::exp(epsilon) * with);
    }
    EXPECT_NEAR(profile.delta(epsilon).bounds.upper, std::max(there, back), 1e-6);
  }
}

TEST(SampledTraining, LearnsAndDependsOnNoThreads) {
  const Problem problem = problem_of();
  const auto method = calibrate_sampled(problem, kAdd, Epsilon(2), Delta(1e-6),
                                        {.descent = {.steps = 60}, .rate = 0.125});
  const auto rows = test::make_rows({.rows = 8000}, 11);
  SeededSource first(3);
  SeededSource second(3);
  const auto weights = train(method, problem, *rows, first, {.threads = 1});
  EXPECT_EQ(train(method, problem, *rows, second, {.threads = 3}), weights);
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
  EXPECT_GT(right, 7200);
  const MemoryRows none(5, 1.0, 1.0, LabelKind::sign);
  for (const double w : train(method, problem, none, first, {})) EXPECT_TRUE(std::isfinite(w));
}

}  // namespace
}  // namespace shoal::learn
