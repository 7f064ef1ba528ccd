// The arithmetic under the closed forms, against MPFR: ranges hold the number and are narrow, and
// so do the sums that are made of them, for random parameters. A bound that is right to 14 digits
// on the wrong side fails here.
#include "privacy/binomial_loss.hpp"
#include "privacy/falling_inverse.hpp"
#include "privacy/half_binomial.hpp"
#include "privacy/positive_range.hpp"
#include "support/seeded_source.hpp"

#include <shoal/privacy/bounded_range.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/shuffle.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace shoal::privacy {
namespace {

// 400 bits, enough for the sums below: they have positive terms only.
class Real {
 public:
  Real() { mpfr_init2(value_, 400); }
  Real(long double x) : Real() { mpfr_set_ld(value_, x, MPFR_RNDN); }
  Real(const Real& other) : Real() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  friend Real operator+(Real a, const Real& b) {
    mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator-(Real a, const Real& b) {
    mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator*(Real a, const Real& b) {
    mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend Real operator/(Real a, const Real& b) {
    mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend bool operator<=(const Real& a, const Real& b) {
    return mpfr_lessequal_p(a.value_, b.value_) != 0;
  }
  Real exp() const {
    Real result;
    mpfr_exp(result.value_, value_, MPFR_RNDN);
    return result;
  }
  Real power(std::int64_t n) const {
    Real result;
    mpfr_pow_si(result.value_, value_, n, MPFR_RNDN);
    return result;
  }
  double near() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

bool holds(const PositiveRange& range, const Real& number) {
  return Real(range.low) <= number && number <= Real(range.high);
}

bool holds(const Bounds& bounds, const Real& number) {
  return Real(bounds.lower) <= number && number <= Real(bounds.upper);
}

// From e^low to e^high, evenly in the logarithm.
double spread(test::SeededSource& bits, double low, double high) {
  const double share = static_cast<double>(bits.next_u64() >> 11) * 0x1p-53;
  return std::exp(low + share * (high - low));
}

std::int64_t count_up_to(test::SeededSource& bits, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(bits.next_u64() % static_cast<std::uint64_t>(most));
}

TEST(PositiveRange, ExponentialsHoldAndAreNarrow) {
  test::SeededSource bits(1);
  for (int i = 0; i < 20'000; ++i) {
    const double x = spread(bits, -700, 6.9);
    const PositiveRange power = exp_minus(exactly(x));
    const Real exact = (Real(0) - Real(x)).exp();
    ASSERT_TRUE(holds(power, exact)) << x;
    const long double width = x < 32 ? 0x1p-60L : 0x1p-50L;
    ASSERT_LE(power.high - power.low, width * power.high) << x;
    const PositiveRange rest = one_minus_exp_minus(exactly(x));
    Real difference = Real(1) - exact;
    // Below 2^-300 the difference has no bits left in 400: the series to two terms is exact there.
    if (x < 0x1p-100) difference = Real(x) - Real(x) * Real(x) / Real(2);
    ASSERT_TRUE(holds(rest, difference)) << x;
    ASSERT_LE(rest.high - rest.low, 0x1p-59L * rest.high) << x;
  }
}

TEST(PositiveRange, OperationsHold) {
  test::SeededSource bits(2);
  for (int i = 0; i < 20'000; ++i) {
    const PositiveRange a = exactly(spread(bits, -300, 300)) / exactly(3);
    const PositiveRange b = exactly(spread(bits, -300, 300)) / exactly(7);
    const Real x(a.low);
    const Real y(b.high);
    ASSERT_TRUE(holds(a + b, x + y));
    ASSERT_TRUE(holds(a * b, x * y));
    ASSERT_TRUE(holds(a / b, x / y));
    if (y <= x) {
      ASSERT_TRUE(holds(subtract(a, b), x - y));
    }
    const double step = spread(bits, -20, 3);
    const std::int64_t n = count_up_to(bits, 10'000'000);
    // Next to the product, where all leading digits cancel.
    const double near = std::nextafter(static_cast<double>(n) * step, 0.0);
    const Real over = Real(static_cast<long double>(n)) * Real(step) - Real(near);
    ASSERT_TRUE(holds(product_minus(n, step, near), over)) << n << ' ' << step;
  }
}

TEST(PositiveRange, TinyNumbersStayBounded) {
  const PositiveRange tiny = exactly(0x1p-12000L);
  const PositiveRange product = tiny * tiny;
  EXPECT_EQ(product.low, 0);
  EXPECT_GT(product.high, 0);
  EXPECT_EQ((tiny * exactly(0)).high, 0);
  EXPECT_EQ(to_bounds(ScaledRange{exactly(1), -2000}).lower, 0);
  EXPECT_GT(to_bounds(ScaledRange{exactly(1), -2'000'000}).upper, 0);
  const Bounds log = log_bounds(ScaledRange{exactly(1), -2'000'000});
  EXPECT_NEAR(log.lower, -2e6 * std::log(2.0), 1e-8);
  EXPECT_LT(log.lower, log.upper);
}

// Sum of C(k, j) e^((k - j) e) / (1 + e^e)^k (1 - e^(epsilon - (k - 2j) e))_+, term by term.
Real optimal_exact(double epsilon0, double delta0, std::int64_t count, double epsilon) {
  const Real grown = Real(epsilon0).exp();
  const Real truth = grown / (Real(1) + grown);
  const Real lie = Real(1) / (Real(1) + grown);
  Real sum(0);
  Real chance = truth.power(count);
  for (std::int64_t j = 0; j <= count; ++j) {
    const Real loss = Real(static_cast<long double>(count - 2 * j)) * Real(epsilon0);
    if (loss <= Real(epsilon)) break;
    sum = sum + chance * (Real(1) - (Real(epsilon) - loss).exp());
    chance = chance * lie / truth * Real(static_cast<long double>(count - j)) /
             Real(static_cast<long double>(j + 1));
  }
  const Real safe = (Real(1) - Real(delta0)).power(count);
  const Real total = (Real(1) - safe) + safe * sum;
  // It is a chance; within 2^-390 of 1 the rounding of the oracle says otherwise.
  return Real(1) <= total ? Real(1) : total;
}

TEST(CertifiedSums, OptimalCompositionHoldsTheExactSum) {
  test::SeededSource bits(3);
  for (int i = 0; i < 3000; ++i) {
    const double epsilon0 = spread(bits, -12, 3);
    const std::int64_t count = count_up_to(bits, 80);
    const double delta0 = i % 3 == 0 ? 0 : spread(bits, -30, -0.1);
    const double share = static_cast<double>(bits.next_u64() >> 11) * 0x1p-53;
    // Some of them on the lattice, or next to it.
    double epsilon = share * 1.02 * static_cast<double>(count) * epsilon0;
    if (i % 5 == 0) epsilon = static_cast<double>(count % 2) * epsilon0;
    if (i % 5 == 1) epsilon = std::nextafter(static_cast<double>(count) * epsilon0, 0.0);
    const Bounds bounds = optimal_composition_delta({epsilon0, delta0}, count, epsilon);
    ASSERT_TRUE(holds(bounds, optimal_exact(epsilon0, delta0, count, epsilon)))
        << epsilon0 << ' ' << delta0 << ' ' << count << ' ' << epsilon;
    ASSERT_LE(bounds.upper - bounds.lower, 1e-14 * bounds.upper + 1e-320);
  }
}

TEST(CertifiedSums, OptimalEpsilonIsOnItsSide) {
  test::SeededSource bits(4);
  for (int i = 0; i < 1500; ++i) {
    const double epsilon0 = spread(bits, -6, 2);
    const std::int64_t count = count_up_to(bits, 60);
    const double delta0 = i % 2 == 0 ? 0 : spread(bits, -30, -8);
    const Delta delta(spread(bits, -60, -0.01));
    const Bounds bounds = optimal_composition_epsilon({epsilon0, delta0}, count, delta);
    ASSERT_LE(bounds.lower, bounds.upper);
    if (std::isfinite(bounds.upper)) {
      ASSERT_TRUE(optimal_exact(epsilon0, delta0, count, bounds.upper) <= Real(delta.value()))
          << epsilon0 << ' ' << delta0 << ' ' << count << ' ' << delta.value();
    }
    if (bounds.lower > 0 && std::isfinite(bounds.lower)) {
      ASSERT_TRUE(Real(delta.value()) <= optimal_exact(epsilon0, delta0, count, bounds.lower))
          << epsilon0 << ' ' << delta0 << ' ' << count << ' ' << delta.value();
    }
  }
}

// The pair of the clone reduction by its definition.
Real clones_exact(double local, int users, double epsilon) {
  const Real grown = Real(local).exp();
  const Real truth = grown / (Real(1) + grown);
  const Real lie = Real(1) / (Real(1) + grown);
  const Real clone = Real(1) / grown;
  const Real factor = Real(epsilon).exp();
  Real sum(0);
  Real weight = (Real(1) - clone).power(users - 1);
  for (int c = 0; c < users; ++c) {
    Real above(0);
    Real same = Real(0.5L).power(c);
    for (int x = 0; x <= c + 1; ++x) {
      const Real p = truth * above + lie * same;
      const Real q = lie * above + truth * same;
      if (factor * q <= p) sum = sum + weight * (p - factor * q);
      above = same;
      same = x < c ? same * Real(static_cast<long double>(c - x)) /
                         Real(static_cast<long double>(x + 1))
                   : Real(0);
    }
    weight = weight * clone / (Real(1) - clone) * Real(static_cast<long double>(users - 1 - c)) /
             Real(static_cast<long double>(c + 1));
  }
  return sum;
}

// The clones that matter are fewer than most draws have: what lies above still counts in the total.
TEST(CertifiedSums, ShuffleHoldsFarFromTheBulk) {
  for (const auto& [local, epsilon] : {std::pair{1.0, 0.9}, std::pair{2.0, 1.7}}) {
    const Bounds bounds = shuffle_delta(Epsilon(local), 500, epsilon);
    ASSERT_TRUE(holds(bounds, clones_exact(local, 500, epsilon))) << local;
    ASSERT_LE(bounds.upper - bounds.lower, 1e-11 * bounds.upper) << local;
  }
}

TEST(CertifiedSums, ShuffleHoldsTheExactSum) {
  test::SeededSource bits(5);
  for (int i = 0; i < 400; ++i) {
    const double local = spread(bits, -4, 2.3);
    const auto users = static_cast<int>(1 + count_up_to(bits, 60));
    const double share = static_cast<double>(bits.next_u64() >> 11) * 0x1p-53;
    const double epsilon = i % 7 == 0 ? 0 : share * local;
    const Bounds bounds = shuffle_delta(Epsilon(local), users, epsilon);
    ASSERT_TRUE(holds(bounds, clones_exact(local, users, epsilon)))
        << local << ' ' << users << ' ' << epsilon;
    ASSERT_LE(bounds.upper - bounds.lower, 1e-12 * bounds.upper)
        << local << ' ' << users << ' ' << epsilon;
  }
}

// At t_m = (g + (m + 1) e) / (k + 1), the largest over m: the theorem, in another arithmetic.
Real bounded_range_exact(double epsilon, std::int64_t count, double at) {
  Real best(0);
  const Real e(epsilon);
  for (std::int64_t m = 0; m < count; ++m) {
    const Real t = (Real(at) + Real(static_cast<long double>(m + 1)) * e) /
                   Real(static_cast<long double>(count + 1));
    if (!(t <= e)) break;
    const Real norm = Real(1) - (Real(0) - e).exp();
    const Real high = (Real(1) - (t - e).exp()) / norm;
    const Real low = Real(1) - high;
    Real sum(0);
    Real chance = high.power(count);
    for (std::int64_t i = 0; i <= count; ++i) {
      const Real loss =
          Real(static_cast<long double>(count)) * t - Real(static_cast<long double>(i)) * e;
      if (loss <= Real(at)) break;
      sum = sum + chance * (Real(1) - (Real(at) - loss).exp());
      chance = chance * low / high * Real(static_cast<long double>(count - i)) /
               Real(static_cast<long double>(i + 1));
    }
    if (best <= sum) best = sum;
  }
  return best;
}

TEST(CertifiedSums, BoundedRangeHoldsTheExactSupremum) {
  test::SeededSource bits(6);
  for (int i = 0; i < 1500; ++i) {
    const double epsilon = spread(bits, -5, 2.5);
    const std::int64_t count = count_up_to(bits, i % 8 == 0 ? 45 : 9);
    const double share = static_cast<double>(bits.next_u64() >> 11) * 0x1p-53;
    const double at = i % 6 == 0 ? 0 : share * static_cast<double>(count) * epsilon;
    const Bounds bounds = bounded_range_delta(Epsilon(epsilon), count, at);
    ASSERT_TRUE(holds(bounds, bounded_range_exact(epsilon, count, at)))
        << epsilon << ' ' << count << ' ' << at;
    ASSERT_LE(bounds.upper - bounds.lower, 1e-13 * bounds.upper + 1e-320);
  }
}

// One step at a time, in the full precision of the ranges, with a start that leaves something out.
TEST(BinomialLossWalk, HoldsEverySumOnTheWay) {
  test::SeededSource bits(7);
  for (int i = 0; i < 60; ++i) {
    const double odds = spread(bits, -3, 1);
    const double step = spread(bits, -8, 1);
    const std::int64_t trials = 20 + count_up_to(bits, 60);
    const BinomialLoss law{trials, exactly(odds), exp_minus(exactly(step)),
                           one_minus_exp_minus(exactly(step))};
    const Real ratio = (Real(0) - Real(step)).exp();
    BinomialLossWalk walk(law, trials, i % 2 == 0 ? 4 : 30);
    // Weights relative to the one at the start, from the count 0 on.
    std::vector<Real> weights(static_cast<std::size_t>(trials) + 1, Real(1));
    const auto weight = [&](std::int64_t j) -> Real& {
      return weights[static_cast<std::size_t>(j)];
    };
    for (std::int64_t j = walk.at(); j > 0; --j) {
      weight(j - 1) = weight(j) * Real(static_cast<long double>(j)) /
                      Real(static_cast<long double>(trials - j + 1)) / Real(odds);
    }
    for (std::int64_t j = walk.at(); j < trials; ++j) {
      weight(j + 1) = weight(j) * Real(static_cast<long double>(trials - j)) /
                      Real(static_cast<long double>(j + 1)) * Real(odds);
    }
    Real total(0);
    for (const Real& w : weights) total = total + w;
    for (;; walk.step()) {
      Real above(0);
      Real weighted(0);
      for (std::int64_t j = 0; j <= walk.at(); ++j) {
        const Real power = ratio.power(walk.at() - j);
        above = above + weight(j) * (Real(1) - power);
        weighted = weighted + weight(j) * power;
      }
      ASSERT_TRUE(holds(walk.above(), above)) << odds << ' ' << trials << ' ' << walk.at();
      ASSERT_TRUE(holds(walk.weighted(), weighted)) << odds << ' ' << trials << ' ' << walk.at();
      ASSERT_TRUE(holds(walk.total_with_rest(), total))
          << odds << ' ' << trials << ' ' << walk.at();
      if (walk.ended()) break;
    }
  }
}

// A function that is known only to a part in a hundred: the places must allow for that.
TEST(FallingInverse, BelievesOnlyTheBounds) {
  const auto truth = [](double x) { return std::exp(-3 * x); };
  const FallingFunction f{[&](double x) {
                            return Bounds{truth(x) * 0.99, truth(x) * 1.01};
                          },
                          [&](double x) { return 0.2 * std::exp(-2 * x); }};
  const Bounds found = falling_inverse(f, 0.01, 50, 1e-10);
  EXPECT_LE(truth(found.upper) * 1.01, 0.01);
  EXPECT_GE(truth(found.lower) * 0.99, 0.01);
  EXPECT_LT(found.upper - found.lower, 0.05 * found.upper);
  EXPECT_EQ(falling_inverse(f, 1.5, 50, 1e-10), (Bounds{0, 0}));
  // Known well up to the place itself, and badly beyond.
  const double place = std::log(100) / 3;
  const FallingFunction worse{[&](double x) {
                                return Bounds{truth(x), truth(x) * (x > place ? 1.02 : 1)};
                              },
                              truth};
  const Bounds after = falling_inverse(worse, 0.01, 50, 1e-10);
  EXPECT_LE(truth(after.upper) * 1.02, 0.01);
  EXPECT_NEAR(after.lower, place, 1e-8);
}

TEST(HalfBinomialTail, WalksDownExactly) {
  for (const std::int64_t trials : {3, 10, 57}) {
    HalfBinomialTail tail(trials, trials * 2 / 3 + 1);
    const auto check = [&] {
      Real chance = Real(0.5L).power(tail.trials());
      Real sum(0);
      Real here(0);
      for (std::int64_t x = 0; x <= tail.trials(); ++x) {
        if (x == tail.from()) here = chance;
        if (x >= tail.from()) sum = sum + chance;
        chance = chance * Real(static_cast<long double>(tail.trials() - x)) /
                 Real(static_cast<long double>(x + 1));
      }
      ASSERT_TRUE(holds(tail.chance(), here)) << tail.trials() << ' ' << tail.from();
      ASSERT_TRUE(holds(tail.tail(), sum)) << tail.trials() << ' ' << tail.from();
      ASSERT_LE(tail.tail().high - tail.tail().low, 1e-15L * tail.tail().high);
    };
    check();
    while (tail.trials() > 1) {
      if ((tail.trials() - 1) * 2 / 3 + 1 == tail.from()) {
        tail.drop_trial();
      } else {
        tail.drop_trial_and_place();
      }
      check();
    }
  }
}

}  // namespace
}  // namespace shoal::privacy
