// Trade-off functions: golden values, formulas that are known, laws that every trade-off function
// obeys, and the way back to the profile.
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/renyi_conversion.hpp>
#include <shoal/privacy/tradeoff.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace shoal::privacy {
namespace {

constexpr Neighbors kAddRemove = Neighbors::add_remove;

const std::vector<double> kRates = {0,   1e-300, 1e-9, 1e-6, 1e-3, 0.01, 0.05,
                                    0.1, 0.25,   0.5,  0.75, 0.9,  0.99, 1};

void expect_within(const Bounds& bounds, double value, double tolerance, const std::string& what) {
  EXPECT_LE(bounds.lower, value + 1e-14) << what;
  EXPECT_GE(bounds.upper, value - 1e-14) << what;
  EXPECT_LE(bounds.upper - bounds.lower, tolerance) << what;
}

TEST(TradeOff, GoldenValues) {
  const Event pair = event::Compose{{event::EpsilonDelta{1, 0.1}, event::EpsilonDelta{2, 0.2}}};
  for (const auto& row : test::read_golden_text("tradeoff")) {
    const double mu = std::stod(row.at(1));
    const double a = std::stod(row.at(2));
    const double missed = 1 - std::stod(row.at(3));
    const Event event = row.at(0) == "pair" ? pair : Event(event::Gdp{mu});
    const TradeOff curve(event, kAddRemove);
    expect_within(curve.false_negative(a, 1e-9), missed, 1.1e-9, row.at(0) + " " + row.at(2));
    if (row.at(0) == "gdp")
      expect_within(gdp_tradeoff(mu, a), missed, 1e-13, "closed " + row.at(2));
  }
}

TEST(TradeOff, EpsilonDeltaIsTwoLines) {
  for (const Guarantee step : {Guarantee{1, 0}, Guarantee{0.3, 1e-3}, Guarantee{0, 0.2},
                               Guarantee{5, 1e-9}, Guarantee{0, 0}}) {
    const TradeOff curve(event::EpsilonDelta{step.epsilon, step.delta}, kAddRemove);
    for (const double a : kRates) {
      const double value = std::max({0.0, 1 - step.delta - std::exp(step.epsilon) * a,
                                     std::exp(-step.epsilon) * (1 - step.delta - a)});
      const std::string what = std::to_string(step.epsilon) + " " + std::to_string(step.delta) +
                               " at " + std::to_string(a);
      expect_within(epsilon_delta_tradeoff(step, a), value, 1e-14, what);
      expect_within(curve.false_negative(a), value, 1.1e-7, what);
    }
  }
}

// The Laplace mechanism's curve in closed form: e^-epsilon - type lines at both ends, a hyperbola
// between (Dong, Roth and Su 2022).
TEST(TradeOff, Laplace) {
  const double epsilon = 1.5;
  const TradeOff curve(event::Laplace{2, 3}, kAddRemove);
  for (const double a : kRates) {
    double value = 0;
    if (a < std::exp(-epsilon) / 2) {
      value = 1 - std::exp(epsilon) * a;
    } else if (a <= 0.5) {
      value = std::exp(-epsilon) / (4 * a);
    } else {
      value = std::exp(-epsilon) * (1 - a);
    }
    expect_within(curve.false_negative(a), value, 1.1e-7, std::to_string(a));
  }
}

TEST(TradeOff, GaussianFromTheProfile) {
  for (const double mu : {0.01, 0.5, 1.0, 3.0}) {
    const TradeOff curve(event::Gaussian{1 / mu, 1}, kAddRemove);
    for (const double a : kRates) {
      const Bounds exact = gdp_tradeoff(mu, a);
      const Bounds found = curve.false_negative(a);
      EXPECT_LE(found.lower, exact.upper) << mu << " " << a;
      EXPECT_GE(found.upper, exact.lower) << mu << " " << a;
      if (a < 1e-290) continue;
      EXPECT_LE(found.upper - found.lower, 1.1e-7) << mu << " " << a;
      EXPECT_LE(exact.upper - exact.lower, 1e-12) << mu << " " << a;
    }
  }
}

// A sample tells presence and absence apart differently: the curves are each other's inverse.
TEST(TradeOff, DirectionsAreInverse) {
  const Event step = event::PoissonSampled{0.2, event::Gaussian{1, 1}};
  const TradeOff curve(event::Repeat{5, step}, kAddRemove);
  bool differs = false;
  for (const double a : {0.01, 0.1, 0.6}) {
    const Bounds there = curve.finding_presence(a, 1e-5);
    const Bounds other = curve.finding_absence(a, 1e-5);
    EXPECT_LT(there.upper - there.lower, 3e-5) << a;
    differs = differs || there.lower > other.upper || other.lower > there.upper;
    // Where absence has b false positives, it has a false negatives.
    const Bounds low = curve.finding_absence(there.lower, 1e-5);
    const Bounds high = curve.finding_absence(there.upper, 1e-5);
    EXPECT_GE(low.upper, a) << a;
    EXPECT_LE(high.lower, a) << a;
    EXPECT_NEAR(low.upper, a, 1e-3) << a;
    const Bounds worse = curve.false_negative(a, 1e-5);
    EXPECT_NEAR(worse.upper, std::min(there.upper, other.upper), 1e-5);
    EXPECT_NEAR(worse.lower, std::min(there.lower, other.lower), 1e-5);
  }
  EXPECT_TRUE(differs);
}

// One draw of a Poisson-sampled Gaussian: the tests are thresholds, in closed form.
TEST(TradeOff, PoissonSampledGaussianByThresholds) {
  const double rate = 0.1;
  const double mu = 1;
  const TradeOff curve(event::PoissonSampled{rate, event::Gaussian{1, 1}}, kAddRemove);
  for (const double z : {-1.0, 0.0, 1.0, 2.5, 4.0}) {
    const double a = std::erfc(z / std::sqrt(2.0)) / 2;
    const double missed = 1 - ((1 - rate) * a + rate * std::erfc((z - mu) / std::sqrt(2.0)) / 2);
    expect_within(curve.finding_presence(a, 1e-9), missed, 1.1e-9, std::to_string(z));
  }
}

TEST(TradeOff, FallsAndIsConvex) {
  const TradeOff curve(
      event::Compose{{event::Repeat{3, event::Laplace{1, 1}}, event::Gaussian{2, 1}}}, kAddRemove);
  std::vector<Bounds> values;
  for (int i = 0; i <= 20; ++i) values.push_back(curve.false_negative(i / 20.0, 1e-6));
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    EXPECT_GE(values[i].upper, values[i + 1].lower) << i;
    EXPECT_LE(values[i].upper, 1 - static_cast<double>(i) / 20.0 + 1e-15) << i;
    if (i > 0) {
      EXPECT_LE(values[i].lower, (values[i - 1].upper + values[i + 1].upper) / 2 + 1e-15) << i;
    }
  }
}

// What is told outright is found without any false alarm.
TEST(TradeOff, NoFalsePositives) {
  const TradeOff told(event::Repeat{2, event::NameAndShame{0.1}}, kAddRemove);
  expect_within(told.false_negative(0), 0.81, 1e-7, "told");
  const TradeOff leaky(event::LeakyRandomizedResponse{1, 0.25}, kAddRemove);
  expect_within(leaky.false_negative(0), 0.75, 1e-7, "leaky");
  const TradeOff hidden(event::Gaussian{1, 1}, kAddRemove);
  EXPECT_GT(hidden.false_negative(0).lower, 1 - 2e-7);
  EXPECT_EQ(hidden.false_negative(0).upper, 1);
  EXPECT_EQ(hidden.false_negative(1), (Bounds{0, 0}));
  const TradeOff nothing(event::Compose{}, kAddRemove);
  for (const double a : kRates) expect_within(nothing.false_negative(a), 1 - a, 1e-7, "nothing");
}

std::vector<TradeOffPoint> sampled(const std::function<Bounds(double)>& curve, int count) {
  std::vector<TradeOffPoint> points;
  for (int i = 0; i <= count; ++i) {
    // Denser at both ends, where the curve bends.
    const double t = static_cast<double>(i) / count;
    const double a = i == count ? 1 : t * t * t * (10 - 15 * t + 6 * t * t);
    points.push_back({a, curve(a)});
  }
  return points;
}

TEST(TradeOff, RoundTripThroughPoints) {
  const double mu = 1.2;
  const auto points = sampled([&](double a) { return gdp_tradeoff(mu, a); }, 400);
  for (const double epsilon : {-3.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0}) {
    const Bounds exact = gdp_delta(mu, epsilon);
    const Bounds found = delta_of_tradeoff(points, epsilon);
    EXPECT_LE(found.lower, exact.upper) << epsilon;
    EXPECT_GE(found.upper, exact.lower) << epsilon;
    EXPECT_LT(found.upper - found.lower, 2e-4) << epsilon;
  }
  // Twice as many points, about a quarter of the gap.
  const auto more = sampled([&](double a) { return gdp_tradeoff(mu, a); }, 800);
  const Bounds few = delta_of_tradeoff(points, 1);
  const Bounds many = delta_of_tradeoff(more, 1);
  EXPECT_LT(many.upper - many.lower, 0.5 * (few.upper - few.lower));
}

TEST(TradeOff, RoundTripOfOnePointIsSafe) {
  // All that is known: of one in ten blamed wrongly, four in ten are missed at least.
  const std::vector<TradeOffPoint> one = {{0.1, {0.4, 0.5}}};
  // The worst convex curve goes straight from (0, 1) through (0.1, 0.4) down to (1/6, 0), so
  // delta(0) = 1 - 1/6; the best one is straight from (0.1, 0.5) to both ends: 1 - 0.5 - 0.1.
  EXPECT_NEAR(delta_of_tradeoff(one, 0).upper, 5.0 / 6, 1e-12);
  EXPECT_NEAR(delta_of_tradeoff(one, 0).lower, 0.4, 1e-12);
  const std::vector<TradeOffPoint> whole = {{0, {1, 1}}, {1, {0, 0}}};
  EXPECT_LE(delta_of_tradeoff(whole, 0).lower, 1e-12);
  EXPECT_THROW(delta_of_tradeoff({}, 0), Error);
  EXPECT_THROW(delta_of_tradeoff(std::vector<TradeOffPoint>{{0.5, {0, 1}}, {0.5, {0, 1}}}, 0),
               Error);
  EXPECT_THROW(delta_of_tradeoff(std::vector<TradeOffPoint>{{0.5, {0.4, 0.3}}}, 0), Error);
}

TEST(TradeOff, GuaranteesTogether) {
  std::vector<Guarantee> guarantees;
  for (double epsilon = 0; epsilon < 8; epsilon += 0.01) {
    guarantees.push_back({epsilon, gdp_delta(1, epsilon).upper});
  }
  for (const double a : {0.01, 0.1, 0.5, 0.9}) {
    const double found = tradeoff_of_guarantees_down(guarantees, a);
    EXPECT_LE(found, gdp_tradeoff(1, a).upper) << a;
    EXPECT_GT(found, gdp_tradeoff(1, a).lower - 2e-5) << a;
  }
  EXPECT_EQ(tradeoff_of_guarantees_down({}, 0.1), 0);
}

TEST(Membership, EvenPriorIsHalfOfOnePlusDelta) {
  const TradeOff curve(event::Gaussian{1, 1}, kAddRemove);
  const MembershipRisk risk = curve.membership(0.5);
  EXPECT_EQ(risk.blind, 0.5);
  expect_within(risk.right, (1 + gdp_delta(1, 0).upper) / 2, 1e-12, "even");
}

// Over all thresholds z: the chance of being right by saying "there" above z.
TEST(Membership, AnyPriorIsTheBestThreshold) {
  const TradeOff curve(event::Gaussian{1, 1}, kAddRemove);
  for (const double prior : {0.01, 0.2, 0.5, 0.7, 0.99}) {
    double best = 0;
    for (double z = -10; z < 10; z += 1e-3) {
      const double a = std::erfc(z / std::sqrt(2.0)) / 2;
      const double found = std::erfc((z - 1) / std::sqrt(2.0)) / 2;
      best = std::max(best, prior * found + (1 - prior) * (1 - a));
    }
    const MembershipRisk risk = curve.membership(prior);
    EXPECT_NEAR(risk.right.upper, best, 1e-6) << prior;
    EXPECT_GE(risk.right.upper, best - 1e-12) << prior;
    EXPECT_LE(risk.right.lower, risk.right.upper) << prior;
    EXPECT_GE(risk.right.lower, risk.blind) << prior;
  }
}

// At epsilon 0, and by the curve: the best guess is right with 1 - min over a of (p f(a) + (1 - p)
// a).
TEST(Membership, SampledAtEvenOdds) {
  const TradeOff curve(event::Repeat{5, event::PoissonSampled{0.2, event::Gaussian{1, 1}}},
                       kAddRemove);
  const MembershipRisk risk = curve.membership(0.5);
  EXPECT_LT(risk.right.upper - risk.right.lower, 1e-5);
  // delta(0) to ten digits, by the loss distribution at its finest.
  EXPECT_NEAR(risk.right.upper, (1 + 0.18803306852) / 2, 1e-5);
  double best = 1;
  for (double a = 0.2; a < 0.6; a += 0.02) {
    best = std::min(best, (curve.finding_presence(a, 1e-5).upper + a) / 2);
  }
  EXPECT_LE(1 - best, risk.right.upper);
  EXPECT_GE(1 - best, risk.right.lower - 1e-3);
}

TEST(Membership, FromAGuarantee) {
  for (const double epsilon : {0.0, 0.1, 1.0, 5.0}) {
    for (const double delta : {0.0, 1e-6, 0.1}) {
      const double growth = std::exp(epsilon);
      EXPECT_NEAR(membership_up({epsilon, delta}, 0.5), (growth + delta) / (1 + growth), 1e-13);
    }
  }
  EXPECT_NEAR(posterior_up(0.5, std::log(3.0)), 0.75, 1e-15);
  EXPECT_GE(posterior_up(0.1, 1.0), 0.1 * std::exp(1.0) / (0.9 + 0.1 * std::exp(1.0)) - 1e-16);
  EXPECT_EQ(posterior_up(0, 5), 0);
  EXPECT_EQ(posterior_up(1, 5), 1);
  EXPECT_EQ(posterior_up(0.5, HUGE_VAL), 1);
}

TEST(Membership, SentencesRoundToTheSafeSide) {
  const auto words = in_words({0.5, 0.5, {0.500001, 0.500001}});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_NE(words[0].find("at most 50.01%"), std::string::npos) << words[0];
  EXPECT_NE(words[0].find("guessing gives 50%"), std::string::npos) << words[0];
  const auto nothing = in_words({0.5, 0.5, {0.5, 0.5 * (1 + 1e-14)}});
  EXPECT_NE(nothing[0].find("at most 50%"), std::string::npos) << nothing[0];
  const auto leaking = in_words({0.5, 0.5, {0.90009, 0.90011}});
  ASSERT_EQ(leaking.size(), 2u);
  EXPECT_NE(leaking[1].find("90%"), std::string::npos) << leaking[1];
}

TEST(TradeOff, RefusesWhatIsOutOfRange) {
  const TradeOff curve(event::Gaussian{1, 1}, kAddRemove);
  EXPECT_THROW(curve.false_negative(-0.1), Error);
  EXPECT_THROW(curve.false_negative(1.1), Error);
  EXPECT_THROW(curve.false_negative(NAN), Error);
  EXPECT_THROW(curve.false_negative(0.1, 0), Error);
  EXPECT_THROW(curve.membership(0), Error);
  EXPECT_THROW(curve.membership(1), Error);
  EXPECT_THROW(epsilon_delta_tradeoff({-1, 0}, 0.1), Error);
  EXPECT_THROW(gdp_tradeoff(-1, 0.1), Error);
  EXPECT_THROW(posterior_up(2, 1), Error);
  EXPECT_THROW(TradeOff(event::SampledWithoutReplacement{10, 1, event::Gaussian{1, 1}}, kAddRemove),
               Error);
}

}  // namespace
}  // namespace shoal::privacy
