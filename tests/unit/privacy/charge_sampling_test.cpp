// Charges of events on random parts of the people: against the exact laws of small examples.
#include <shoal/privacy/charge.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::privacy {
namespace {

double epsilon_of(const Charge& charge) {
  return static_cast<double>(charge.epsilon_units.value()) * 1e-12;
}
double delta_of(const Charge& charge) { return static_cast<double>(charge.delta_units) * 1e-18; }

Charge added(const Event& event) { return price(event, Neighbors::add_remove); }
Charge exchanged(const Event& event) { return price(event, Neighbors::replace_one); }

using Law = std::vector<double>;

Law mix(double rate, const Law& out, const Law& in) {
  Law mixed(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) mixed[i] = (1 - rate) * out[i] + rate * in[i];
  return mixed;
}

// The smallest pure epsilon of two laws, both ways.
double pure_epsilon(const Law& p, const Law& q) {
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    worst = std::max(worst, std::fabs(std::log(p[i] / q[i])));
  return worst;
}

// The smallest delta at an epsilon, one way.
double hockey_stick(const Law& p, const Law& q, double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}

// The probabilities of discrete Laplace noise from -40 to 40, enough for the worst ratio.
Law laplace_law(double scale, int centre) {
  Law law;
  for (int x = -40; x <= 40; ++x) {
    law.push_back(std::tanh(0.5 / scale) * std::exp(-std::abs(x - centre) / scale));
  }
  return law;
}

TEST(SampledCharge, PoissonUnderAddRemoveIsExactForNoise) {
  for (const double scale : {0.5, 1.0, 3.0}) {
    for (const double rate : {0.001, 0.1, 0.5, 0.99}) {
      const Law absent = laplace_law(scale, 0);
      const Law present = mix(rate, absent, laplace_law(scale, 1));
      const double truth = std::log1p(rate * std::expm1(1 / scale));
      const double charge =
          epsilon_of(added(event::PoissonSampled{rate, event::DiscreteLaplace{scale, 1}}));
      EXPECT_GE(charge, truth * (1 - 1e-12));
      EXPECT_LE(charge, truth + 2e-12);
      EXPECT_LE(pure_epsilon(present, absent), charge + 1e-12) << scale << " " << rate;
      EXPECT_GE(pure_epsilon(present, absent), charge - 3e-12) << scale << " " << rate;
    }
  }
}

// A sum to which one person adds 1 and another -1: the exchange moves it by 2.
TEST(SampledCharge, PoissonUnderReplaceOneIsExactForNoise) {
  for (const double scale : {0.5, 1.0, 3.0}) {
    for (const double rate : {0.001, 0.1, 0.5, 0.99}) {
      const Law absent = laplace_law(scale, 0);
      const Law one = mix(rate, absent, laplace_law(scale, 1));
      const Law other = mix(rate, absent, laplace_law(scale, -1));
      const double charge =
          epsilon_of(exchanged(event::PoissonSampled{rate, event::DiscreteLaplace{scale, 1}}));
      EXPECT_LE(pure_epsilon(one, other), charge + 1e-12) << scale << " " << rate;
      EXPECT_GE(pure_epsilon(one, other), charge - 3e-12) << scale << " " << rate;
    }
  }
}

// A count: the exchange moves it by 1, from somebody who counts to somebody who does not.
TEST(SampledCharge, PoissonUnderReplaceOneOfACountIsThatOfAddRemove) {
  for (const double rate : {0.01, 0.5}) {
    const Event count = event::PoissonSampled{rate, event::DiscreteLaplace{2, 1, 1}};
    EXPECT_NEAR(epsilon_of(exchanged(count)), epsilon_of(added(count)), 3e-12);
  }
}

// Where the base is only known to hide exchanges, whether somebody is in the sample may show: then
// nothing is gained. Such a base: it tells how many people it got, and else is randomized response.
TEST(SampledCharge, PoissonUnderReplaceOneGainsNothingFromAnExchangeBound) {
  const double rate = 0.1;
  const double high = std::exp(1.0) / (1 + std::exp(1.0));
  const Law empty = {1, 0, 0};
  const Law one = mix(rate, empty, {0, high, 1 - high});
  const Law other = mix(rate, empty, {0, 1 - high, high});
  EXPECT_NEAR(std::log(one[1] / other[1]), 1, 1e-12);
  EXPECT_EQ(exchanged(event::PoissonSampled{rate, event::Pure{1}}), exchanged(event::Pure{1}));
  EXPECT_LT(added(event::PoissonSampled{rate, event::Pure{1}}).epsilon_units, 158'600'000'000);
}

// Whether the people of a group are sampled one by one or together, the charge covers both.
TEST(SampledCharge, AGroupInsideCoversPeopleSampledOneByOne) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Event one = event::DiscreteLaplace{2, 1};
    for (const std::int64_t size : {2, 5}) {
      const Event inside = event::PoissonSampled{rate, event::Group{size, one}};
      const Event outside = event::Group{size, event::PoissonSampled{rate, one}};
      EXPECT_GE(epsilon_of(added(inside)), epsilon_of(added(outside)) - 1e-11);
      EXPECT_GE(epsilon_of(exchanged(inside)), epsilon_of(exchanged(outside)) - 1e-11);
    }
  }
}

TEST(SampledCharge, RatesMultiply) {
  const Event once = event::PoissonSampled{0.125, event::DiscreteLaplace{1, 1}};
  const Event twice =
      event::PoissonSampled{0.25, event::PoissonSampled{0.5, event::DiscreteLaplace{1, 1}}};
  EXPECT_NEAR(epsilon_of(added(once)), epsilon_of(added(twice)), 3e-12);
  EXPECT_GE(epsilon_of(exchanged(twice)), epsilon_of(exchanged(once)) - 3e-12);
}

// Two people, one of them drawn, who reports a bit by randomized response.
TEST(SampledCharge, WithoutReplacementCoversASmallPopulation) {
  for (const double epsilon : {0.1, 1.0, 5.0}) {
    const double high = std::exp(epsilon) / (1 + std::exp(epsilon));
    const Law zero = {high, 1 - high};
    const Law one = {1 - high, high};
    const double charge =
        epsilon_of(exchanged(event::SampledWithoutReplacement{2, 1, event::Pure{epsilon}}));
    EXPECT_NEAR(charge, std::log1p(std::expm1(epsilon) / 2), 2e-12);
    for (const Law& rest : {zero, one}) {
      EXPECT_LE(pure_epsilon(mix(0.5, rest, zero), mix(0.5, rest, one)), charge + 1e-12);
    }
    EXPECT_NEAR(pure_epsilon(mix(0.5, zero, zero), mix(0.5, zero, one)), charge, 2e-12);
  }
}

TEST(SampledCharge, DeltaShrinksWithTheRate) {
  const double epsilon = 1;
  const double delta = 0.01;
  const double rate = 0.25;
  // Leaky randomized response: told, or flipped.
  const double high = (1 - delta) * std::exp(epsilon) / (1 + std::exp(epsilon));
  const Law zero = {delta, high, 1 - delta - high, 0};
  const Law one = {0, 1 - delta - high, high, delta};
  const Charge charge = added(event::PoissonSampled{rate, event::EpsilonDelta{epsilon, delta}});
  EXPECT_NEAR(delta_of(charge), rate * delta, 1e-17);
  EXPECT_NEAR(epsilon_of(charge), std::log1p(rate * std::expm1(epsilon)), 2e-12);
  const Law sampled = mix(rate, zero, one);
  EXPECT_LE(hockey_stick(sampled, zero, epsilon_of(charge)), delta_of(charge) + 1e-15);
  EXPECT_LE(hockey_stick(zero, sampled, epsilon_of(charge)), delta_of(charge) + 1e-15);
  EXPECT_GE(hockey_stick(sampled, zero, epsilon_of(charge)), 0.9 * delta_of(charge));
  const Event fixed = event::SampledWithoutReplacement{4, 1, event::EpsilonDelta{epsilon, delta}};
  EXPECT_NEAR(delta_of(exchanged(fixed)), rate * delta, 1e-17);
}

TEST(SampledCharge, GaussiansCostAsIfEverybodyWereIn) {
  const Event gaussian = event::Gaussian{2, 1};
  EXPECT_EQ(added(event::PoissonSampled{0.01, gaussian}), added(gaussian));
  EXPECT_EQ(exchanged(event::PoissonSampled{0.01, gaussian}), exchanged(gaussian));
  EXPECT_EQ(exchanged(event::SampledWithoutReplacement{100, 1, gaussian}), exchanged(gaussian));
  const Event mixed = event::Compose{{gaussian, event::EpsilonDelta{1, 1e-6}}};
  EXPECT_EQ(added(event::PoissonSampled{0.01, mixed}), added(mixed));
}

TEST(SampledCharge, NobodyCostsNothingAndEverybodyTheWhole) {
  for (const Event& event : {Event(event::DiscreteLaplace{1, 1}), Event(event::Gaussian{1, 1}),
                             Event(event::EpsilonDelta{1, 1e-6}), Event(event::Exponential{1})}) {
    EXPECT_EQ(added(event::PoissonSampled{0, event}), (Charge{}));
    EXPECT_EQ(added(event::PoissonSampled{1, event}), added(event));
    EXPECT_EQ(exchanged(event::PoissonSampled{1, event}), exchanged(event));
    EXPECT_EQ(exchanged(event::SampledWithoutReplacement{9, 0, event}), (Charge{}));
    EXPECT_EQ(exchanged(event::SampledWithoutReplacement{9, 9, event}), exchanged(event));
  }
}

TEST(SampledCharge, NeverCostsMoreThanTheWholeAndGrowsWithTheRate) {
  EXPECT_TRUE(rc::check([] {
    const double epsilon = std::exp(static_cast<double>(*rc::gen::inRange(-1000, 600)) / 100.0);
    const double rate = std::exp(-static_cast<double>(*rc::gen::inRange(0, 2000)) / 100.0);
    const Neighbors neighbors = *rc::gen::element(Neighbors::add_remove, Neighbors::replace_one);
    const Event base = event::DiscreteLaplace{1, epsilon};
    const Charge whole = price(base, neighbors);
    const Charge part = price(event::PoissonSampled{rate, base}, neighbors);
    const Charge less = price(event::PoissonSampled{rate / 2, base}, neighbors);
    RC_ASSERT(*part.epsilon_units <= *whole.epsilon_units && part.rho_units <= whole.rho_units);
    RC_ASSERT(!whole.gaussian_units || *part.gaussian_units <= *whole.gaussian_units);
    // Up to the rounding of the functions that go into it.
    RC_ASSERT(epsilon_of(less) <= epsilon_of(part) * (1 + 1e-13) + 1e-12);
  }));
}

}  // namespace
}  // namespace shoal::privacy
