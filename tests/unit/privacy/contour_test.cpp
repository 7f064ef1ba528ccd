// The contour against closed forms, sums and convolutions; its bounds must bracket them and be
// close.
#include "privacy/contour.hpp"

#include "privacy/atom_law.hpp"
#include "privacy/laplace_law.hpp"
#include "privacy/mixture_law.hpp"
#include "support/loss_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

namespace shoal::privacy {
namespace {

using test::Long;

LawPointer normal_law(double mu) {
  return std::make_shared<MixtureLaw>(mu, std::vector<double>{0, 1}, std::vector<double>{1});
}

LawPointer sampled_law(double mu, double rate) {
  return std::make_shared<MixtureLaw>(mu, std::vector<double>{1 - rate, rate},
                                      std::vector<double>{1});
}

void expect_bracket(const std::optional<LogBounds>& bounds, Long log_exact, double gap,
                    const std::string& name) {
  ASSERT_TRUE(bounds) << name;
  EXPECT_LE(bounds->lower, log_exact) << name;
  EXPECT_GE(bounds->upper, log_exact) << name;
  EXPECT_LE(bounds->upper - bounds->lower, gap) << name;
}

TEST(Contour, VarianceAloneIsTheGaussianProfile) {
  for (const double mu : {0.1, 1.0, 5.0}) {
    const test::NormalPair pair{mu, {0, 1}, {1}};
    for (const double z : {-1.0, 0.0, 2.0, 6.0, 20.0}) {
      const double at = std::max(0.01, mu * (z + mu / 2));
      Contour contour({}, mu * mu);
      // Squaring mu is the one rounding that the contour does not know of.
      const Long slack = 4e-16L * (1 + z * z + mu * mu);
      const auto bounds = contour.log_delta(at);
      ASSERT_TRUE(bounds);
      const Long exact = logl(pair.delta(at));
      EXPECT_LE(bounds->lower, exact + slack) << mu << " " << z;
      EXPECT_GE(bounds->upper, exact - slack) << mu << " " << z;
      EXPECT_LE(bounds->upper - bounds->lower, 1e-9) << mu << " " << z;
    }
  }
}

TEST(Contour, ComposedNormalLawsAreOneNormalLaw) {
  for (const double count : {1.0, 16.0, 256.0, 1048576.0}) {
    const test::NormalPair pair{1.5L, {0, 1}, {1}};
    const double mu = 1.5 / std::sqrt(count);  // exact: the counts are powers of four
    for (const double at : {0.25, 1.0, 4.0, 12.0}) {
      Contour contour({{normal_law(mu), count}}, 0);
      expect_bracket(contour.log_delta(at, 1e8), logl(pair.delta(at)), 1e-6,
                     std::to_string(count) + " at " + std::to_string(at));
    }
  }
}

TEST(Contour, LawAndVarianceTogetherAreTheirSum) {
  const test::NormalPair pair{2.5L, {0, 1}, {1}};
  for (const double at : {0.5, 3.0, 9.0}) {
    Contour contour({{normal_law(1.5), 1}}, 4.0);
    expect_bracket(contour.log_delta(at), logl(pair.delta(at)), 1e-9, std::to_string(at));
  }
}

// One sampled step has a formula of its own.
TEST(Contour, OneSampledStepIsItsFormula) {
  for (const double rate : {0.25, 0.75}) {
    const test::NormalPair pair{2, {1 - rate, rate}, {1}};
    for (const double at : {0.1, 1.0, 3.0}) {
      Contour contour({{sampled_law(2, rate), 1}}, 0);
      const auto bounds = contour.log_delta(at, 1e8);
      if (!bounds) continue;  // too slow a decay is for others
      expect_bracket(bounds, logl(pair.delta(at)), 1e-6, std::to_string(rate));
    }
  }
}

// Two sampled steps, by the integral over the first of the delta of the second.
TEST(Contour, TwoSampledStepsAreTheDoubleIntegral) {
  const test::NormalPair pair{1, {0.75, 0.25}, {1}};
  for (const double at : {0.3, 1.0, 2.5}) {
    // delta(at) = E_P[delta(at - L)], over a fine grid.
    Long sum = 0;
    const Long step = 1.0L / 128;
    for (Long x = -9; x < 12; x += step) {
      const Long density = (0.75L * expl(-x * x / 2) + 0.25L * expl(-(x - 1) * (x - 1) / 2)) /
                           sqrtl(2 * std::numbers::pi_v<Long>);
      sum += step * density * pair.delta(at - pair.loss(x));
    }
    Contour contour({{sampled_law(1, 0.25), 2}}, 0);
    const auto bounds = contour.log_delta(at, 1e9);
    if (!bounds) continue;
    const Long exact = logl(sum);
    EXPECT_LE(bounds->lower, exact + 1e-10L) << at;
    EXPECT_GE(bounds->upper, exact - 1e-10L) << at;
    EXPECT_LE(bounds->upper - bounds->lower, 1e-6) << at;
  }
}

// Laplace noise of two steps, by its definition, with a normal loss that smooths it.
TEST(Contour, LaplaceWithGaussianIsTheIntegral) {
  const Long epsilon = 0.8L;
  const test::NormalPair pair{1.25L, {0, 1}, {1}};
  for (const double at : {0.2, 1.0, 4.0}) {
    Long sum = pair.delta(at - epsilon) / 2 + expl(-epsilon) / 2 * pair.delta(at + epsilon);
    const int pieces = 600;
    const Long step = 2 * epsilon / pieces;
    for (int i = 0; i < pieces; ++i) {
      const Long base = -epsilon + (i + 0.5L) * step;
      sum += step / 4 * expl((base - epsilon) / 2) * pair.delta(at - base);
    }
    Contour contour({{std::make_shared<LaplaceLaw>(0.8, 1, false), 1}}, 1.25 * 1.25);
    const auto bounds = contour.log_delta(at);
    ASSERT_TRUE(bounds);
    const Long exact = logl(sum);
    // The midpoint rule is right to the square of its pieces; 0.8 is not a double.
    EXPECT_NEAR(bounds->lower, static_cast<double>(exact), 2e-6) << at;
    EXPECT_NEAR(bounds->upper, static_cast<double>(exact), 2e-6) << at;
    EXPECT_LE(bounds->lower, bounds->upper);
    EXPECT_LE(bounds->upper - bounds->lower, 1e-9) << at;
  }
}

// Atoms have no decay of their own; with a normal loss the sum is a finite one.
TEST(Contour, AtomsWithGaussianAreAFiniteSum) {
  const auto law =
      std::make_shared<AtomLaw>(std::vector<Atom>{{0.5, 0.5}, {-0.25, 0.25}, {1, 0.125}}, 0.125);
  const test::NormalPair pair{1.5L, {0, 1}, {1}};
  for (const double at : {0.2, 1.0, 5.0}) {
    Long sum = 0;
    for (const auto& [a, p] : {std::pair{0.5L, 0.5L}, {-0.25L, 0.25L}, {1.0L, 0.125L}}) {
      for (const auto& [b, q] : {std::pair{0.5L, 0.5L}, {-0.25L, 0.25L}, {1.0L, 0.125L}}) {
        sum += p * q * pair.delta(at - a - b);
      }
    }
    // The mass at infinity is the caller's.
    Contour contour({{law, 2}}, 2.25);
    expect_bracket(contour.log_delta(at), logl(sum), 1e-9, std::to_string(at));
  }
}

TEST(Contour, ReachesDeltasBelowEveryDouble) {
  Contour contour({{normal_law(0.5), 4}}, 0);
  const auto bounds = contour.log_delta(60);
  ASSERT_TRUE(bounds);
  // ln delta ~ -(60 - 1/2)^2 / 2, with the Mills ratio's logarithm.
  const double z = 59.5;
  EXPECT_NEAR(bounds->upper, -z * z / 2 - std::log(z * (z + 1) * std::sqrt(2 * std::numbers::pi)),
              1e-2);
  EXPECT_LE(bounds->upper - bounds->lower, 1e-8);
}

TEST(Contour, DeclinesWhatDecaysTooSlowly) {
  const auto atoms = std::make_shared<AtomLaw>(std::vector<Atom>{{0.5, 0.6}, {-0.5, 0.4}}, 0);
  EXPECT_FALSE(Contour({{atoms, 10}}, 0).log_delta(1));
}

TEST(Contour, MomentsAndChernoffAreAboveTheTruth) {
  const test::NormalPair pair{1, {0.75, 0.25}, {1}};
  Contour contour({{sampled_law(1, 0.25), 40}}, 0);
  for (const double c : {0.5, 2.0, 8.0}) {
    const Long exact = 40 * logl(pair.moment(c, 0).real());
    EXPECT_GE(contour.log_moment_up(c), exact);
    EXPECT_NEAR(contour.log_moment_up(c), static_cast<double>(exact), 1e-10);
  }
  const double epsilon = contour.chernoff_epsilon(std::log(1e-6));
  const auto there = contour.log_delta(epsilon);
  ASSERT_TRUE(there);
  EXPECT_LE(there->lower, std::log(1e-6));
  EXPECT_GT(there->upper, std::log(1e-8));
}

// The slope that Newton's method goes by.
TEST(Contour, SlopeIsTheDerivative) {
  Contour contour({{sampled_law(1, 0.25), 40}}, 0);
  const auto left = contour.log_delta(6);
  const auto right = contour.log_delta(6.001);
  const double slope = contour.slope();
  EXPECT_NEAR(slope, (right->upper - left->upper) / 0.001, 1e-3 * std::abs(slope));
}

}  // namespace
}  // namespace shoal::privacy
