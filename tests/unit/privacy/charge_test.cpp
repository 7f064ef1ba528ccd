// Charges: integers, rounded up, exact where the parameters are.
#include "support/formula_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace shoal::privacy {
namespace {

constexpr std::int64_t kOne = 1'000'000'000'000;  // epsilon 1 in units

// Under add_remove, where nothing else is said.
Charge price(const Event& event) { return privacy::price(event, Neighbors::add_remove); }
Charge exchanged(const Event& event) { return privacy::price(event, Neighbors::replace_one); }

double mu_of(const Charge& charge) {
  return std::sqrt(2e-15 * static_cast<double>(charge.gaussian_units.value()));
}

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
  EXPECT_EQ(price(event::Gaussian{3, 1}).rho_units, price(event::DiscreteGaussian{3, 1}).rho_units);
  EXPECT_EQ(price(event::Gaussian{3, 0}), (Charge{0, 0}));
}

TEST(Charge, OnlyRealGaussiansAreGaussian) {
  EXPECT_EQ(price(event::Gaussian{2, 1}),
            (Charge{std::nullopt, 125'000'000'000'000, 0, 125'000'000'000'000}));
  EXPECT_EQ(price(event::Gdp{0.5}), price(event::Gaussian{2, 1}));
  EXPECT_EQ(price(event::DiscreteGaussian{2, 1}).gaussian_units, std::nullopt);
  EXPECT_EQ(price(event::Zcdp{0.125}).gaussian_units, std::nullopt);
  EXPECT_EQ(price(event::Zcdp{0}), (Charge{}));
  EXPECT_EQ(price(event::Gdp{0}), (Charge{}));
}

// The trade-off curve of epsilon has its kink where both errors are 1 / (1 + e^epsilon); the
// Gaussian must pass at or below it, and passes there.
TEST(Charge, PureIsGaussianThroughTheKink) {
  for (const double epsilon : {1e-6, 0.01, 0.5, 1.0, 4.0, 20.0, 200.0}) {
    const double mu = mu_of(price(event::Pure{epsilon}));
    const double tail = 0.5 * std::erfc(mu / 2 / std::sqrt(2.0));
    const double kink = 1 / (1 + std::exp(epsilon));
    EXPECT_LE(tail, kink * (1 + 1e-11)) << epsilon;
    EXPECT_GE(tail, kink * (1 - 1e-6)) << epsilon;
  }
  EXPECT_EQ(price(event::Pure{201}).gaussian_units, std::nullopt);
}

TEST(Charge, AnExchangeIsTwoMovesUnlessStated) {
  // sigma 2, sensitivity 1: moves by 2, so rho is (2 / 2)^2 / 2.
  EXPECT_EQ(exchanged(event::Gaussian{2, 1}).rho_units, 500'000'000'000'000);
  EXPECT_EQ(exchanged(event::DiscreteGaussian{2, 1}).rho_units, 500'000'000'000'000);
  EXPECT_EQ(exchanged(event::Gaussian{2, 1, 1}), price(event::Gaussian{2, 1}));
  EXPECT_EQ(exchanged(event::DiscreteLaplace{2, 1}).epsilon_units, kOne);
  EXPECT_EQ(exchanged(event::Laplace{2, 1}).epsilon_units, kOne);
  EXPECT_EQ(exchanged(event::DiscreteLaplace{2, 1, 1}).epsilon_units, kOne / 2);
  EXPECT_EQ(exchanged(event::DiscreteLaplace{2, 1, 0}), (Charge{}));
  const Event inside = event::Repeat{3, event::Compose{{event::Laplace{2, 1}, event::Pure{1}}}};
  EXPECT_EQ(exchanged(inside).epsilon_units, 6 * kOne);
  EXPECT_EQ(price(inside).epsilon_units, 9 * kOne / 2);
  // What is private as such is so under the relation in question.
  for (const Event& event : {Event(event::Pure{1}), Event(event::Zcdp{1}), Event(event::Gdp{1}),
                             Event(event::Exponential{1}), Event(event::RandomizedResponse{1, 3}),
                             Event(event::EpsilonDelta{1, 0.1}), Event(event::Shuffled{1, 10})}) {
    EXPECT_EQ(price(event), exchanged(event)) << to_json(event);
  }
}

TEST(Charge, StatedForARelationCostsTheSameThere) {
  const Event noise =
      event::Compose{{event::DiscreteLaplace{2, 1}, event::Group{2, event::DiscreteGaussian{3, 1}},
                      event::Repeat{2, event::Gaussian{3, 1, 0.5}}, event::Pure{1},
                      event::PoissonSampled{0.5, event::Laplace{4, 1}}}};
  EXPECT_EQ(stated_for(noise, Neighbors::add_remove), noise);
  const Event stated = event::Compose{{event::DiscreteLaplace{2, 1, 1},
                                       event::Group{2, event::DiscreteGaussian{3, 1, 1}},
                                       event::Repeat{2, event::Gaussian{3, 1, 0.5}}, event::Pure{1},
                                       event::PoissonSampled{0.5, event::Laplace{4, 1, 1}}}};
  EXPECT_EQ(stated_for(noise, Neighbors::replace_one), stated);
  EXPECT_EQ(price(stated), price(noise));
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

TEST(Charge, BoundedRangeIsGaussianAsHalfOfPure) {
  for (const test::FormulaRow& row : test::formula_rows("bounded_range_mu")) {
    const double mu = mu_of(price(event::Exponential{row.first}));
    EXPECT_GE(mu, row.value * (1 - 1e-15)) << row.name;
    EXPECT_NEAR(mu, row.value, row.tolerance * row.value) << row.name;
  }
  EXPECT_EQ(price(event::Exponential{0}).gaussian_units, 0);
  EXPECT_GE(price(event::Exponential{5e-324}).gaussian_units, 1);
  EXPECT_EQ(price(event::Exponential{401}).gaussian_units, std::nullopt);
}

// The most powerful tests of the worst pairs of bounded range, over all t: each stays above the
// curve of the Gaussian that is charged, and one of them would not if it were a thousandth less.
TEST(Charge, BoundedRangeIsNoEasierToTellApartThanItsGaussian) {
  const auto upper_tail = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
  const auto threshold = [&](double tail) {
    double low = -40;
    double high = 40;
    for (int i = 0; i < 100; ++i) {
      const double middle = (low + high) / 2;
      (upper_tail(middle) > tail ? low : high) = middle;
    }
    return low;
  };
  for (const double epsilon : {0.05, 1.0, 4.0, 12.0}) {
    const double mu = mu_of(price(event::Exponential{epsilon}));
    bool beyond = false;
    for (int i = 1; i < 400; ++i) {
      const double t = epsilon * i / 400;
      const double high = std::expm1(t - epsilon) / std::expm1(-epsilon);
      const double low = std::expm1(t) / std::expm1(epsilon);  // 1 - high
      // False positives, and then false negatives: of the pair, and of the Gaussian.
      const double at = threshold(std::exp(-t) * high);
      EXPECT_GE(low, (1 - 1e-9) * upper_tail(mu - at)) << epsilon << " " << t;
      beyond = beyond || low < upper_tail(0.999 * mu - at);
    }
    EXPECT_TRUE(beyond) << epsilon;
  }
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

TEST(Charge, WhatMayFailIsChargedItsDelta) {
  const Charge leaky = price(event::LeakyRandomizedResponse{1, 0x1p-20});
  EXPECT_EQ(leaky.delta_units, 953'674'316'407);  // 2^-20 = 0.00000095367431640625
  EXPECT_EQ(leaky.epsilon_units, kOne);
  EXPECT_EQ(leaky.rho_units, price(event::Pure{1}).rho_units);
  EXPECT_EQ(leaky.gaussian_units, price(event::Pure{1}).gaussian_units);
  // A decimal means what is written here, as in pure and zcdp.
  EXPECT_EQ(price(event::EpsilonDelta{1, 1e-6}).delta_units, 1'000'000'000'000);
  EXPECT_EQ(price(event::EpsilonDelta{1, 1e-30}).delta_units, 1);
  EXPECT_EQ(price(event::EpsilonDelta{1, 0}), price(event::Pure{1}));
  EXPECT_EQ(price(event::NameAndShame{0.5}), (Charge{0, 0, 500'000'000'000'000'000, 0}));
  EXPECT_EQ(price(event::NameAndShame{0}), (Charge{0, 0}));
  EXPECT_EQ(price(event::Repeat{3, event::EpsilonDelta{0.1, 1e-9}}).delta_units, 3'000'000'000);
}

TEST(Charge, TooLargeToCountIsRefused) {
  EXPECT_THROW(price(event::Pure{1e10}), Error);
  EXPECT_THROW(price(event::Repeat{std::int64_t{1} << 60, event::Pure{1}}), Error);
  EXPECT_THROW(price(event::DiscreteLaplace{1e-300, 1e300}), Error);
  EXPECT_THROW(price(event::Repeat{10, event::NameAndShame{1}}), Error);
  EXPECT_THROW(price(event::Group{std::int64_t{1} << 60, event::Zcdp{1}}), Error);
  EXPECT_THROW(price(event::Repeat{std::int64_t{1} << 60, event::Gdp{1}}), Error);
  const Charge large{0, 0, std::numeric_limits<std::int64_t>::max(), 0};
  EXPECT_THROW(add(large, price(event::NameAndShame{0.5})), Error);
  const Charge wide{0, 0, 0, std::numeric_limits<std::int64_t>::max()};
  // One bound of several: it is left out.
  EXPECT_EQ(add(wide, price(event::Pure{1})).gaussian_units, std::nullopt);
  EXPECT_EQ(add(wide, price(event::Pure{1})).epsilon_units, kOne);
}

ErrorCode refusal(const Event& event, Neighbors neighbors) {
  try {
    privacy::price(event, neighbors);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(Charge, WhatHasNoChargeIsRefused) {
  const Event table = event::Rdp{{2, 4}, {0.1, 0.2}};
  EXPECT_EQ(refusal(table, Neighbors::add_remove), ErrorCode::unsupported);
  EXPECT_EQ(refusal(event::Compose{{event::Pure{1}, table}}, Neighbors::replace_one),
            ErrorCode::unsupported);
  EXPECT_EQ(price(event::Repeat{0, table}), (Charge{}));
  const Event sampled = event::SampledWithoutReplacement{10, 1, event::Pure{1}};
  EXPECT_EQ(refusal(sampled, Neighbors::add_remove), ErrorCode::unsupported);
  const Event mixed = event::Compose{{event::Zcdp{1}, event::EpsilonDelta{1, 0.1}}};
  EXPECT_EQ(refusal(event::Group{2, mixed}, Neighbors::add_remove), ErrorCode::unsupported);
  EXPECT_EQ(price(event::Group{1, mixed}), price(mixed));
}

TEST(Charge, AGroupMultiplies) {
  EXPECT_EQ(price(event::Group{3, event::Pure{0.5}}), price(event::Pure{1.5}));
  EXPECT_EQ(price(event::Group{3, event::Zcdp{0.5}}), price(event::Zcdp{4.5}));
  EXPECT_EQ(price(event::Group{3, event::Gdp{0.5}}), price(event::Gdp{1.5}));
  // The square of the group beats the pure bound where there is a better zCDP bound to start from.
  EXPECT_EQ(price(event::Group{2, event::Exponential{0.5}}).rho_units, 125'000'000'000'000);
  // delta (e^(k epsilon) - 1) / (e^epsilon - 1) = delta (1 + e^0.5) for two.
  const Charge two = price(event::Group{2, event::EpsilonDelta{0.5, 1e-6}});
  EXPECT_EQ(two.epsilon_units, kOne);
  EXPECT_NEAR(static_cast<double>(two.delta_units) * 1e-18, 1e-6 * (1 + std::exp(0.5)), 1e-18);
  const std::int64_t five = price(event::Group{5, event::NameAndShame{0.125}}).delta_units;
  EXPECT_GE(five, 625'000'000'000'000'000);
  EXPECT_LE(five, 625'000'000'000'001'000);
  EXPECT_EQ(price(event::Group{1000, event::EpsilonDelta{1, 0.1}}).delta_units,
            1'000'000'000'000'000'000);
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

TEST(Charge, OrderDoesNotMatter) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Event> events;
    const int count = *rc::gen::inRange(1, 8);
    for (int i = 0; i < count; ++i) {
      const double size = static_cast<double>(*rc::gen::inRange(1, 1000)) / 256;
      const Event kinds[] = {event::Pure{size},
                             event::Gaussian{3, size},
                             event::Zcdp{size},
                             event::EpsilonDelta{size, 1e-6 * size},
                             event::DiscreteLaplace{2, size},
                             event::Shuffled{size, 100},
                             event::NameAndShame{1e-9}};
      events.push_back(kinds[*rc::gen::inRange(0, 7)]);
    }
    const Neighbors neighbors = *rc::gen::element(Neighbors::add_remove, Neighbors::replace_one);
    std::vector<Event> turned(events.rbegin(), events.rend());
    const Charge forwards = privacy::price(event::Compose{events}, neighbors);
    RC_ASSERT(forwards == privacy::price(event::Compose{turned}, neighbors));
    // More of it never costs less.
    const Charge more = add(forwards, privacy::price(events[0], neighbors));
    RC_ASSERT(more.rho_units >= forwards.rho_units && more.delta_units >= forwards.delta_units);
  }));
}

}  // namespace
}  // namespace shoal::privacy
