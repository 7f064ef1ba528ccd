// The integer logarithm against MPFR: random numbers, powers of two and the ends of every table
// cell.
#include "mechanism/fixed_log.hpp"

#include "support/seeded_source.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

// How far the result is from ln(d 2^-bits), in units of 2^-56.
double error_of(std::uint64_t d, int bits) {
  mpfr_t exact;
  mpfr_init2(exact, 200);
  mpfr_set_uj(exact, d, MPFR_RNDN);
  mpfr_div_2si(exact, exact, bits, MPFR_RNDN);
  mpfr_log(exact, exact, MPFR_RNDN);
  mpfr_mul_2si(exact, exact, kFixedLogBits, MPFR_RNDN);
  mpfr_sub_si(exact, exact, fixed_log(d, bits), MPFR_RNDN);
  const double error = mpfr_get_d(exact, MPFR_RNDN);
  mpfr_clear(exact);
  return error;
}

TEST(FixedLog, IsWithinItsErrorOfTheLogarithm) {
  test::SeededSource source(50);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t d = (source.next_u64() >> source.next_bits(6)) | 1;
    const int bits = static_cast<int>(source.next_bits(7));
    worst = std::max(worst, std::fabs(error_of(d, bits)));
  }
  EXPECT_LE(worst, static_cast<double>(kFixedLogError));
  // The bound is not far from what happens.
  EXPECT_GE(worst, 1.0);
}

TEST(FixedLog, HoldsAtTheEndsOfTheTable) {
  for (std::uint64_t cell = 128; cell < 256; ++cell) {
    for (const std::uint64_t offset : {0ull, 1ull, (1ull << 56) - 1, 1ull << 55}) {
      for (const int bits : {0, 48, 160}) {
        EXPECT_LE(std::fabs(error_of((cell << 56) + offset, bits)),
                  static_cast<double>(kFixedLogError));
      }
    }
  }
  for (int power = 0; power < 64; ++power) {
    EXPECT_LE(std::fabs(error_of(std::uint64_t{1} << power, 48)),
              static_cast<double>(kFixedLogError));
  }
  EXPECT_LE(std::fabs(error_of(1, 160)), static_cast<double>(kFixedLogError));
  EXPECT_LE(std::fabs(error_of(~std::uint64_t{0}, 0)), static_cast<double>(kFixedLogError));
}

}  // namespace
}  // namespace shoal::mechanism
