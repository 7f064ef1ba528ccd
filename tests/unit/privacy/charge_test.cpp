// Charges: integers, rounded up, exact where the parameters are.
#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>

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

TEST(Charge, ContinuousNoiseCostsWhatTheDiscreteDoes) {
  EXPECT_EQ(price(event::Laplace{3, 1}), price(event::DiscreteLaplace{3, 1}));
  EXPECT_EQ(price(event::Gaussian{3, 1}), price(event::DiscreteGaussian{3, 1}));
  EXPECT_EQ(price(event::Gaussian{3, 0}), (Charge{0, 0}));
}

TEST(Charge, RandomizedResponseIsPureAtTheExactValue) {
  EXPECT_EQ(price(event::RandomizedResponse{0.5, 7}), price(event::Pure{0.5}));
  EXPECT_EQ(price(event::RandomizedResponse{0, 2}), (Charge{0, 0}));
  // The double nearest to 0.1 lies above a tenth, and here it is not a tenth but that double.
  EXPECT_EQ(price(event::RandomizedResponse{0.1, 2}).epsilon_units, kOne / 10 + 1);
  EXPECT_EQ(price(event::LeakyRandomizedResponse{0.5, 0}), price(event::Pure{0.5}));
}

TEST(Charge, BoundedRangeIsAnEighthOfTheSquare) {
  const Charge half = price(event::Exponential{0.5});
  EXPECT_EQ(half.epsilon_units, kOne / 2);
  EXPECT_EQ(half.rho_units, 31'250'000'000'000);  // 0.25 / 8
  EXPECT_EQ(price(event::Exponential{0}), (Charge{0, 0}));
  // Where the square is larger than the bound of any pure mechanism, that one is taken.
  EXPECT_EQ(price(event::Exponential{7.5}).rho_units, 7'031'250'000'000'000);
  EXPECT_EQ(price(event::Exponential{64}).rho_units, price(event::Pure{64}).rho_units);
  EXPECT_EQ(price(event::Exponential{1000}).rho_units, price(event::Pure{1000}).rho_units);
}

// Renyi divergence of the worst pair of bounded range epsilon: two outcomes whose losses are t and
// t + epsilon, over all t. The charge must not lie below it, and for small epsilon not far above.
TEST(Charge, BoundedRangeCoversTheWorstPair) {
  for (const double epsilon : {0.125, 1.0, 3.0, 7.0, 10.0}) {
    const double rho = static_cast<double>(price(event::Exponential{epsilon}).rho_units) * 1e-15;
    double worst = 0;
    for (int i = 1; i < 400; ++i) {
      const double t = -epsilon * i / 400;
      // P(first) = e^t Q(first) and both sum to one.
      const double q = std::expm1(t + epsilon) / (std::exp(t + epsilon) - std::exp(t));
      for (const double order : {1.001, 1.5, 2.0, 4.0, 16.0}) {
        const double sum = q * std::exp(order * t) + (1 - q) * std::exp(order * (t + epsilon));
        worst = std::max(worst, std::log(sum) / (order - 1) / order);
      }
    }
    EXPECT_LE(worst, rho * (1 + 1e-9)) << epsilon;
    if (epsilon <= 1) {
      EXPECT_GE(worst, 0.95 * rho) << epsilon;
    }
  }
}

TEST(Charge, DeltaOfItsOwnIsRefused) {
  const Event events[] = {event::LeakyRandomizedResponse{1, 1e-9}, event::NameAndShame{1e-9},
                          event::Compose{{event::Pure{1}, event::NameAndShame{0.5}}},
                          event::Repeat{2, event::LeakyRandomizedResponse{0, 1}}};
  for (const Event& event : events) {
    try {
      price(event);
      ADD_FAILURE() << "priced " << to_json(event);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("no delta of its own"), std::string::npos);
    }
  }
  EXPECT_EQ(price(event::NameAndShame{0}), (Charge{0, 0}));
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
