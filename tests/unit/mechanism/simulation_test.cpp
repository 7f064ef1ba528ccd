// The simulation lemma: the map composes back to the pair exactly, for every pair that keeps the
// claim, and no other pair gets one.
#include "support/prefix_tree.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/simulation.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace shoal::mechanism {
namespace {

using Pmf = std::vector<Rational>;

void expect_simulates(const Pmf& first, const Pmf& second, const Rational& alpha,
                      const Rational& delta) {
  const Simulation map = simulate(first, second, alpha, delta);
  EXPECT_EQ(map.apply(leaky_pmf(alpha, delta, 0)), first);
  EXPECT_EQ(map.apply(leaky_pmf(alpha, delta, 1)), second);
}

std::string refusal_of(const Pmf& first, const Pmf& second, const Rational& alpha,
                       const Rational& delta) {
  try {
    simulate(first, second, alpha, delta);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(LeakyPmf, IsADistributionWithTheStatedDivergence) {
  for (const Rational& alpha : {Rational(1), Rational(3, 2), Rational(20)}) {
    for (const Rational& delta : {Rational(0), Rational(1, 7), Rational(1)}) {
      const LeakyPmf zero = leaky_pmf(alpha, delta, 0);
      const LeakyPmf one = leaky_pmf(alpha, delta, 1);
      EXPECT_EQ(least_delta(zero, one, alpha), delta);
      EXPECT_EQ(hockey_stick(zero, one, alpha), delta);
      // And no smaller alpha does at that delta, unless nothing is left to tell.
      if (alpha > 1 && delta < 1) {
        EXPECT_GT(least_delta(zero, one, (1 + alpha) / 2), delta);
      }
    }
  }
}

TEST(Simulation, BinaryExamples) {
  // Randomized response of a smaller ratio, from one of a larger.
  expect_simulates({Rational(2, 3), Rational(1, 3)}, {Rational(1, 3), Rational(2, 3)}, 3, 0);
  // Itself: the map is the identity.
  const Simulation same =
      simulate(Pmf{Rational(3, 4), Rational(1, 4)}, Pmf{Rational(1, 4), Rational(3, 4)}, 3, 0);
  EXPECT_EQ(same.row(LeakyReport::zero), (Pmf{1, 0}));
  EXPECT_EQ(same.row(LeakyReport::one), (Pmf{0, 1}));
  // Masses that differ on the two sides: 0.9 against 0.5 at alpha 1 misses 0.4 both ways; at alpha
  // 3/2 only one way.
  expect_simulates({Rational(9, 10), Rational(1, 10)}, {Rational(1, 2), Rational(1, 2)},
                   Rational(3, 2), Rational(7, 20));
}

TEST(Simulation, NameAndShameIsSimulatedWithEpsilonZero) {
  const Pmf zero = {Rational(19, 20), Rational(1, 20), 0};
  const Pmf one = {Rational(19, 20), 0, Rational(1, 20)};
  const Simulation map = simulate(zero, one, 1, Rational(1, 20));
  EXPECT_EQ(map.row(LeakyReport::surely_zero), (Pmf{0, 1, 0}));
  EXPECT_EQ(map.row(LeakyReport::surely_one), (Pmf{0, 0, 1}));
  expect_simulates(zero, one, 1, Rational(1, 20));
}

TEST(Simulation, GeometricNoiseOnFiveOutcomes) {
  // Geometric noise of ratio 2, clamped to 0..4, for the truths 1 and 2.
  const Pmf one = {Rational(1, 3), Rational(1, 3), Rational(1, 6), Rational(1, 12),
                   Rational(1, 12)};
  const Pmf two = {Rational(1, 6), Rational(1, 6), Rational(1, 3), Rational(1, 6), Rational(1, 6)};
  EXPECT_EQ(least_delta(one, two, 2), 0);
  expect_simulates(one, two, 2, 0);
  EXPECT_NE(refusal_of(one, two, Rational(3, 2), 0), "");
}

TEST(Simulation, Edges) {
  const Pmf sure = {1, 0};
  const Pmf other = {0, 1};
  expect_simulates(sure, other, 1, 1);
  expect_simulates(sure, other, 5, 1);
  expect_simulates(sure, sure, 1, 0);
  expect_simulates(sure, sure, 2, Rational(1, 3));
  expect_simulates({1}, {1}, 1, 0);
  expect_simulates({Rational(1, 2), Rational(1, 2)}, {Rational(1, 3), Rational(2, 3)}, 1,
                   Rational(1, 6));
}

TEST(Simulation, RefusalSaysByHowMuch) {
  const std::string text = refusal_of({Rational(9, 10), Rational(1, 10)},
                                      {Rational(1, 2), Rational(1, 2)}, 1, Rational(1, 10));
  EXPECT_NE(text.find("by 3/10 (about 0.3) more than delta 1/10"), std::string::npos) << text;
  EXPECT_NE(text.find("the least delta that works is 2/5 (about 0.4)"), std::string::npos) << text;
}

TEST(Simulation, RefusesArgumentsOutOfRange) {
  const Pmf fair = {Rational(1, 2), Rational(1, 2)};
  EXPECT_NE(refusal_of(fair, fair, Rational(1, 2), 0).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal_of(fair, fair, 1, Rational(-1, 2)).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal_of(fair, fair, 1, Rational(3, 2)).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal_of(fair, {1}, 1, 0).find("the same outcomes"), std::string::npos);
  EXPECT_NE(refusal_of({Rational(1, 2), Rational(1, 3)}, fair, 1, 0).find("sum to 5/6"),
            std::string::npos);
  EXPECT_NE(refusal_of({Rational(3, 2), Rational(-1, 2)}, fair, 1, 0).find("not be negative"),
            std::string::npos);
  EXPECT_NE(refusal_of({}, {}, 1, 0), "");
  EXPECT_THROW(leaky_pmf(2, 0, 2), Error);
  EXPECT_THROW(Simulation({Pmf{1}, Pmf{1}, Pmf{1}, fair}), Error);
}

Pmf any_pmf(int outcomes) {
  Pmf pmf;
  Rational sum = 0;
  for (int i = 0; i < outcomes; ++i) {
    pmf.push_back(*rc::gen::inRange(i == 0 ? 1 : 0, 50));
    sum += pmf.back();
  }
  for (Rational& chance : pmf) chance /= sum;
  return pmf;
}

TEST(Simulation, ComposesBackForEveryPairAtItsLeastDeltaAndAboveButNotBelow) {
  EXPECT_TRUE(rc::check([] {
    const int outcomes = *rc::gen::inRange(1, 9);
    const Pmf first = any_pmf(outcomes);
    const Pmf second = any_pmf(outcomes);
    const Rational alpha = 1 + Rational(*rc::gen::inRange(0, 40), *rc::gen::inRange(1, 12));
    const Rational least = least_delta(first, second, alpha);
    const Rational more = (least * *rc::gen::inRange(0, 5) + 1 * *rc::gen::inRange(0, 3)) / 7;
    for (const Rational& delta : {least, Rational(std::max(least, more))}) {
      const Simulation map = simulate(first, second, alpha, delta);
      RC_ASSERT(map.apply(leaky_pmf(alpha, delta, 0)) == first);
      RC_ASSERT(map.apply(leaky_pmf(alpha, delta, 1)) == second);
    }
    if (least > 0) {
      const Rational short_by = least / 1000;
      const std::string text = refusal_of(first, second, alpha, least - short_by);
      RC_ASSERT(text.find("by " + short_by.str() + " (about") != std::string::npos);
      RC_ASSERT(text.find("works is " + least.str() + " (about") != std::string::npos);
    }
  }));
}

TEST(Simulation, SamplesTheRowExactly) {
  const Pmf first = {Rational(1, 2), Rational(1, 3), Rational(1, 6)};
  const Pmf second = {Rational(1, 3), Rational(1, 3), Rational(1, 3)};
  const Simulation map = simulate(first, second, 2, Rational(1, 5));
  for (const LeakyReport report :
       {LeakyReport::zero, LeakyReport::one, LeakyReport::surely_zero, LeakyReport::surely_one}) {
    const auto mass = test::decided_mass<std::size_t>(
        [&](random::BitSource& bits) { return map.sample(report, bits); }, 14);
    for (std::size_t i = 0; i < map.outcomes(); ++i) {
      const auto chance = map.row(report)[i].convert_to<double>();
      EXPECT_LE(mass.of(i), chance + 1e-15);
      EXPECT_GE(mass.of(i) + mass.undecided, chance - 1e-15);
    }
    EXPECT_LT(mass.undecided, 0.3);
  }
}

TEST(Simulation, SamplesWithDenominatorsBeyondAWord) {
  const Rational tiny(1, numeric::BigInt(1) << 200);
  const Pmf pmf = {tiny, 1 - tiny};
  const Simulation map = simulate(pmf, pmf, 1, 0);
  test::SeededSource bits(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(map.sample(LeakyReport::zero, bits), 1u);
}

TEST(Simulation, LeakyReportsThroughTheMapLookLikeThePair) {
  // 40,000 draws; each share is within five standard deviations but once in a million.
  const Pmf first = {Rational(3, 5), Rational(3, 10), Rational(1, 10)};
  const Pmf second = {Rational(1, 5), Rational(1, 2), Rational(3, 10)};
  const double epsilon = 0.6931471805599453;  // ln 2
  const Rational delta = least_delta(first, second, 2);
  const Simulation map = simulate(first, second, 2, delta);
  const auto sampler = prepare(LeakyRandomizedResponse{epsilon, delta.convert_to<double>()});
  test::SeededSource bits(6);
  constexpr int kDraws = 40000;
  std::vector<double> seen(3, 0);
  for (int i = 0; i < kDraws; ++i) {
    const auto report = static_cast<LeakyReport>(
        respond(LeakyRandomizedResponse{epsilon, 0.2}, 0, sampler.sample(bits)));
    seen[map.sample(report, bits)] += 1.0 / kDraws;
  }
  EXPECT_NEAR(seen[0], 0.6, 5 * 0.0025);
  EXPECT_NEAR(seen[1], 0.3, 5 * 0.0025);
  EXPECT_NEAR(seen[2], 0.1, 5 * 0.0025);
}

}  // namespace
}  // namespace shoal::mechanism
