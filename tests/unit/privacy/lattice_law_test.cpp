// Laws on a lattice: the upper one's profile lies above the true one at every epsilon, the lower
// one's below, also between the points.
#include "privacy/lattice_law.hpp"

#include "privacy/atom_law.hpp"
#include "privacy/laplace_law.hpp"
#include "privacy/mixture_law.hpp"
#include "support/loss_reference.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

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

double uniform(test::SeededSource& bits, double from, double to) {
  return from + (to - from) * static_cast<double>(bits.next_bits(53)) * 0x1p-53;
}

void expect_between(const LatticePair& pair, const std::function<Long(Long)>& exact,
                    const std::string& name, double gap) {
  const Masses upper = masses_of(pair.upper);
  const Masses lower = masses_of(pair.lower);
  for (const double mass : pair.upper.mass) EXPECT_GE(mass, 0) << name;
  for (const double mass : pair.lower.mass) EXPECT_GE(mass, 0) << name;
  EXPECT_GE(upper.total(), 1 - 1e-15L) << name;
  EXPECT_LE(upper.total(), 1 + 1e-9L) << name;
  EXPECT_LE(lower.total(), 1) << name;
  EXPECT_EQ(pair.lower.infinite, 0) << name;
  const Long error = pair.upper.loss_error;
  for (Long at = -2.03L; at < 4; at += 0.0417L) {
    const Long truth = exact(at);
    EXPECT_GE(upper.delta(at - error), truth * (1 - 1e-17L)) << name << " at " << at;
    EXPECT_LE(lower.delta(at + error), truth * (1 + 1e-17L)) << name << " at " << at;
    EXPECT_LE(upper.delta(at) - lower.delta(at), gap) << name << " at " << at;
  }
}

TEST(LatticeLaw, BracketsMixturesOfNormalsOnAnyLattice) {
  test::SeededSource bits(11);
  for (int turn = 0; turn < 24; ++turn) {
    const double mu = std::exp(uniform(bits, -2.5, 1));
    const double rate = std::exp(uniform(bits, -5, -0.05));
    const double rest = 1 - rate;
    const std::vector<double> some = {rest, 1 - rest};
    const std::vector<double> one = {1.0};
    const bool with_some = turn % 3 != 1;
    const bool without_some = turn % 3 != 0;
    const test::NormalPair pair{mu, with_some ? some : one, without_some ? some : one};
    const MixtureLaw law(mu, pair.with, pair.without);
    const double step = std::exp(uniform(bits, -4, -0.5));
    const double anchor = uniform(bits, -1, 1);
    expect_between(
        put_on_lattice(law, step, anchor, 1e-18, 1e-14), [&](Long at) { return pair.delta(at); },
        "mu " + std::to_string(mu) + " rate " + std::to_string(rate) + " step " +
            std::to_string(step) + " kind " + std::to_string(turn % 3),
        step);
  }
}

TEST(LatticeLaw, BracketsLaplaceOnAnyLattice) {
  test::SeededSource bits(12);
  for (int turn = 0; turn < 24; ++turn) {
    const double epsilon = std::exp(uniform(bits, -2, 1));
    const double rate = turn % 3 == 0 ? 1 : uniform(bits, 0.05, 0.95);
    const bool added = turn % 3 == 2;
    const LaplaceLaw law(epsilon, rate, added);
    const double step = std::exp(uniform(bits, -4, -0.5));
    const double anchor = turn % 2 == 0 ? law.atoms().back() : uniform(bits, -1, 1);
    // The closed form, in long double: without sampling 1 - e^{(at - epsilon) / 2}.
    const auto plain = [&](Long at) {
      if (at >= epsilon) return Long(0);
      return at <= -epsilon ? -expm1l(at) : -expm1l((at - epsilon) / 2);
    };
    const auto exact = [&](Long at) {
      const Long inner = added ? expm1l(-at) / rate : expm1l(at) / rate;
      if (inner <= -1) return added ? Long(0) : -expm1l(at);
      const Long base = added ? -log1pl(inner) : log1pl(inner);
      return added ? rate * expl(at - base) * plain(base) : rate * plain(base);
    };
    expect_between(put_on_lattice(law, step, anchor, 1e-18, 1e-14), exact,
                   "epsilon " + std::to_string(epsilon) + " rate " + std::to_string(rate) +
                       " step " + std::to_string(step) + (added ? " added" : ""),
                   step);
  }
}

TEST(LatticeLaw, BracketsAtomsOnAnyLattice) {
  test::SeededSource bits(13);
  for (int turn = 0; turn < 24; ++turn) {
    std::vector<Atom> atoms;
    Masses masses;
    const int size = 1 + turn % 6;
    for (int i = 0; i < size; ++i) {
      const double loss = uniform(bits, -1.5, 2);
      atoms.push_back({loss, 0.75 / size});
      masses.at.push_back({loss, 0.75 / size});
    }
    masses.infinite = 0.25;
    const AtomLaw law(atoms, 0.25);
    const double step = std::exp(uniform(bits, -4, -0.5));
    LatticePair pair = put_on_lattice(law, step, uniform(bits, -1, 1), 0, 0);
    // The lower law leaves infinity to the caller.
    EXPECT_GE(pair.upper.infinite, 0.25);
    const Long error = pair.upper.loss_error;
    const Masses upper = masses_of(pair.upper);
    const Masses lower = masses_of(pair.lower);
    for (Long at = -2; at < 3; at += 0.0391L) {
      const Long truth = masses.delta(at);
      EXPECT_GE(upper.delta(at - error), truth * (1 - 1e-17L)) << turn << " at " << at;
      EXPECT_LE(lower.delta(at + error) + 0.25L, truth * (1 + 1e-17L)) << turn << " at " << at;
    }
  }
}

// The mean of dP/dQ under Q may not exceed 1 by more than rounding, or nothing would be above after
// composition; and a spread keeps it.
TEST(LatticeLaw, UpperLawKeepsTheMassOfTheOtherSide) {
  const MixtureLaw law(0.9, {0.8, 0.2}, {1});
  const LatticePair pair = put_on_lattice(law, 0.07, 0.01, 1e-18, 1e-16);
  Long without = 0;
  for (std::size_t i = 0; i < pair.upper.mass.size(); ++i) {
    without += pair.upper.mass[i] * expl(-pair.upper.loss(static_cast<double>(i)));
  }
  EXPECT_NEAR(static_cast<double>(without), 1, 1e-12);
  Long below = 0;
  for (std::size_t i = 0; i < pair.lower.mass.size(); ++i) {
    below += pair.lower.mass[i] * expl(-pair.lower.loss(static_cast<double>(i)));
  }
  EXPECT_LE(below, 1 + 1e-15L);
}

// Joined at its points, a lower law loses a square of the step, not the step itself.
TEST(LatticeLaw, GapShrinksWithTheSquareOfTheStep) {
  const MixtureLaw law(1, {0.75, 0.25}, {1});
  double previous = 0;
  for (const double step : {0.08, 0.04, 0.02}) {
    const LatticePair pair = put_on_lattice(law, step, 0, 1e-18, 1e-18);
    // Averaged over epsilon, so that it does not matter where the points lie.
    double gap = 0;
    for (double at = 0.3; at < 1.3; at += 0.0013) {
      gap += static_cast<double>(masses_of(pair.upper).delta(at) - masses_of(pair.lower).delta(at));
    }
    if (previous > 0) {
      EXPECT_NEAR(previous / gap, 4, 0.5) << step;
    }
    previous = gap;
  }
}

TEST(LatticeLaw, AtomsOnTheLatticeStayAsTheyAre) {
  const AtomLaw law({{-0.3, 0.4}, {0.3, 0.6}}, 0);
  const LatticePair pair = put_on_lattice(law, 0.1, 0.3, 0, 0);
  ASSERT_EQ(pair.upper.mass.size(), 7u);
  EXPECT_NEAR(pair.upper.mass.front(), 0.4, 1e-14);
  EXPECT_NEAR(pair.upper.mass.back(), 0.6, 1e-14);
  EXPECT_NEAR(pair.lower.mass.front(), 0.4, 1e-14);
  EXPECT_NEAR(pair.lower.mass.back(), 0.6, 1e-14);
}

// What is over the lattice is at infinity above, and lowered to the last point below.
TEST(LatticeLaw, CutTailsGoToTheSafeSide) {
  const MixtureLaw law(1, {0, 1}, {1});
  const LatticePair pair = put_on_lattice(law, 0.1, 0, 1e-3, 1e-3);
  const test::NormalPair exact{1, {0, 1}, {1}};
  EXPECT_GT(pair.upper.infinite, 1e-5);
  EXPECT_LT(pair.upper.infinite, 1e-3);
  for (Long at = -6; at < 6; at += 0.21L) {
    EXPECT_GE(masses_of(pair.upper).delta(at), exact.delta(at));
    EXPECT_LE(masses_of(pair.lower).delta(at), exact.delta(at));
  }
}

}  // namespace
}  // namespace shoal::privacy
