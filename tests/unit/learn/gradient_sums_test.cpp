#include "learn/gradient_sums.hpp"

#include "support/learning_rows.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace shoal::learn {
namespace {

using test::SeededSource;
using test::uniform;
using test::uniform_vector;

std::vector<Loss> all_losses() {
  return {Squared{}, Logistic{}, HuberisedHinge{0.5}, Hinge{},
          Huber{1},  LogCosh{},  Poisson{},           Softmax{4}};
}

LabelKind kind_of(const Loss& loss) {
  if (bounds(loss).two_classes) return LabelKind::sign;
  return std::holds_alternative<Poisson>(loss) ? LabelKind::count : LabelKind::number;
}

std::size_t classes_of(const Loss& loss) { return std::holds_alternative<Softmax>(loss) ? 4 : 1; }

MemoryRows empty_rows(const Loss& loss, std::size_t dimension, double row_norm) {
  return MemoryRows(dimension, row_norm, bounds(loss).two_classes ? 1 : 20, kind_of(loss));
}

GradientNoise noise_of(double clip) {
  GradientNoise noise;
  noise.clip = clip;
  noise.exponent = gradient_exponent(clip, 10);
  noise.sigma = 10 * gradient_sensitivity(noise);
  return noise;
}

long double norm_of(const std::vector<Int128>& steps) {
  long double squares = 0;
  for (const Int128 one : steps)
    squares += static_cast<long double>(one) * static_cast<long double>(one);
  return std::sqrt(squares);
}

std::vector<Int128> difference(const std::vector<Int128>& a, const std::vector<Int128>& b) {
  std::vector<Int128> moved(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) moved[j] = a[j] - b[j];
  return moved;
}

// A random row, from far too long to tiny, with values that are no numbers now and then.
std::vector<double> any_row(SeededSource& bits, std::size_t dimension) {
  std::vector<double> x = uniform_vector(bits, dimension, std::exp2(uniform(bits, -30, 30)));
  if (bits.next_bits(4) == 0) x[0] = std::nan("");
  if (bits.next_bits(3) == 0) std::fill(x.begin() + 1, x.end(), 0.0);
  return x;
}

// What one row moves: with the others there or not it is the same to the last step, and never
// longer than the sensitivity. Rows of an odd number of values lie at every alignment.
TEST(GradientSums, ARowMovesTheSumByWhatItAddsAndNoFurther) {
  SeededSource bits(21);
  for (const Loss& loss : all_losses()) {
    long double longest = 0;
    for (int trial = 0; trial < 150; ++trial) {
      const std::size_t dimension = 1 + bits.next_bits(4);
      const double row_norm = std::exp2(uniform(bits, -8, 8));
      const GradientNoise noise = noise_of(std::exp2(uniform(bits, -12, 6)));
      const std::vector<double> weights = uniform_vector(
          bits, dimension * classes_of(loss), std::exp2(uniform(bits, -10, trial % 9 ? 8 : 900)));
      MemoryRows alone = empty_rows(loss, dimension, row_norm);
      MemoryRows without = alone;
      MemoryRows with = alone;
      const std::vector<double> x = any_row(bits, dimension);
      const double label = uniform(bits, -3, 9);
      alone.add_dense(x, label);
      with.add_dense(x, label);  // first, so that all others lie elsewhere
      for (int i = 0; i < 5; ++i) {
        const std::vector<double> other = any_row(bits, dimension);
        const double other_label = uniform(bits, -3, 9);
        with.add_dense(other, other_label);
        without.add_dense(other, other_label);
      }
      const auto sum = [&](const MemoryRows& rows) {
        return GradientSums(rows, loss, noise, 1).all(weights);
      };
      const std::vector<Int128> adds = sum(alone);
      EXPECT_EQ(difference(sum(with), sum(without)), adds) << name(loss);
      const auto most = static_cast<long double>(gradient_sensitivity(noise));
      EXPECT_LE(norm_of(adds), most) << name(loss);
      longest = std::max(longest, norm_of(adds) / most);
    }
    EXPECT_GT(longest, 0.99) << name(loss);  // the bound is near what happens
  }
}

TEST(GradientSums, AgreeWithTheGradient) {
  for (const Loss& loss : all_losses()) {
    MemoryRows rows = empty_rows(loss, 7, 2);
    SeededSource bits(4);
    const std::size_t classes = classes_of(loss);
    const std::vector<double> weights = uniform_vector(bits, 7 * classes, 1);
    std::vector<long double> expected(7 * classes);
    for (int i = 0; i < 900; ++i) {
      std::vector<double> x = uniform_vector(bits, 7, 0.4);
      const double label = bounds(loss).two_classes ? (i % 2 ? 1 : -1) : i % 4;
      rows.add_dense(x, label);
      std::vector<double> slopes(classes);
      for (std::size_t k = 0; k < classes; ++k)
        slopes[k] =
            std::inner_product(x.begin(), x.end(), weights.begin() + static_cast<long>(7 * k), 0.0);
      if (classes == 1) {
        slopes[0] = slope(loss, slopes[0], label);
      } else {
        const std::vector<double> z = slopes;
        softmax_gradient(z, static_cast<std::size_t>(label), slopes);
      }
      for (std::size_t k = 0; k < classes; ++k)
        for (std::size_t j = 0; j < 7; ++j)
          expected[7 * k + j] +=
              static_cast<long double>(slopes[k]) * static_cast<long double>(x[j]);
    }
    const GradientNoise noise = noise_of(64);  // nothing is clipped
    const auto sum = GradientSums(rows, loss, noise, 2).all(weights);
    for (std::size_t j = 0; j < sum.size(); ++j) {
      const auto step = static_cast<long double>(std::ldexp(1.0, noise.exponent));
      EXPECT_NEAR(static_cast<double>(static_cast<long double>(sum[j]) * step),
                  static_cast<double>(expected[j]), static_cast<double>(900 * step) + 1e-10)
          << name(loss);
    }
  }
}

// Slopes that are no numbers count as 0, one or all of them, and a row without a value adds
// nothing.
TEST(GradientSums, SlopesThatAreNoNumbersAddNothing) {
  for (const Loss& loss : all_losses()) {
    MemoryRows rows = empty_rows(loss, 2, 1);
    rows.add_dense(std::vector<double>{0.5, 0}, 1);
    rows.add_dense(std::vector<double>{0, 0}, 1);
    const GradientNoise noise = noise_of(1);
    const GradientSums sums(rows, loss, noise, 1);
    for (const double w : std::vector<double>{std::nan(""), INFINITY, -INFINITY, 1e308, -1e308}) {
      std::vector<double> weights(2 * classes_of(loss), w);
      const long double limit = 2 * gradient_sensitivity(noise);
      EXPECT_LE(norm_of(sums.all(weights)), limit) << name(loss) << " " << w;
      weights.back() = 0;
      EXPECT_LE(norm_of(sums.all(weights)), limit) << name(loss) << " " << w;
    }
  }
}

TEST(GradientSums, HaveNoOrderAndNoThreads) {
  const Loss loss = Logistic{};
  const GradientNoise noise = noise_of(1);
  for (const bool sparse : {false, true}) {
    const auto rows = test::make_rows({.rows = 9000, .dimension = 9, .sparse = sparse}, 3);
    SeededSource bits(5);
    const std::vector<double> weights = uniform_vector(bits, 9, 3);
    const auto once = GradientSums(*rows, loss, noise, 1).all(weights);
    EXPECT_EQ(GradientSums(*rows, loss, noise, 4).all(weights), once);
    std::vector<std::uint64_t> numbers(9000);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    const GradientSums sums(*rows, loss, noise, 3);
    EXPECT_EQ(sums.of(numbers, weights), once);
    // Parts of the rows add up.
    auto rest = sums.of(std::span(numbers).subspan(4321), weights);
    const auto first = sums.of(std::span(numbers).first(4321), weights);
    for (std::size_t j = 0; j < rest.size(); ++j) rest[j] += first[j];
    EXPECT_EQ(rest, once);
    for (const Int128 one : sums.of({}, weights)) EXPECT_EQ(one, 0);
  }
}

// Clipped after adding, a sum moves by up to twice the clip when one row comes: the test of the
// first claim sees it.
TEST(GradientMutants, ClippingAfterAddingIsCaught) {
  const Loss loss = Squared{};
  const GradientNoise noise = noise_of(1);
  GradientNoise wide = noise;
  wide.clip = 0x1p30;
  wide.exponent = gradient_exponent(wide.clip, 10);
  MemoryRows without = empty_rows(loss, 1, 1);
  without.add_dense(std::vector<double>{1}, -10);
  MemoryRows with = without;
  with.add_dense(std::vector<double>{1}, 20);
  const std::vector<double> weights = {0};
  const auto clipped_after = [&](const MemoryRows& rows) {
    const auto sum = GradientSums(rows, loss, wide, 1).all(weights);
    return std::clamp(std::ldexp(static_cast<double>(sum[0]), wide.exponent), -1.0, 1.0);
  };
  EXPECT_GT(std::fabs(clipped_after(with) - clipped_after(without)), 1.9 * noise.clip);
  const auto clipped = [&](const MemoryRows& rows) {
    return GradientSums(rows, loss, noise, 1).all(weights);
  };
  EXPECT_LE(norm_of(difference(clipped(with), clipped(without))),
            static_cast<long double>(gradient_sensitivity(noise)));
}

TEST(GradientNoises, AreCheckedByPublicFacts) {
  EXPECT_THROW(gradient_exponent(1, 0x1p45), Error);
  EXPECT_THROW(gradient_exponent(1, 0), Error);
  GradientNoise noise = noise_of(1);
  EXPECT_NO_THROW(validate(noise));
  noise.exponent += 40;
  EXPECT_THROW(validate(noise), Error);
  noise = noise_of(1);
  noise.sigma = 0;
  EXPECT_THROW(validate(noise), Error);
  Problem problem;
  problem.loss = Squared{};
  problem.dimension = 2;
  problem.row_norm = 1;
  EXPECT_THROW(clip_or_bound(problem, {}), Error);  // no bound of the slope
  EXPECT_EQ(clip_or_bound(problem, 3), 3);
  EXPECT_THROW(clip_or_bound(problem, 0), Error);
}

}  // namespace
}  // namespace shoal::learn
