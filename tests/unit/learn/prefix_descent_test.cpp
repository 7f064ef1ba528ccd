#include "learn/methods.hpp"
#include "learn/poisson_sample.hpp"
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

Problem problem_of() {
  Problem problem;
  problem.dimension = 5;
  problem.row_norm = 1;
  return problem;
}

// The square of the factor has ones below the diagonal, but for the rounding of its entries.
TEST(PrefixFactor, IsTheRootOfThePrefixSums) {
  constexpr std::int64_t kSteps = 200;
  const auto factor = prefix_factor(kSteps);
  ASSERT_EQ(factor.size(), kSteps);
  EXPECT_EQ(factor[0], 1 << kPrefixBits);
  for (std::size_t k = 0; k < factor.size(); ++k) {
    double sum = 0;
    for (std::size_t i = 0; i <= k; ++i)
      sum += std::ldexp(static_cast<double>(factor[i]) * static_cast<double>(factor[k - i]),
                        -2 * kPrefixBits);
    EXPECT_NEAR(sum, 1, 2 * static_cast<double>(k + 1) * std::ldexp(1.0, -kPrefixBits));
  }
}

// A row of batch r moves the released sums r, r + 1, ... by the entries 0, 1, ... of the factor.
// All together: at most the sensitivity, and that much in the first batch. The longest single entry
// is far less, and would not do.
TEST(PrefixSensitivity, IsThatOfTheWorstBatch) {
  const auto method =
      calibrate_prefix(problem_of(), kAdd, Epsilon(1), Delta(1e-6), {.steps = 64, .rows = 1000.0});
  const auto factor = prefix_factor(64);
  long double squares = 0;
  for (std::size_t k = 0; k < factor.size(); ++k) {
    squares += static_cast<long double>(factor[k]) * static_cast<long double>(factor[k]);
    const long double moved =
        std::sqrt(squares) * static_cast<long double>(gradient_sensitivity(method.noise));
    EXPECT_LE(moved, static_cast<long double>(prefix_sensitivity(method)) * (1 + 1e-15L));
  }
  const double all = std::sqrt(static_cast<double>(squares)) * gradient_sensitivity(method.noise);
  EXPECT_NEAR(all / prefix_sensitivity(method), 1, 1e-12);
  EXPECT_LT(static_cast<double>(factor[0]) * gradient_sensitivity(method.noise), 0.7 * all);
}

TEST(PrefixCalibration, MeetsTheTargetAndRefusesLess) {
  for (const Neighbors neighbors : {kAdd, kReplace}) {
    const Problem problem = problem_of();
    const auto method = calibrate_prefix(problem, neighbors, Epsilon(1), Delta(1e-6),
                                         {.steps = 32, .rows = 1000.0});
    // The golden Gaussian sigma at eps 1 and delta 1e-6 is 4.2247, for a move of 1.
    const double ratio = method.noise.sigma / prefix_sensitivity(method);
    EXPECT_NEAR(ratio / (neighbors == kReplace ? 2 : 1), 4.2247, 1e-3);
    const privacy::Profile profile(privacy_event(method, problem), neighbors);
    EXPECT_NEAR(profile.delta(1).bounds.upper, 1e-6, 1e-9);
    const auto refused = [&](auto change) {
      PrefixDescent other = method;
      change(other);
      EXPECT_THROW(privacy_event(other, problem), Error);
    };
    refused([](auto& m) { m.noise.sigma *= 0.999; });
    refused([](auto& m) { m.path.steps += 4; });
    refused([](auto& m) { m.path.steps = kMaxPrefixSteps + 1; });
    refused([](auto& m) { m.path.rows = 0; });
  }
  EXPECT_THROW(calibrate_prefix(problem_of(), kAdd, Epsilon(1), Delta(0)), Error);
  EXPECT_THROW(calibrate_prefix(problem_of(), kAdd, Epsilon(1), Delta(1e-6), {.steps = 5000}),
               Error);
}

// Every row is in one batch, each batch as likely, whatever the other rows do.
TEST(RandomParts, HaveEachRowOnce) {
  SeededSource bits(5);
  std::vector<int> times(8);
  for (int i = 0; i < 200; ++i) {
    const auto parts = random_parts(50, 8, bits);
    std::vector<int> seen(50);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      EXPECT_TRUE(std::is_sorted(parts[p].begin(), parts[p].end()));
      times[p] += static_cast<int>(parts[p].size());
      for (const std::uint64_t one : parts[p]) ++seen.at(one);
    }
    EXPECT_EQ(seen, std::vector<int>(50, 1));
  }
  // Each is binomial of 10000 and 1/8: beyond 5 deviations with a chance below 1e-5 for all.
  for (const int one : times) EXPECT_NEAR(one, 1250, 5 * std::sqrt(1250.0 * 7 / 8));
}

// The last weight shows the noisy sum of all batches: the row's pull of 1, whichever batch it is
// in, and noise whose variance the triangular system gives.
std::vector<double> draws(const PrefixDescent& method, int rows) {
  const Problem problem = test::worst_problem();
  const MemoryRows data = test::worst_rows(rows);
  SeededSource bits(23);
  std::vector<double> found;
  for (int i = 0; i < 2000; ++i) {
    const double w = train(method, problem, data, bits, {.threads = 1})[0];
    found.push_back(w * method.path.rows / method.path.row_step /
                    static_cast<double>(method.path.steps));
  }
  return found;
}

// False alarms: 4e-4 in all.
TEST(PrefixLaw, IsTheOneThatWasProven) {
  const auto method = calibrate_prefix(
      test::worst_problem(), kAdd, Epsilon(1), Delta(0.01),
      {.steps = 8, .row_step = 1e-7, .momentum = 0, .averaged = 0, .l2 = 0, .rows = 1.0});
  const auto factor = prefix_factor(8);
  // Row of ones times the inverse of the factor: solved from the last entry on.
  std::vector<double> ones(8);
  double variance = 0;
  for (std::size_t i = 8; i-- > 0;) {
    double rest = 1;
    for (std::size_t s = i + 1; s < 8; ++s) rest -= ones[s] * static_cast<double>(factor[s - i]);
    ones[i] = rest / static_cast<double>(factor[0]);
    variance += ones[i] * ones[i];
  }
  const double sigma = std::ldexp(method.noise.sigma * std::sqrt(variance), method.noise.exponent);
  for (const int rows : {0, 1}) {
    const auto cdf = [&](double x) { return test::normal_cdf((x - rows) / sigma); };
    EXPECT_LT(test::kolmogorov(draws(method, rows), cdf), 2.15);
    PrefixDescent half = method;
    half.noise.sigma /= 2;
    EXPECT_GT(test::kolmogorov(draws(half, rows), cdf), 4);
  }
}

// The mean of two iterates shows the batches with different weights: which one the row is in makes
// a difference, and both are as likely. False alarms: 2e-4.
TEST(PrefixLaw, ShowsTheBatchOfARow) {
  auto method = calibrate_prefix(
      test::worst_problem(), kAdd, Epsilon(1), Delta(0.01),
      {.steps = 2, .row_step = 1e-7, .momentum = 0, .averaged = 1, .l2 = 0, .rows = 1.0});
  method.noise.sigma /= 16;  // so that the two cases can be told apart
  // (1, 1/2) times the inverse of the factor, whose entries are 1 and 1/2 up to rounding.
  const double ideal = std::sqrt(0.75 * 0.75 + 0.5 * 0.5);
  const double sigma = std::ldexp(method.noise.sigma, method.noise.exponent - kPrefixBits) * ideal;
  ASSERT_LT(sigma, 0.5);
  const auto cdf = [&](double x) {
    return test::normal_cdf((x - 1) / sigma) / 2 + test::normal_cdf((x - 0.5) / sigma) / 2;
  };
  EXPECT_LT(test::kolmogorov(draws(method, 1), cdf), 2.15);
  EXPECT_GT(test::kolmogorov(draws(method, 2), cdf), 4);
}

TEST(PrefixTraining, LearnsInOnePass) {
  const Problem problem = problem_of();
  const auto method = calibrate_prefix(problem, kAdd, Epsilon(2), Delta(1e-6), {.steps = 30});
  const auto rows = test::make_rows({.rows = 20000}, 11);
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
  EXPECT_GT(right, 17500);
  const MemoryRows none(5, 1.0, 1.0, LabelKind::sign);
  for (const double w : train(method, problem, none, first, {})) EXPECT_TRUE(std::isfinite(w));
}

}  // namespace
}  // namespace shoal::learn
