// The order of noisy scores against MPFR: what the first look says is true for every noise in the
// cells, and what the last word says is true of the digits that it drew.
#include "mechanism/noisy_order.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <utility>

namespace shoal::mechanism {
namespace {

class Real {
 public:
  Real() { mpfr_init2(value_, 600); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

void set_integer(Real& target, const numeric::BigInt& value) {
  mpfr_set_str(target.get(), value.str().c_str(), 10, MPFR_RNDN);
}

// score + scale * X, where E is the lower or the upper end of what is known.
void noisy_score(Real& target, ScoreNoise law, double scale, const Contender& contender,
                 bool upper_end) {
  Real e;
  const numeric::BigInt digits = contender.exponential.digits() + (upper_end ? 1 : 0);
  set_integer(e, digits);
  mpfr_div_2si(e.get(), e.get(), contender.exponential.bits(), MPFR_RNDN);
  if (law == ScoreNoise::gumbel) mpfr_log(e.get(), e.get(), MPFR_RNDN);
  if (law == ScoreNoise::gumbel || contender.negative) mpfr_neg(e.get(), e.get(), MPFR_RNDN);
  mpfr_mul_d(e.get(), e.get(), scale, MPFR_RNDN);
  set_integer(target, numeric::BigInt(contender.score));
  mpfr_add(target.get(), target.get(), e.get(), MPFR_RNDN);
}

// Whether a is above b for every noise that agrees with the digits.
bool surely_above(ScoreNoise law, double scale, const Contender& a, const Contender& b) {
  // The noise falls as E rises for Gumbel and for negative signs.
  const auto falls = [law](const Contender& c) { return law == ScoreNoise::gumbel || c.negative; };
  Real low_a;
  Real high_b;
  noisy_score(low_a, law, scale, a, falls(a));
  noisy_score(high_b, law, scale, b, !falls(b));
  return mpfr_greaterequal_p(low_a.get(), high_b.get()) != 0;
}

Contender contender(const NoisyOrder& order, Int128 score, std::int64_t digits, int bits,
                    bool negative) {
  return {
      0, score, {static_cast<std::uint64_t>(digits), bits}, negative, order.cell(digits, negative)};
}

// Pairs whose scores make up for the difference of their noises, nearly, so that they are close.
struct Walk {
  test::SeededSource source;
  int unsure = 0;

  void run(ScoreNoise law, double scale, int bits) {
    const NoisyOrder order(law, scale, bits);
    const random::ExponentialSampler sampler(bits);
    for (int i = 0; i < 1000; ++i) {
      const auto digits_a = static_cast<std::int64_t>(sampler.sample(source).digits());
      const auto digits_b = static_cast<std::int64_t>(sampler.sample(source).digits());
      const auto middle = [&](std::int64_t digits, bool negative) {
        const double e = std::ldexp(static_cast<double>(digits) + 0.5, -bits);
        const double x = law == ScoreNoise::gumbel ? -std::log(e) : negative ? -e : e;
        return static_cast<Int128>(scale * x);
      };
      const bool signed_noise = law == ScoreNoise::laplace;
      const bool negative_a = signed_noise && source.next_bit();
      const bool negative_b = signed_noise && source.next_bit();
      const Int128 base = static_cast<Int128>(source.next_bits(60)) << source.next_bits(5);
      const auto wobble = static_cast<Int128>(source.next_bits(3));
      const Int128 score_a = base + middle(digits_b, negative_b) + wobble - 4;
      const Int128 score_b = base + middle(digits_a, negative_a);
      check(order, law, scale, contender(order, score_a, digits_a, bits, negative_a),
            contender(order, score_b, digits_b, bits, negative_b));
    }
  }

  void check(const NoisyOrder& order, ScoreNoise law, double scale, Contender a, Contender b) {
    const NoisyOrder::Answer look = order.first_look(a.score, a.cell, b.score, b.cell);
    const NoisyOrder::Answer reverse = order.first_look(b.score, b.cell, a.score, a.cell);
    if (look == NoisyOrder::Answer::above) {
      ASSERT_TRUE(surely_above(law, scale, a, b));
      ASSERT_EQ(reverse, NoisyOrder::Answer::below);
    } else if (look == NoisyOrder::Answer::below) {
      ASSERT_TRUE(surely_above(law, scale, b, a));
      ASSERT_EQ(reverse, NoisyOrder::Answer::above);
    } else {
      ++unsure;
      ASSERT_EQ(reverse, NoisyOrder::Answer::unsure);
    }
    const bool above = order.is_above(a, b, source);
    ASSERT_EQ(above, surely_above(law, scale, a, b));
    ASSERT_EQ(!above, surely_above(law, scale, b, a));
    // A later look at the refined cells must not contradict.
    const NoisyOrder::Answer later = order.first_look(a.score, a.cell, b.score, b.cell);
    ASSERT_NE(later, above ? NoisyOrder::Answer::below : NoisyOrder::Answer::above);
  }
};

TEST(NoisyOrder, IsTrueForEveryLawScaleAndNumberOfDigits) {
  for (const ScoreNoise law : {ScoreNoise::exponential, ScoreNoise::laplace, ScoreNoise::gumbel}) {
    for (const double scale : {0x1p-10, 0.3, 1.0, 1000.1, 1e9, 0x1p50}) {
      for (const int bits : {0, 2, 5, 48}) {
        Walk walk{test::SeededSource(70)};
        walk.run(law, scale, bits);
        EXPECT_TRUE(bits > 2 || scale < 1000 || walk.unsure > 50);
        if (testing::Test::HasFatalFailure()) {
          FAIL() << static_cast<int>(law) << " " << scale << " " << bits;
        }
      }
    }
  }
}

TEST(NoisyOrder, KnowsNoEndOfTheSmallestExponentials) {
  // E below 2^-48 is a Gumbel noise without a bound: no score may be said to beat it at first
  // sight.
  const NoisyOrder order(ScoreNoise::gumbel, 1, 48);
  const Contender tiny = contender(order, 0, 0, 48, false);
  const Contender far_above = contender(order, kScoreLimit - 1, std::int64_t{1} << 48, 48, false);
  EXPECT_EQ(order.first_look(far_above.score, far_above.cell, tiny.score, tiny.cell),
            NoisyOrder::Answer::unsure);
  EXPECT_EQ(order.first_look(tiny.score, tiny.cell, far_above.score, far_above.cell),
            NoisyOrder::Answer::unsure);
  EXPECT_EQ(order.first_look(far_above.score, tiny.cell, tiny.score, far_above.cell),
            NoisyOrder::Answer::above);
  test::SeededSource source(71);
  Contender a = far_above;
  Contender b = tiny;
  EXPECT_TRUE(order.is_above(a, b, source));
  EXPECT_FALSE(order.is_above(b, a, source));
  // After that its cell is a useful one again.
  EXPECT_NE(b.cell.high, NoiseCell::kUnbounded);
}

TEST(NoisyOrder, TakesTheLargestDigitsThereAre) {
  const std::int64_t most = NoiseCell::kUnbounded;
  test::SeededSource source(72);
  for (const ScoreNoise law : {ScoreNoise::exponential, ScoreNoise::laplace, ScoreNoise::gumbel}) {
    for (const double scale : {0x1p-10, 1 + 0x1p-52, 0x1p50}) {
      const NoisyOrder order(law, scale, 48);
      Walk walk{test::SeededSource(73)};
      for (const bool negative : {false, true}) {
        if (negative && law != ScoreNoise::laplace) continue;
        for (const Int128 score : {-kScoreLimit + 1, Int128{0}, kScoreLimit - 1}) {
          walk.check(order, law, scale, contender(order, score, most, 48, negative),
                     contender(order, 0, 17, 48, false));
          walk.check(order, law, scale, contender(order, 3, 0, 48, negative),
                     contender(order, score, most, 48, negative));
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::mechanism
