// Certified reals against MPFR, which shares no code with them: every enclosure must hold the true
// value, and must be as narrow as promised.
#include "support/mpfr_real.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/numeric/interval128.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shoal::numeric {
namespace {

using test::MpfrReal;

BigInt big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) +
         static_cast<std::uint64_t>(value);
}

// The true value is in [units, units + 1).
void expect_encloses(const BigInt& low, const BigInt& high, const BigInt& units, int width,
                     const std::string& what) {
  EXPECT_LE(low, units) << what;
  EXPECT_GE(high, units) << what;
  EXPECT_LE(high - low, width) << what;
}

TEST(Enclosure, ExpMinusHoldsTheTrueValue) {
  test::SeededSource bits(30);
  for (int i = 0; i < 2000; ++i) {
    const int precision = 40 + static_cast<int>(bits.next_bits(8));
    const BigInt numerator = bits.next_bits(1 + static_cast<int>(bits.next_bits(5)));
    const BigInt denominator = 1 + bits.next_bits(static_cast<int>(bits.next_bits(6)));
    const MpfrReal exact = MpfrReal(numerator, denominator).exp_minus();
    const Enclosure result = exp_minus(enclose_ratio(numerator, denominator, precision));
    expect_encloses(result.low, result.high, exact.units(precision), 6,
                    numerator.str() + "/" + denominator.str());
  }
}

TEST(Enclosure, ArithmeticHoldsTheTrueValue) {
  test::SeededSource bits(31);
  constexpr int kPrecision = 100;
  for (int i = 0; i < 1000; ++i) {
    const BigInt a = 1 + bits.next_bits(40);
    const BigInt b = 1 + bits.next_bits(30);
    const BigInt c = 1 + bits.next_bits(35);
    const Enclosure x = enclose_ratio(a, b, kPrecision);
    const Enclosure y = enclose_ratio(c, b, kPrecision);
    const auto expect = [](const Enclosure& result, const BigInt& numerator,
                           const BigInt& denominator) {
      EXPECT_LE(result.low * denominator, numerator << result.precision);
      EXPECT_GE(result.high * denominator, numerator << result.precision);
    };
    expect(add(x, y), a + c, b);
    expect(multiply(x, y), a * c, b * b);
    expect(multiply(x, BigInt(7)), 7 * a, b);
    expect(divide(x, y), a, c);
    if (a >= c) expect(subtract(x, y), a - c, b);
    const Enclosure root = square_root(x);
    EXPECT_LE(root.low * root.low * b, a << (2 * kPrecision));
    EXPECT_GE(root.high * root.high * b, a << (2 * kPrecision));
    // The width of x, halved or amplified by 1 / (2 sqrt(x)), and one unit.
    EXPECT_LE(root.high - root.low, (BigInt(1) << 20));
  }
}

TEST(Enclosure, RefusesWhatItCannotEnclose) {
  const Enclosure one = enclose_dyadic(1, 0, 10);
  EXPECT_THROW(add(one, enclose_dyadic(1, 0, 11)), Error);
  EXPECT_THROW(divide(one, enclose_dyadic(0, 0, 10)), Error);
  EXPECT_THROW(enclose_ratio(1, 0, 10), Error);
  EXPECT_THROW(enclose_dyadic(1, 11, 10), Error);
}

TEST(Interval128, ExpMinusHoldsTheTrueValue) {
  test::SeededSource bits(32);
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t numerator = bits.next_bits(1 + static_cast<int>(bits.next_bits(6)) % 64);
    const std::uint64_t denominator = 1 + bits.next_bits(static_cast<int>(bits.next_bits(6)));
    const Interval128 result = exp_minus_ratio128(numerator, denominator);
    const MpfrReal exact = MpfrReal(numerator, denominator).exp_minus();
    expect_encloses(big(result.low), big(result.high), exact.units(Interval128::kPrecision), 128,
                    std::to_string(numerator) + "/" + std::to_string(denominator));
  }
}

TEST(Interval128, ExpMinusIsRightWhereTheTableChanges) {
  // Every multiple of 1/32 and its neighbours: each digit of the argument on and off.
  for (std::uint64_t k = 0; k < 84 * 32; ++k) {
    for (const int offset : {-1, 0, 1}) {
      const UInt128 denominator = static_cast<UInt128>(1) << 100;
      const UInt128 numerator =
          (static_cast<UInt128>(k) << 95) + static_cast<UInt128>(static_cast<Int128>(offset));
      if (k == 0 && offset < 0) continue;
      const Interval128 result = exp_minus_ratio128(numerator, denominator);
      const MpfrReal exact = MpfrReal(big(numerator), big(denominator)).exp_minus();
      expect_encloses(big(result.low), big(result.high), exact.units(Interval128::kPrecision), 128,
                      std::to_string(k));
    }
  }
}

TEST(Interval128, RatiosAreTight) {
  test::SeededSource bits(33);
  for (int i = 0; i < 2000; ++i) {
    UInt128 denominator = 1 + bits.next_bits(static_cast<int>(bits.next_bits(6)));
    if (i % 2 == 0) denominator = (denominator << 64) | bits.next_u64();
    const UInt128 numerator = denominator / 256 * bits.next_bits(8) + bits.next_bits(8);
    if (numerator / denominator >= 256) continue;
    const Interval128 result = enclose_ratio128(numerator, denominator);
    const BigInt units = (big(numerator) << Interval128::kPrecision) / big(denominator);
    EXPECT_EQ(big(result.low), units);
    EXPECT_LE(result.high - result.low, 1u);
    const bool exact = units * big(denominator) == big(numerator) << Interval128::kPrecision;
    EXPECT_EQ(result.high == result.low, exact);
  }
  EXPECT_THROW(enclose_ratio128(256, 1), Error);
  EXPECT_THROW(enclose_ratio128(1, 0), Error);
}

TEST(Interval128, ArithmeticHoldsTheTrueValue) {
  test::SeededSource bits(34);
  for (int i = 0; i < 2000; ++i) {
    const Interval128 a = enclose_ratio128(bits.next_u64() >> 4, bits.next_u64() | (1ull << 60));
    const Interval128 b = enclose_ratio128(bits.next_u64() >> 4, bits.next_u64() | (1ull << 60));
    const Interval128 product = multiply(a, b);
    EXPECT_LE(big(product.low) << 120, big(a.low) * big(b.low));
    EXPECT_GE(big(product.high) << 120, big(a.high) * big(b.high));
    EXPECT_LE(product.high - product.low, 4u);
    const Interval128 difference = subtract(add(a, b), b);
    EXPECT_LE(difference.low, a.low);
    EXPECT_GE(difference.high, a.high);
  }
}

}  // namespace
}  // namespace shoal::numeric
