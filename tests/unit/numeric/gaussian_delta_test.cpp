// The delta of Gaussian noise: bounds on both sides of independently computed values and of MPFR's,
// close together; what is refused.
#include "support/golden.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/mills_ratio.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace shoal::numeric {
namespace {

// Tails agree in some 60 bits at most here; what is left is far more than a double.
constexpr int kMpfrBits = 400;

class Real {
 public:
  explicit Real(double value = 0) {
    mpfr_init2(value_, kMpfrBits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// Phi(-x), written over x.
void upper_tail(Real& x) {
  Real root(2);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDN);
  mpfr_div(x.get(), x.get(), root.get(), MPFR_RNDN);
  mpfr_erfc(x.get(), x.get(), MPFR_RNDN);
  mpfr_div_2ui(x.get(), x.get(), 1, MPFR_RNDN);
}

// The formula as it is printed, with so many digits that nothing in it matters.
double exact_delta(double sigma, double sensitivity, double epsilon) {
  Real ratio(sensitivity);
  mpfr_div_d(ratio.get(), ratio.get(), sigma, MPFR_RNDN);
  Real loss(epsilon);
  mpfr_div(loss.get(), loss.get(), ratio.get(), MPFR_RNDN);
  mpfr_div_2ui(ratio.get(), ratio.get(), 1, MPFR_RNDN);
  Real u;
  Real v;
  mpfr_sub(u.get(), loss.get(), ratio.get(), MPFR_RNDN);
  mpfr_add(v.get(), loss.get(), ratio.get(), MPFR_RNDN);
  upper_tail(u);
  upper_tail(v);
  Real power(epsilon);
  mpfr_exp(power.get(), power.get(), MPFR_RNDN);
  mpfr_mul(v.get(), v.get(), power.get(), MPFR_RNDN);
  mpfr_sub(u.get(), u.get(), v.get(), MPFR_RNDN);
  return mpfr_get_d(u.get(), MPFR_RNDN);
}

TEST(GaussianDelta, BracketsTheGoldenValuesClosely) {
  int seen = 0;
  for (const std::vector<double>& row : test::read_golden("gaussian")) {
    if (row[0] != 0) continue;
    ++seen;
    const double up = gaussian_delta_up(row[1], row[2], row[3]);
    const double down = gaussian_delta_down(row[1], row[2], row[3]);
    // The golden value itself is the nearest double of the true one.
    EXPECT_GE(up, row[4]) << row[1] << ' ' << row[3];
    EXPECT_LE(down, row[4]) << row[1] << ' ' << row[3];
    EXPECT_LE(up - down, 4e-16 * up) << row[1] << ' ' << row[3];
  }
  EXPECT_EQ(seen, 20);
}

TEST(GaussianDelta, BracketsMpfrAtRandomParameters) {
  test::SeededSource bits(50);
  const auto between = [&bits](double low, double high) {
    const double u = static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    return std::exp(std::log(low) + u * (std::log(high) - std::log(low)));
  };
  int checked = 0;
  for (int i = 0; i < 300; ++i) {
    const double epsilon = between(1e-6, 1000);
    const double sensitivity = between(0.01, 100);
    // u between -6 and 15, more or less: m solves u m = epsilon - m^2 / 2.
    const double u = 21 * static_cast<double>(bits.next_bits(30)) * 0x1p-30 - 6;
    const double ratio = std::sqrt(u * u + 2 * epsilon) - u;
    const double sigma = sensitivity / ratio;
    const double exact = exact_delta(sigma, sensitivity, epsilon);
    const double up = gaussian_delta_up(sigma, sensitivity, epsilon);
    const double down = gaussian_delta_down(sigma, sensitivity, epsilon);
    ASSERT_GE(up, exact) << sigma << ' ' << sensitivity << ' ' << epsilon;
    ASSERT_LE(down, exact) << sigma << ' ' << sensitivity << ' ' << epsilon;
    ASSERT_LE(up - down, 4e-16 * up) << sigma << ' ' << sensitivity << ' ' << epsilon;
    ++checked;
  }
  EXPECT_EQ(checked, 300);
}

TEST(GaussianDelta, IsABoundAtTheEndsOfTheRange) {
  EXPECT_EQ(gaussian_delta_up(1, 0, 1), 0);
  EXPECT_EQ(gaussian_delta_up(1e-300, 1e300, 1000), 1);
  EXPECT_GE(gaussian_delta_down(1e-300, 1e300, 1000), 1 - 1e-15);
  EXPECT_EQ(gaussian_delta_down(1e300, 1e-300, 1), 0);
  // Below all doubles, but not zero.
  EXPECT_EQ(gaussian_delta_up(1e300, 1e-300, 1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(gaussian_delta_up(100, 1, 1000), std::numeric_limits<double>::denorm_min());
  // Without epsilon and with a hardly visible shift it is m / sqrt(2 pi).
  EXPECT_NEAR(gaussian_delta_up(1e30, 1, 0) * 1e30, 0.3989422804014327, 1e-15);
}

TEST(GaussianDelta, LectureNotesWithoutTheFactorTwoAreNotPrivate) {
  // sigma^2 = ln(1 / delta) D^2 / epsilon^2 is in circulation. At epsilon 1 it claims 10^-6.
  const double sigma = std::sqrt(std::log(1e6));
  EXPECT_GT(gaussian_delta_down(sigma, 1, 1), 1e-5);
  EXPECT_NEAR(gaussian_delta_up(sigma, 1, 1), 1.06e-5, 0.01e-5);
}

TEST(DiscreteGaussianDelta, BracketsTheGoldenValuesClosely) {
  int seen = 0;
  for (const std::vector<double>& row : test::read_golden("gaussian")) {
    if (row[0] != 1) continue;
    ++seen;
    const auto steps = static_cast<long long>(row[2]);
    const double up = discrete_gaussian_delta_up(row[1], steps, row[3]);
    const double down = discrete_gaussian_delta_down(row[1], steps, row[3]);
    EXPECT_GE(up, row[4]) << row[1];
    EXPECT_LE(down, row[4]) << row[1];
    EXPECT_LE(up - down, 1e-12 * up) << row[1];
  }
  EXPECT_EQ(seen, 10);
}

TEST(DiscreteGaussianDelta, BothMethodsAgreeWhereTheyMeet) {
  // The sum is exact up to rounding, so the other method's bounds must lie outside of its.
  const double last = kMaxSummedSigma;
  const double next = std::nextafter(last, 2 * last);
  for (const long long steps : {1ll, 30ll, 1000ll, 5000ll}) {
    for (const double epsilon : {0.0, 0.01, 0.3, 1.0, 4.0}) {
      const double summed_up = discrete_gaussian_delta_up(last, steps, epsilon);
      const double summed_down = discrete_gaussian_delta_down(last, steps, epsilon);
      const double up = discrete_gaussian_delta_up(next, steps, epsilon);
      const double down = discrete_gaussian_delta_down(next, steps, epsilon);
      EXPECT_GE(up * (1 + 1e-9) + 1e-300, summed_up) << steps << ' ' << epsilon;
      EXPECT_LE(down * (1 - 1e-9), summed_down) << steps << ' ' << epsilon;
      EXPECT_LE(summed_up - summed_down, 1e-10 * summed_up + 1e-300) << steps << ' ' << epsilon;
      if (up > 1e-12) {
        EXPECT_LE(up - down, 0.01 * up) << steps << ' ' << epsilon;
      }
    }
  }
}

TEST(DiscreteGaussianDelta, TendsToTheContinuousOne) {
  const double continuous = gaussian_delta_up(1, 1, 1);
  EXPECT_NEAR(discrete_gaussian_delta_up(0x1p40, 1ll << 40, 1), continuous, 1e-11);
  EXPECT_NEAR(discrete_gaussian_delta_up(1000, 1000, 1), continuous, 1e-3);
}

TEST(GaussianDeltas, RefuseWhatIsNoParameter) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -1.0}) {
    EXPECT_THROW(gaussian_delta_up(bad, 1, 1), Error);
    EXPECT_THROW(gaussian_delta_up(1, bad, 1), Error);
    EXPECT_THROW(gaussian_delta_up(1, 1, bad), Error);
    EXPECT_THROW(discrete_gaussian_delta_up(bad, 1, 1), Error);
    EXPECT_THROW(discrete_gaussian_delta_up(1, 1, bad), Error);
  }
  EXPECT_THROW(gaussian_delta_down(0, 1, 1), Error);
  EXPECT_THROW(discrete_gaussian_delta_down(1, 0, 1), Error);
  EXPECT_THROW(discrete_gaussian_delta_down(0x1p51, 1, 1), Error);
}

TEST(MillsRatio, EnclosesTheLibrarysAndFalls) {
  Enclosure before = mills_ratio(enclose_dyadic(0, 0, kMillsPrecision));
  // At zero it is sqrt(pi / 2).
  const double at_zero = before.low.convert_to<double>() * std::ldexp(1.0, -kMillsPrecision);
  EXPECT_NEAR(at_zero, std::sqrt(std::numbers::pi / 2), 1e-15);
  // Quarters up to 16 pass from the series to the continued fraction.
  for (int quarters = 1; quarters <= 64; ++quarters) {
    const Enclosure here = mills_ratio(enclose_dyadic(quarters, 2, kMillsPrecision));
    EXPECT_LT(here.high, before.low) << quarters;
    EXPECT_LT((here.high - here.low).convert_to<double>(), std::ldexp(1.0, 320 - 200)) << quarters;
    const double value = here.low.convert_to<double>() * std::ldexp(1.0, -kMillsPrecision);
    EXPECT_NEAR(mills_ratio(quarters / 4.0) / value, 1, 1e-14) << quarters;
    before = here;
  }
  EXPECT_THROW(mills_ratio(enclose_dyadic(1, 0, 100)), Error);
}

TEST(NormalCell, KeepsItsDigitsInTheFarTails) {
  // The two forms meet at 2 centre half_width = 1, and the cells beyond x make up its tail.
  for (const double half_width : {0.4, 0.1, 0.01}) {
    const double meeting = 0.5 / half_width;
    EXPECT_NEAR(log_normal_cell(meeting * (1 - 1e-15), half_width),
                log_normal_cell(meeting * (1 + 1e-15), half_width), 1e-10);
    double tail = 0;
    const double start = 40 * half_width;
    for (double centre = start + half_width; centre < start + 12; centre += 2 * half_width) {
      tail += std::exp(log_normal_cell(centre, half_width));
    }
    EXPECT_NEAR(tail / (0.5 * std::erfc(start / std::numbers::sqrt2)), 1, 1e-11) << half_width;
  }
  // Where the chance is e^-5000 and no double: phi(x) (M(x - h) ...), by hand for a wide cell.
  const double expected = -0.5 * 99 * 99 - 0.5 * std::log(2 * std::numbers::pi) -
                          std::log(99 + 1 / (99 + 2 / (99 + 3 / 99.0)));
  EXPECT_NEAR(log_normal_cell(100, 1), expected, 1e-9);
}

}  // namespace
}  // namespace shoal::numeric
