// Sums on a lattice against convolution term by term, for tilts of all kinds, and against closed
// forms for counts up to a million.
#include "privacy/lattice_sum.hpp"

#include "privacy/atom_law.hpp"
#include "privacy/mixture_law.hpp"
#include "support/loss_reference.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

namespace shoal::privacy {
namespace {

using test::Long;

constexpr std::size_t kLargest = std::size_t{1} << 20;

LatticeLaw random_law(test::SeededSource& bits, std::size_t size, double step) {
  LatticeLaw law;
  law.step = step;
  law.origin = -step * static_cast<double>(size / 3) + 0.01;
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    law.mass.push_back(std::pow(static_cast<double>(bits.next_bits(53)) * 0x1p-53, 4));
    sum += law.mass.back();
  }
  for (double& mass : law.mass) mass /= sum;
  return law;
}

Long delta_of(const std::vector<Long>& mass, Long origin, Long step, Long epsilon) {
  Long sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const Long loss = origin + step * Long(i);
    if (loss > epsilon) sum -= mass[i] * expm1l(epsilon - loss);
  }
  return sum;
}

TEST(LatticeSum, BracketsTheConvolution) {
  test::SeededSource bits(21);
  for (const int count : {1, 2, 3, 7, 20, 60}) {
    const LatticeLaw law = random_law(bits, 12, 0.05);
    const std::vector<Long> exact = test::self_convolution(law.mass, count);
    const Long origin = Long(law.origin) * count;
    for (const double tilt : {0.0, 0.5, 3.0, 20.0, 200.0}) {
      const std::vector<LatticePart> parts = {{&law, static_cast<double>(count)}};
      const auto upper = LatticeSum::compose(parts, tilt, Side::upper, kLargest);
      const auto lower = LatticeSum::compose(parts, tilt, Side::lower, kLargest);
      ASSERT_TRUE(upper && lower);
      const Long top = origin + law.step * Long(exact.size() - 1);
      for (int i = 0; i <= 40; ++i) {
        const auto at = static_cast<double>(origin + (top - origin) * (i + 0.37L) / 40);
        const Long truth = logl(delta_of(exact, origin, law.step, at));
        const std::string place = "count " + std::to_string(count) + " tilt " +
                                  std::to_string(tilt) + " at " + std::to_string(at);
        EXPECT_GE(upper->log_delta(at), truth) << place;
        EXPECT_LE(lower->log_delta(at), truth) << place;
      }
    }
  }
}

// Where the tilt points to the epsilon that is asked for, the bounds are close: relative to a delta
// however small.
TEST(LatticeSum, BoundsAreCloseWhereTheTiltPoints) {
  test::SeededSource bits(22);
  const LatticeLaw law = random_law(bits, 15, 0.1);
  for (const int count : {2, 10, 40}) {
    const std::vector<Long> exact = test::self_convolution(law.mass, count);
    const Long origin = Long(law.origin) * count;
    for (const double tilt : {1.0, 5.0, 25.0}) {
      Long moment = 0;
      Long mean = 0;
      for (std::size_t i = 0; i < law.mass.size(); ++i) {
        const Long l = law.loss(static_cast<double>(i));
        moment += law.mass[i] * expl(tilt * l);
        mean += law.mass[i] * expl(tilt * l) * l;
      }
      const auto at = static_cast<double>(count * mean / moment - law.step);
      const std::vector<LatticePart> parts = {{&law, static_cast<double>(count)}};
      const double upper = LatticeSum::compose(parts, tilt, Side::upper, kLargest)->log_delta(at);
      const double lower = LatticeSum::compose(parts, tilt, Side::lower, kLargest)->log_delta(at);
      const Long truth = logl(delta_of(exact, origin, law.step, at));
      EXPECT_LE(upper - lower, 1e-8) << count << " " << tilt << " ln delta " << truth;
      EXPECT_GE(upper, truth);
      EXPECT_LE(lower, truth);
    }
  }
}

TEST(LatticeSum, BracketsMixedParts) {
  test::SeededSource bits(23);
  LatticeLaw first = random_law(bits, 9, 0.07);
  LatticeLaw second = random_law(bits, 30, 0.07);
  second.origin += 0.013;
  first.infinite = 1e-3;
  second.infinite = 2e-4;
  const std::vector<Long> a = test::self_convolution(first.mass, 5);
  const std::vector<Long> b = test::self_convolution(second.mass, 3);
  std::vector<Long> exact(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) exact[i + j] += a[i] * b[j];
  }
  const Long origin = 5 * Long(first.origin) + 3 * Long(second.origin);
  for (const double tilt : {0.3, 4.0}) {
    const std::vector<LatticePart> parts = {{&first, 5}, {&second, 3}};
    const auto upper = LatticeSum::compose(parts, tilt, Side::upper, kLargest);
    const auto lower = LatticeSum::compose(parts, tilt, Side::lower, kLargest);
    for (double at = -1; at < 6; at += 0.13) {
      const Long truth = logl(delta_of(exact, origin, first.step, at));
      EXPECT_GE(upper->log_delta(at), truth) << tilt << " " << at;
      EXPECT_LE(lower->log_delta(at), truth) << tilt << " " << at;
    }
    const Long infinite = 1 - powl(1 - 1e-3L, 5) * powl(1 - 2e-4L, 3);
    EXPECT_GE(upper->infinite(), infinite);
    EXPECT_LE(lower->infinite(), infinite);
    EXPECT_NEAR(upper->infinite(), static_cast<double>(infinite), 1e-12);
  }
}

// One lattice law repeated a million times: randomized response, whose sum is binomial.
TEST(LatticeSum, BracketsTheBinomialUpToAMillion) {
  for (const double count : {10.0, 1e3, 1e6}) {
    const double epsilon = 3 / std::sqrt(count);
    const double p = 1 / (1 + std::exp(-epsilon));
    LatticeLaw law;
    law.step = 2 * epsilon;
    law.origin = -epsilon;
    law.mass = {1 - p, p};
    law.loss_error = 4 * kRounding * epsilon;
    for (const double at : {1.0, 6.0, 15.0}) {
      // Sum outwards from where the terms are largest.
      Long truth = 0;
      const Long first = std::ceil((at / epsilon + count) / 2 - 1e-9);
      for (Long k = first; k <= count; ++k) {
        const Long log_chance = lgammal(count + 1) - lgammal(k + 1) - lgammal(count - k + 1) +
                                k * logl(Long(p)) + (count - k) * logl(1 - Long(p));
        const Long term = -expl(log_chance) * expm1l(at - (2 * k - count) * Long(epsilon));
        truth += term;
        if (k > first + 10 && term < truth * 1e-22L) break;
      }
      const std::vector<LatticePart> parts = {{&law, count}};
      // The tilt at which the mean is near `at`: the loss is about normal with mean and half its
      // variance 4.5.
      const double tilt = std::max(0.1, at / 9 - 0.5 + 1 / (1 + at / 3));
      const double upper = LatticeSum::compose(parts, tilt, Side::upper, kLargest)->log_delta(at);
      const double lower = LatticeSum::compose(parts, tilt, Side::lower, kLargest)->log_delta(at);
      // lgammal has an error of about 1e-19 of its value.
      const Long slack = 1e-17L * count + 1e-15L;
      if (truth == 0) continue;
      EXPECT_GE(upper, logl(truth) - slack) << count << " " << at;
      EXPECT_LE(lower, logl(truth) + slack) << count << " " << at;
      EXPECT_LE(upper - lower, 1e-4) << count << " " << at;
    }
  }
}

// The exact profile of Gaussian steps lies between the sums of lattice laws on its two sides.
TEST(LatticeSum, BracketsComposedGaussians) {
  for (const int count : {1, 16, 400}) {
    const double mu = 1.5 / std::sqrt(static_cast<double>(count));
    const MixtureLaw law(mu, {0, 1}, {1});
    const test::NormalPair whole{1.5L, {0, 1}, {1}};
    const double step = mu / 40;
    const LatticePair pair = put_on_lattice(law, step, 0.3 * step, 1e-18, 1e-20);
    for (const double at : {0.5, 2.0, 5.0}) {
      const double tilt = std::max(0.2, (at + 1) / 2.25 - 0.5);
      const std::vector<LatticePart> above = {{&pair.upper, static_cast<double>(count)}};
      const std::vector<LatticePart> below = {{&pair.lower, static_cast<double>(count)}};
      const auto upper = LatticeSum::compose(above, tilt, Side::upper, kLargest);
      const auto lower = LatticeSum::compose(below, tilt, Side::lower, kLargest);
      const Long truth = whole.delta(at);
      EXPECT_GE(expl(upper->log_delta(at)) + upper->infinite(), truth) << count << " " << at;
      EXPECT_LE(expl(lower->log_delta(at)), truth) << count << " " << at;
      EXPECT_LE(upper->log_delta(at) - lower->log_delta(at), 0.02) << count << " " << at;
    }
  }
}

TEST(LatticeSum, FallsInEpsilonAndEndsBeyondTheLargestLoss) {
  test::SeededSource bits(24);
  const LatticeLaw law = random_law(bits, 10, 0.05);
  const std::vector<LatticePart> parts = {{&law, 30}};
  const auto upper = LatticeSum::compose(parts, 2, Side::upper, kLargest);
  const auto lower = LatticeSum::compose(parts, 2, Side::lower, kLargest);
  double previous = HUGE_VAL;
  for (double at = 0; at < 8; at += 0.03) {
    EXPECT_LE(upper->log_delta(at), previous + 1e-9) << at;
    previous = upper->log_delta(at);
    EXPECT_FALSE(std::isnan(previous));
    EXPECT_FALSE(std::isnan(lower->log_delta(at)));
  }
  EXPECT_EQ(lower->log_delta(30 * law.loss(9) + 0.1), -HUGE_VAL);
}

TEST(LatticeSum, DeclinesWindowsThatAreTooLarge) {
  test::SeededSource bits(25);
  const LatticeLaw law = random_law(bits, 40, 0.05);
  const std::vector<LatticePart> parts = {{&law, 1e6}};
  EXPECT_FALSE(LatticeSum::compose(parts, 1, Side::upper, 1 << 8));
  EXPECT_TRUE(LatticeSum::compose(parts, 1, Side::upper, kLargest));
}

}  // namespace
}  // namespace shoal::privacy
