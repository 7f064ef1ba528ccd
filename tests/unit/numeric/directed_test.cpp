// Directed rounding against MPFR, which is the oracle: on random arguments of every size and on
// chosen ones (powers of two and their neighbours, subnormals, the ends of the range).
#include "support/seeded_source.hpp"

#include <shoal/numeric/directed.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::numeric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// A number wide enough for the exact sum, product or enclosure of what is tested here.
class Wide {
 public:
  Wide() { mpfr_init2(value_, 2400); }
  explicit Wide(double x) : Wide() { mpfr_set_d(value_, x, MPFR_RNDN); }
  ~Wide() { mpfr_clear(value_); }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// The tightest double on a side. MPFR's own conversion is directed and knows subnormals.
double tightest_up(Wide& x) { return mpfr_get_d(x.get(), MPFR_RNDU); }
double tightest_down(Wide& x) { return mpfr_get_d(x.get(), MPFR_RNDD); }

double random_double(test::SeededSource& bits) {
  while (true) {
    const double x = std::bit_cast<double>(bits.next_bits(64));
    if (std::isfinite(x)) return x;
  }
}

// Moderate sizes too: uniform bit patterns are nearly all astronomically large or small.
double random_moderate(test::SeededSource& bits) {
  const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
  const int exponent = static_cast<int>(bits.next_bits(6)) - 32;
  return std::ldexp(bits.next_bits(1) != 0 ? fraction : -fraction, exponent);
}

std::vector<double> chosen_doubles() {
  std::vector<double> chosen = {0.0,     kSmallest, 0x1p-1022, 0x1p-960, 0x1p-500,
                                0x1p-53, 0.1,       0.5,       1.0,      1.5,
                                3.0,     0x1p53,    0x1p500,   0x1p1023, kLargest};
  const std::size_t count = chosen.size();
  for (std::size_t i = 1; i < count; ++i) {
    chosen.push_back(std::nextafter(chosen[i], 0.0));
    if (chosen[i] < kLargest) chosen.push_back(std::nextafter(chosen[i], kInfinity));
  }
  const std::size_t positive = chosen.size();
  for (std::size_t i = 0; i < positive; ++i) chosen.push_back(-chosen[i]);
  return chosen;
}

enum class Tightness { exact, one_step };

// Bounds the oracle on both sides; tight where the header promises it.
void expect_encloses(double low, double high, Wide& truth, Tightness tightness, double a,
                     double b) {
  const double best_high = tightest_up(truth);
  const double best_low = tightest_down(truth);
  ASSERT_GE(high, best_high) << a << " and " << b;
  ASSERT_LE(low, best_low) << a << " and " << b;
  if (tightness == Tightness::exact) {
    ASSERT_EQ(high, best_high) << a << " and " << b;
    ASSERT_EQ(low, best_low) << a << " and " << b;
  } else {
    ASSERT_LE(high, step_up(best_high)) << a << " and " << b;
    ASSERT_GE(low, step_down(best_low)) << a << " and " << b;
  }
}

void check_operations(double a, double b) {
  Wide x(a);
  Wide y(b);
  Wide truth;
  mpfr_add(truth.get(), x.get(), y.get(), MPFR_RNDN);
  expect_encloses(add_down(a, b), add_up(a, b), truth, Tightness::exact, a, b);
  mpfr_sub(truth.get(), x.get(), y.get(), MPFR_RNDN);
  expect_encloses(subtract_down(a, b), subtract_up(a, b), truth, Tightness::exact, a, b);
  mpfr_mul(truth.get(), x.get(), y.get(), MPFR_RNDN);
  const bool product_normal = std::fabs(a * b) >= 0x1p-960;
  expect_encloses(multiply_down(a, b), multiply_up(a, b), truth,
                  product_normal ? Tightness::exact : Tightness::one_step, a, b);
  if (b == 0) return;
  // 2400 bits do not hold a quotient, but the two roundings of one to 2400 bits agree with it as
  // doubles.
  mpfr_div(truth.get(), x.get(), y.get(), MPFR_RNDN);
  const bool quotient_normal = std::fabs(a) >= 0x1p-960 && std::fabs(a / b) >= 0x1p-960;
  expect_encloses(divide_down(a, b), divide_up(a, b), truth,
                  quotient_normal ? Tightness::exact : Tightness::one_step, a, b);
}

TEST(Directed, OperationsEncloseTheExactResultOfChosenArguments) {
  for (const double a : chosen_doubles()) {
    for (const double b : chosen_doubles()) ASSERT_NO_FATAL_FAILURE(check_operations(a, b));
  }
}

TEST(Directed, OperationsEncloseTheExactResultOfRandomArguments) {
  test::SeededSource bits(1);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_NO_FATAL_FAILURE(check_operations(random_double(bits), random_double(bits)));
    ASSERT_NO_FATAL_FAILURE(check_operations(random_moderate(bits), random_moderate(bits)));
  }
}

TEST(Directed, SquareRootIsTheTightestDouble) {
  test::SeededSource bits(2);
  std::vector<double> arguments = chosen_doubles();
  for (int i = 0; i < 20000; ++i) arguments.push_back(random_double(bits));
  for (int i = 0; i < 2000; ++i) arguments.push_back(std::ldexp(random_moderate(bits), -1030));
  for (const double signed_argument : arguments) {
    const double a = std::fabs(signed_argument);
    Wide x(a);
    Wide truth;
    mpfr_sqrt(truth.get(), x.get(), MPFR_RNDN);
    ASSERT_NO_FATAL_FAILURE(
        expect_encloses(sqrt_down(a), sqrt_up(a), truth, Tightness::exact, a, 0));
  }
  EXPECT_TRUE(std::isnan(sqrt_up(-1.0)));
}

TEST(Directed, InfinitiesAndNansGoThrough) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(add_down(kInfinity, 1), kInfinity);
  EXPECT_EQ(add_up(-kInfinity, 1), -kInfinity);
  EXPECT_EQ(multiply_down(kInfinity, 2), kInfinity);
  EXPECT_EQ(divide_down(1, 0.0), kInfinity);
  EXPECT_EQ(divide_up(1, kInfinity), 0);
  EXPECT_EQ(log_up(0.0), -kInfinity);
  EXPECT_EQ(exp_down(-kInfinity), 0);
  EXPECT_EQ(exp_down(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(add_up(nan, 1)));
  EXPECT_TRUE(std::isnan(multiply_down(nan, 0)));
  EXPECT_TRUE(std::isnan(exp_up(nan)));
  EXPECT_TRUE(std::isnan(log_down(-1.0)));
}

TEST(Directed, OverflowStaysFiniteOnTheNearSide) {
  EXPECT_EQ(add_up(kLargest, kLargest), kInfinity);
  EXPECT_EQ(add_down(kLargest, kLargest), kLargest);
  EXPECT_EQ(add_up(-kLargest, -kLargest), -kLargest);
  EXPECT_EQ(multiply_down(kLargest, 2), kLargest);
  EXPECT_EQ(divide_down(kLargest, 0.5), kLargest);
  EXPECT_EQ(exp_up(710), kInfinity);
  EXPECT_LE(exp_down(710), kLargest);
}

TEST(Directed, UnderflowStaysOnItsSide) {
  EXPECT_GT(multiply_up(kSmallest, kSmallest), 0);
  EXPECT_LE(multiply_down(kSmallest, kSmallest), 0);
  EXPECT_GT(exp_up(-1000), 0);
  EXPECT_EQ(exp_down(-1000), 0);
  EXPECT_EQ(expm1_down(-1000), -1);
  EXPECT_GT(expm1_up(-1000), -1);
}

struct LibmFunction {
  const char* name;
  double (*up)(double);
  double (*down)(double);
  int (*oracle)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double low;
  double high;
  int steps;
};

class DirectedLibm : public testing::TestWithParam<LibmFunction> {};

// Within `steps` of the truth too: the libm here errs by less than the widening on every argument
// tried.
void check_libm(const LibmFunction& function, double x) {
  if (!(x >= function.low && x <= function.high)) return;
  mpfr_t argument;
  mpfr_t truth;
  mpfr_init2(argument, 53);
  mpfr_init2(truth, 200);
  mpfr_set_d(argument, x, MPFR_RNDN);
  function.oracle(truth, argument, MPFR_RNDN);
  const double best_high = mpfr_get_d(truth, MPFR_RNDU);
  const double best_low = mpfr_get_d(truth, MPFR_RNDD);
  mpfr_clear(argument);
  mpfr_clear(truth);
  ASSERT_GE(function.up(x), best_high) << function.name << " of " << x;
  ASSERT_LE(function.down(x), best_low) << function.name << " of " << x;
  ASSERT_LE(function.up(x), step_up(best_high, 2 * function.steps)) << function.name << " of " << x;
  ASSERT_GE(function.down(x), step_down(best_low, 2 * function.steps))
      << function.name << " of " << x;
}

TEST_P(DirectedLibm, EnclosesTheExactValue) {
  const LibmFunction& function = GetParam();
  test::SeededSource bits(3);
  for (const double x : chosen_doubles()) ASSERT_NO_FATAL_FAILURE(check_libm(function, x));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_NO_FATAL_FAILURE(check_libm(function, random_double(bits)));
    ASSERT_NO_FATAL_FAILURE(check_libm(function, random_moderate(bits)));
    ASSERT_NO_FATAL_FAILURE(check_libm(function, 1 + 0x1p-40 * random_moderate(bits)));
  }
  // Around the ends of the exponential's range, and where its results are subnormal.
  for (int i = 0; i < 2000; ++i) {
    const double offset = static_cast<double>(bits.next_bits(50)) * 0x1p-44;
    ASSERT_NO_FATAL_FAILURE(check_libm(function, -690 - offset));
    ASSERT_NO_FATAL_FAILURE(check_libm(function, 690 + offset));
    ASSERT_NO_FATAL_FAILURE(check_libm(function, offset / 2));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, DirectedLibm,
    testing::Values(
        LibmFunction{"exp", exp_up, exp_down, mpfr_exp, -kLargest, kLargest, kLibmSteps},
        LibmFunction{"expm1", expm1_up, expm1_down, mpfr_expm1, -kLargest, kLargest, kLibmSteps},
        LibmFunction{"log", log_up, log_down, mpfr_log, kSmallest, kLargest, kLibmSteps},
        LibmFunction{"log1p", log1p_up, log1p_down, mpfr_log1p, -1 + 0x1p-53, kLargest, kLibmSteps},
        LibmFunction{"tanh", tanh_up, tanh_down, mpfr_tanh, -kLargest, kLargest, kLibmSteps},
        LibmFunction{"erfc", erfc_up, erfc_down, mpfr_erfc, -1e6, 1e6, kErfcSteps}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace shoal::numeric
