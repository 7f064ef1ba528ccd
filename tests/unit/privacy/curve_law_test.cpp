// Laws made from a profile alone: on any lattice their own profile lies above it, and close to it.
#include "privacy/curve_law.hpp"

#include "privacy/lattice_law.hpp"
#include "support/loss_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::privacy {
namespace {

using test::Long;
using test::Masses;

Masses masses_of(const LatticeLaw& law) {
  Masses masses;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    masses.at.push_back({law.origin + Long(law.step) * Long(i), law.mass[i]});
  }
  masses.infinite = law.infinite;
  return masses;
}

double laplace(double at) {
  if (at >= 1) return 0;
  return at <= -1 ? -std::expm1(at) : -std::expm1((at - 1) / 2);
}

double leaky(double at) { return std::max(0.0625 + 0.9375 * laplace(at), -std::expm1(at)); }

double normal(double at) {
  const test::NormalPair pair{1, {0, 1}, {1}};
  return static_cast<double>(pair.delta(at));
}

TEST(CurveLaw, ProfileOnALatticeIsAboveTheCurve) {
  for (const auto& curve : {laplace, leaky, normal}) {
    const CurveLaw law(curve);
    for (const double step : {0.3, 0.05}) {
      for (const double anchor : {0.0, 0.02}) {
        const LatticePair pair = put_on_lattice(law, step, anchor, 1e-12, 1e-9);
        const Masses upper = masses_of(pair.upper);
        EXPECT_GE(upper.total(), 1 - 1e-12L);
        for (double at = -3; at < 4; at += 0.0173) {
          EXPECT_GE(upper.delta(at), curve(at) * (1 - 1e-15L)) << at << " step " << step;
          EXPECT_LE(upper.delta(at), curve(at) + step / 4 + 1e-6) << at << " step " << step;
        }
      }
    }
  }
}

// The hull of the values at the points, not the values: a bound that is not convex is improved.
TEST(CurveLaw, BumpsAreFlattened) {
  const auto bumpy = [](double at) {
    return laplace(at) + (std::abs(at - 0.5) < 0.1 ? 0.05 : 0.0);
  };
  const LatticePair pair = put_on_lattice(CurveLaw(bumpy), 0.25, 0, 1e-12, 1e-9);
  const Masses upper = masses_of(pair.upper);
  for (double at = -2; at < 2; at += 0.0173) {
    EXPECT_GE(upper.delta(at), laplace(at) * (1 - 1e-15L)) << at;
  }
  EXPECT_LT(upper.delta(0.5), laplace(0.5) + 0.03);
}

TEST(CurveLaw, KeepsTheMassAtInfinity) {
  const CurveLaw law(leaky);
  EXPECT_DOUBLE_EQ(law.infinite(), 0.0625);
  EXPECT_EQ(law.infinite_down(), 0);
  EXPECT_FALSE(law.smooth());
  const LatticePair pair = put_on_lattice(law, 0.1, 0, 1e-12, 1e-9);
  EXPECT_GE(pair.upper.infinite, 0.0625);
  EXPECT_NEAR(pair.upper.infinite, 0.0625, 1e-6);
  // Below, a curve says nothing.
  EXPECT_EQ(law.delta(0)->lower, 0);
  EXPECT_DOUBLE_EQ(law.delta(0)->upper, leaky(0));
}

TEST(CurveLaw, EndsWhereTheCurveDoes) {
  const CurveLaw law(laplace);
  EXPECT_NEAR(law.highest_loss(1e-9), 1, 1e-3);
  EXPECT_LE(laplace(law.highest_loss(1e-3)), 1e-3);
  EXPECT_LE(law.lowest_loss(1e-6), -1);
}

// Where the bound is 1 everywhere there is nothing but infinity, and still no NaN.
TEST(CurveLaw, TakesCurvesThatPromiseNothing) {
  const CurveLaw law([](double) { return 1.0; });
  EXPECT_EQ(law.infinite(), 1);
  const LatticePair pair = put_on_lattice(law, 0.5, 0, 1e-12, 1e-9);
  EXPECT_GE(masses_of(pair.upper).delta(3), 1);
  for (const double mass : pair.upper.mass) EXPECT_TRUE(std::isfinite(mass));
}

// Losses beyond the range of e^x are infinite, not NaN.
TEST(CurveLaw, TakesEnormousLosses) {
  const CurveLaw law([](double at) { return at >= 900 ? 0.0 : std::max(0.5, -std::expm1(at)); });
  const LatticePair pair = put_on_lattice(law, 2, 0, 1e-12, 1e-9);
  const Masses upper = masses_of(pair.upper);
  for (const double mass : pair.upper.mass) EXPECT_TRUE(std::isfinite(mass));
  for (const double at : {-1.0, 0.0, 100.0, 700.0, 800.0, 899.0}) {
    EXPECT_GE(upper.delta(at), 0.5L) << at;
  }
}

TEST(CurveLaw, ReversedDeltaIsTheOtherSide) {
  for (const double at : {0.0, 0.1, 0.7, 3.0}) {
    EXPECT_NEAR(reversed_delta(-at, laplace(at)), laplace(-at), 1e-15);
    EXPECT_NEAR(reversed_delta(-at, normal(at)), normal(-at), 1e-15);
  }
  EXPECT_EQ(reversed_delta(-1000, 0), 1);
}

}  // namespace
}  // namespace shoal::privacy
