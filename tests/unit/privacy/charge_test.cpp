// Charges: integers, rounded up, exact where the parameters are.
#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace shoal::privacy {
namespace {

constexpr std::int64_t kOne = 1'000'000'000'000;  // epsilon 1 in units

TEST(Charge, NothingCostsNothing) {
  EXPECT_EQ(price(event::Compose{}), (Charge{0, 0}));
  EXPECT_EQ(price(event::Repeat{0, event::Pure{3}}), (Charge{0, 0}));
  EXPECT_EQ(price(event::DiscreteGaussian{1, 0}), (Charge{0, 0}));
}

TEST(Charge, DecimalsMeanWhatIsWritten) {
  // The double nearest to 0.1 lies above a tenth; it is a tenth all the same.
  EXPECT_EQ(price(event::Pure{0.1}).epsilon_units, kOne / 10);
  EXPECT_EQ(price(event::Pure{0.3}).epsilon_units, 3 * kOne / 10);
  EXPECT_EQ(price(event::Pure{1e-12}).epsilon_units, 1);
  EXPECT_EQ(price(event::Pure{1e-13}).epsilon_units, 1);  // rounded up
}

TEST(Charge, LaplaceIsSensitivityOverScaleRoundedUp) {
  EXPECT_EQ(price(event::DiscreteLaplace{10, 1}).epsilon_units, kOne / 10);
  EXPECT_EQ(price(event::DiscreteLaplace{3, 1}).epsilon_units, kOne / 3 + 1);
  EXPECT_EQ(price(event::DiscreteLaplace{0.5, 4}).epsilon_units, 8 * kOne);
}

TEST(Charge, GaussianHasNoPureBound) {
  const Charge charge = price(event::DiscreteGaussian{2, 1});
  EXPECT_FALSE(charge.epsilon_units.has_value());
  EXPECT_EQ(charge.rho_units, 125'000'000'000'000);  // 1 / 8
  EXPECT_EQ(price(event::DiscreteGaussian{3, 1}).rho_units, 55'555'555'555'556);
}

TEST(Charge, PureImpliesZcdpByTanh) {
  // rho = epsilon tanh(epsilon / 2): 0.46211715726... at 1.
  const double rho = static_cast<double>(price(event::Pure{1}).rho_units) * 1e-15;
  EXPECT_NEAR(rho, 0.46211715726000976, 2e-15);
  EXPECT_GE(rho, std::tanh(0.5));
}

TEST(Charge, TooLargeToCountIsRefused) {
  EXPECT_THROW(price(event::Pure{1e10}), Error);
  EXPECT_THROW(price(event::Repeat{std::int64_t{1} << 60, event::Pure{1}}), Error);
  EXPECT_THROW(price(event::DiscreteLaplace{1e-300, 1e300}), Error);
}

TEST(Charge, RepeatEqualsComposeEqualsAddingUp) {
  EXPECT_TRUE(rc::check([] {
    const double epsilon = static_cast<double>(*rc::gen::inRange(1, 1'000'000)) / 7919.0;
    const int count = *rc::gen::inRange(1, 50);
    const Event one = event::DiscreteLaplace{1, epsilon};
    event::Compose many;
    Charge sum;
    for (int i = 0; i < count; ++i) {
      many.events.push_back(one);
      sum = add(sum, price(one));
    }
    RC_ASSERT(price(event::Repeat{count, one}) == sum);
    RC_ASSERT(price(many) == sum);
  }));
}

TEST(Charge, NeverBelowTheExactRatio) {
  EXPECT_TRUE(rc::check([] {
    const auto sensitivity = static_cast<double>(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000));
    const double scale =
        static_cast<double>(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000)) / 1024.0;
    const auto units = *price(event::DiscreteLaplace{scale * 1e4, sensitivity / 1e4}).epsilon_units;
    // In long double the exact ratio is known to 64 bits, far finer than a unit at these sizes.
    const long double exact =
        static_cast<long double>(sensitivity / 1e4) / static_cast<long double>(scale * 1e4) * 1e12L;
    RC_ASSERT(static_cast<long double>(units) >= exact - 1e-6L);
    RC_ASSERT(static_cast<long double>(units) <= exact + 1.000001L);
  }));
}

}  // namespace
}  // namespace shoal::privacy
