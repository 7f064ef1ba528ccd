// Lazily drawn normal numbers: their law, whatever the number of digits at first, and that digits
// once drawn stay.
#include "support/chi_square.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/lazy_normal.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace shoal::random {
namespace {

using numeric::BigInt;

// floor(64 Z), which needs 6 digits.
Int128 cell_of(int first_bits, BitSource& bits) {
  LazyNormal normal(bits, first_bits);
  while (normal.bits() < 6) normal.extend(bits);
  const BigInt magnitude = normal.digits() >> (normal.bits() - 6);
  const auto cell = static_cast<Int128>(magnitude.convert_to<std::int64_t>());
  return normal.negative() ? -1 - cell : cell;
}

double log_cell_chance(Int128 cell) {
  const double near = static_cast<double>(cell >= 0 ? cell : -1 - cell) / 64;
  const double far = near + 1.0 / 64;
  return std::log(0.5 *
                  (std::erfc(near / std::numbers::sqrt2) - std::erfc(far / std::numbers::sqrt2)));
}

class LazyNormals : public testing::TestWithParam<int> {};

TEST_P(LazyNormals, HaveTheNormalLaw) {
  // Seeded, so it either always passes or never; over seeds it would fail once in a million.
  test::SeededSource bits(60);
  const double p =
      test::chi_square_p_value([](BitSource& source) { return cell_of(GetParam(), source); },
                               log_cell_chance, 64 * 8, 100000, bits);
  EXPECT_GT(p, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(FirstBits, LazyNormals, testing::Values(0, 1, 3, 8, 64));

TEST(LazyNormal, KeepsItsDigitsWhenItGetsMore) {
  test::SeededSource bits(61);
  for (int i = 0; i < 200; ++i) {
    LazyNormal normal(bits, i % 65);
    const BigInt before = normal.digits();
    const int known = normal.bits();
    const bool negative = normal.negative();
    normal.extend(bits);
    EXPECT_EQ(normal.bits(), known + 64);
    EXPECT_EQ(BigInt(normal.digits() >> 64), before);
    EXPECT_EQ(normal.negative(), negative);
  }
}

TEST(LazyNormal, RefusesOddNumbersOfDigits) {
  test::SeededSource bits(62);
  EXPECT_THROW(LazyNormal(bits, -1), Error);
  EXPECT_THROW(LazyNormal(bits, 65), Error);
}

}  // namespace
}  // namespace shoal::random
