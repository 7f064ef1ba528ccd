// Normal quantiles against MPFR: on the safe side, and close to it.
#include <shoal/base/error.hpp>
#include <shoal/numeric/normal.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

namespace shoal::numeric {
namespace {

// P(|N(0, 1)| > z), rounded up.
double tail_up(double z) {
  mpfr_t y;
  mpfr_t two;
  mpfr_init2(y, 200);
  mpfr_init2(two, 200);
  mpfr_set_ui(two, 2, MPFR_RNDN);
  mpfr_sqrt(two, two, MPFR_RNDN);
  mpfr_set_d(y, z, MPFR_RNDN);
  mpfr_div(y, y, two, MPFR_RNDD);
  mpfr_erfc(y, y, MPFR_RNDU);
  const double tail = mpfr_get_d(y, MPFR_RNDU);
  mpfr_clear(y);
  mpfr_clear(two);
  return tail;
}

TEST(NormalQuantile, IsOnTheSafeSideAndClose) {
  std::vector<double> tails = {std::nextafter(1.0, 0.0), 0.999999, 0x1p-53, 1e-300, 5e-324};
  for (double tail = 0.99; tail > 1e-18; tail *= 0.83) tails.push_back(tail);
  for (const double tail : tails) {
    const double z = two_sided_normal_quantile_up(tail);
    EXPECT_LE(tail_up(z), tail) << tail;
    // Subnormal tails have too few digits left to say more.
    const double below = z * (1 - 1e-12) - 1e-13;
    if (below > 0 && tail > 1e-290) {
      EXPECT_GT(tail_up(below), tail) << tail;
    }
  }
}

TEST(NormalQuantile, KnowsTheUsualOnes) {
  EXPECT_NEAR(two_sided_normal_quantile_up(0.05), 1.959963984540054, 1e-12);
  EXPECT_NEAR(two_sided_normal_quantile_up(0.01), 2.575829303548901, 1e-12);
}

TEST(NormalQuantile, RefusesWhatIsNoTail) {
  EXPECT_THROW(two_sided_normal_quantile_up(0), Error);
  EXPECT_THROW(two_sided_normal_quantile_up(1), Error);
  EXPECT_THROW(two_sided_normal_quantile_up(std::nan("")), Error);
}

}  // namespace
}  // namespace shoal::numeric
