// Losses between mixtures of normals: formula, nodes, decay and shares against sums in long double.
#include "privacy/mixture_law.hpp"

#include "privacy/base_laws.hpp"
#include "support/loss_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace shoal::privacy {
namespace {

using test::Long;
using test::NormalPair;

struct Case {
  const char* name;
  double mu;
  std::vector<double> with;
  std::vector<double> without;

  MixtureLaw law() const { return {mu, with, without}; }
  NormalPair pair() const { return {mu, with, without}; }
};

std::vector<Case> cases() {
  return {{"removed", 1, {0.75, 0.25}, {1}},
          {"added", 1, {1}, {0.75, 0.25}},
          {"rare", 0.7, {0.998046875, 0.001953125}, {1}},
          {"rare added", 0.7, {1}, {0.998046875, 0.001953125}},
          {"plain", 0.5, {0, 1}, {1}},
          {"plain strong", 6, {0, 1}, {1}},
          {"replaced", 0.8, {0.75, 0.25}, {0.75, 0.25}},
          {"two of a group", 0.6, {0.5625, 0.375, 0.0625}, {1}},
          {"two added", 0.6, {1}, {0.5625, 0.375, 0.0625}},
          {"strong", 3, {0.5, 0.5}, {1}},
          {"weak", 0.03125, {0.9375, 0.0625}, {1}}};
}

TEST(MixtureLaw, LossAndPlaceAreTheRatioOfDensities) {
  for (const Case& c : cases()) {
    const MixtureLaw law = c.law();
    const NormalPair pair = c.pair();
    for (double x = -6; x <= 6; x += 0.37) {
      const double loss = law.loss(x);
      EXPECT_NEAR(loss, static_cast<double>(pair.loss(x)), 1e-14 * (1 + std::abs(loss))) << c.name;
      if (std::abs(x) > 3) continue;
      EXPECT_NEAR(law.loss(law.place(loss)), loss, 1e-13 * (1 + std::abs(loss))) << c.name;
    }
  }
}

TEST(MixtureLaw, PlaceIsInfiniteOutsideTheRangeOfTheLoss) {
  const MixtureLaw removed(1, {0.75, 0.25}, {1});
  EXPECT_EQ(removed.place(-1), -HUGE_VAL);
  EXPECT_TRUE(std::isfinite(removed.place(30)));
  const MixtureLaw added(1, {1}, {0.75, 0.25});
  EXPECT_EQ(added.place(1), HUGE_VAL);
  EXPECT_TRUE(std::isfinite(added.place(-30)));
}

TEST(MixtureLaw, DeltaBracketsTheTailsOfNormals) {
  for (const Case& c : cases()) {
    for (const double epsilon : {-3.0, -0.5, -0.1, 0.0, 0.01, 0.125, 0.25, 1.0, 2.0, 8.0}) {
      const auto bounds = c.law().delta(epsilon);
      ASSERT_TRUE(bounds);
      const Long exact = c.pair().delta(epsilon);
      EXPECT_LE(bounds->lower, exact * (1 + 1e-17L)) << c.name << " " << epsilon;
      // What underflows is left to engines that work in logarithms.
      EXPECT_GE(bounds->upper + 1e-300, exact * (1 - 1e-17L)) << c.name << " " << epsilon;
      if (exact > 1e-12L) {
        EXPECT_LE(bounds->upper - bounds->lower, 1e-9 * bounds->upper) << c.name;
      }
    }
  }
}

// Independently computed for mixtures of shifts 0, 1, 2 with chances .2, .6, .2 at sigma 1 (checked
// against google/differential-privacy, privacy_loss_mechanism_test.py, MixtureGaussian).
TEST(MixtureLaw, MixtureOfThreeHasTheGoldenDelta) {
  const auto bounds = MixtureLaw(1, {0.2, 0.6, 0.2}, {1}).delta(1);
  EXPECT_LE(bounds->lower, 0.15768284088672);
  EXPECT_GE(bounds->upper, 0.157682840886405);
  const auto certain = MixtureLaw(1, {0, 0.2, 0.8}, {1}).delta(1);
  EXPECT_LE(certain->lower, 0.433276675545498);
  EXPECT_GE(certain->upper, 0.433276675544632);
}

// Each node's loss and mass, within the error that the table states for it.
TEST(MixtureLaw, NodesLieWhereTheySay) {
  for (const Case& c : cases()) {
    const NormalPair pair = c.pair();
    const NodeTable table = c.law().nodes(2, 5, 1e-15);
    ASSERT_GT(table.size(), 10u);
    for (std::size_t i = 0; i < table.size(); i += 7) {
      const Long exact = pair.loss(table.place[i]);
      EXPECT_LE(std::abs(table.loss[i] - exact), kRounding * table.loss_error[i] + 1e-300)
          << c.name << " at " << table.place[i];
    }
  }
}

TEST(MixtureLaw, NodesGiveTheMomentAtComplexTilts) {
  constexpr double kTolerance = 1e-15;
  for (const Case& c : cases()) {
    const NormalPair pair = c.pair();
    for (const double largest_tilt : {0.5, 6.0}) {
      constexpr double kFrequency = 12;
      const NodeTable table = c.law().nodes(largest_tilt, kFrequency, kTolerance);
      for (const double tilt : {0.1 * largest_tilt, largest_tilt}) {
        const Long whole = pair.moment(tilt, 0).real();
        for (const double frequency : {0.0, 1.0, 5.0, 12.0}) {
          std::complex<Long> sum = 0;
          Long rounding = 0;
          for (std::size_t i = 0; i < table.size(); ++i) {
            const Long size = expl(table.log_mass[i] + Long(tilt) * table.loss[i]);
            sum += std::polar(size, Long(frequency) * table.loss[i]);
            rounding += size * (table.mass_error[i] + 3 * std::abs(table.log_mass[i]) +
                                (tilt + frequency) * table.loss_error[i]);
          }
          const Long error = std::abs(sum - pair.moment(tilt, frequency));
          EXPECT_LE(error, kTolerance * whole + kRounding * rounding)
              << c.name << " tilt " << tilt << " frequency " << frequency;
          EXPECT_LE(error, 1e-11L * whole) << c.name << " tilt " << tilt;
        }
      }
    }
  }
}

// Normalised masses p_i e^{c l_i}, as the contour hands them in.
std::vector<double> tilted_weights(const NodeTable& table, double tilt) {
  double sum = 0;
  std::vector<double> weight(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    weight[i] = std::exp(table.log_mass[i] + tilt * table.loss[i]);
    sum += weight[i];
  }
  for (double& w : weight) w /= sum;
  return weight;
}

TEST(MixtureLaw, DecayBoundsTheMomentAtEveryHigherFrequency) {
  for (const Case& c : cases()) {
    const NormalPair pair = c.pair();
    for (const double tilt : {0.5, 3.0}) {
      const Long whole = pair.moment(tilt, 0).real();
      std::vector<Long> size;
      for (double s = 0.5; s <= 40; s *= 1.25)
        size.push_back(std::abs(pair.moment(tilt, s)) / whole);
      const NodeTable table = c.law().nodes(tilt, 50, 1e-15);
      const std::vector<double> weight = tilted_weights(table, tilt);
      std::size_t index = 0;
      for (double s = 0.5; s <= 40; s *= 1.25, ++index) {
        const double bound = c.law().decay(tilt, s, table, weight);
        for (std::size_t k = index; k < size.size(); ++k) {
          EXPECT_GE(bound, size[k] * (1 - 1e-12L)) << c.name << " tilt " << tilt << " at " << s;
        }
      }
    }
  }
}

TEST(MixtureLaw, DecayIsWorthSomething) {
  const MixtureLaw plain(0.5, {0, 1}, {1});
  const NodeTable table = plain.nodes(1, 20, 1e-15);
  // A normal loss of variance 1/4 has exp(-s^2 / 8).
  EXPECT_LE(plain.decay(1, 8, table, tilted_weights(table, 1)), 20 * std::exp(-64.0 / 8));
  const MixtureLaw rare(1, {0.99, 0.01}, {1});
  const NodeTable rare_table = rare.nodes(1, 200, 1e-15);
  EXPECT_LT(rare.decay(1, 200, rare_table, tilted_weights(rare_table, 1)), 0.999);
}

TEST(MixtureLaw, CutTailIsAtInfinityAndTheRestIsSmaller) {
  for (const Case& c : cases()) {
    const MixtureLaw law = c.law();
    for (const double tail : {1e-3, 1e-9}) {
      const LawPointer cut = law.without_tail(tail);
      ASSERT_TRUE(cut);
      EXPECT_GT(cut->infinite(), 0) << c.name;
      EXPECT_LE(cut->infinite(), tail * (1 + 1e-6)) << c.name;
      const NodeTable table = cut->nodes(2, 5, 1e-15);
      Long kept = 0;
      Long moment = 0;
      for (std::size_t i = 0; i < table.size(); ++i) {
        kept += expl(table.log_mass[i]);
        moment += expl(table.log_mass[i] + 2 * table.loss[i]);
      }
      // What is kept and what is cut make up all of P.
      EXPECT_NEAR(static_cast<double>(kept) + cut->infinite(), 1, 1e-8 * tail + 1e-13) << c.name;
      EXPECT_LE(moment, c.pair().moment(2, 0).real() * (1 + 1e-12L)) << c.name;
    }
  }
}

TEST(MixtureLaw, DecayHoldsForCutTailsToo) {
  const MixtureLaw law(1, {0.75, 0.25}, {1});
  const LawPointer cut = law.without_tail(1e-2);
  const NodeTable table = cut->nodes(4, 50, 1e-15);
  const std::vector<double> weight = tilted_weights(table, 4);
  const auto size_at = [&](double s) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < table.size(); ++i) sum += std::polar(weight[i], s * table.loss[i]);
    return std::abs(sum);
  };
  for (double s = 0.5; s <= 40; s *= 1.3) {
    const double bound = cut->decay(4, s, table, weight);
    for (double higher = s; higher <= 40; higher *= 1.1) {
      EXPECT_GE(bound, size_at(higher) * (1 - 1e-10)) << s << " " << higher;
    }
  }
}

std::vector<double> lattice(double from, double step, int cells) {
  std::vector<double> boundaries;
  for (int i = 0; i <= cells; ++i) boundaries.push_back(from + step * i);
  return boundaries;
}

TEST(MixtureLaw, SharesKeepTheMassesOfBothSides) {
  for (const Case& c : cases()) {
    const MixtureLaw law = c.law();
    const NormalPair pair = c.pair();
    for (const double step : {0.3, 0.01}) {
      const std::vector<double> boundaries = lattice(-1.37 * step * 20, step, 60);
      const CellShares shares = law.split(boundaries);
      Long total = Long(shares.below) + shares.above;
      for (std::size_t cell = 0; cell < shares.low.size(); ++cell) {
        const Long from = std::clamp<Long>(pair.place(boundaries[cell]), -60, 60);
        const Long to = std::clamp<Long>(pair.place(boundaries[cell + 1]), -60, 60);
        const Long with = pair.with_above(from) - pair.with_above(to);
        const Long without = pair.without_above(from) - pair.without_above(to);
        EXPECT_GE(shares.low[cell], 0) << c.name;
        EXPECT_GE(shares.high[cell], 0) << c.name;
        const Long low = shares.low[cell];
        const Long high = shares.high[cell];
        total += low + high;
        // Differences of tails lose digits where the tails are long: 1e-18 of a whole tail.
        const Long slack = 2 * (shares.error[cell] + 1e-15L) * with + 4e-18L;
        EXPECT_NEAR(static_cast<double>(low + high), static_cast<double>(with),
                    static_cast<double>(slack) + 1e-16 * static_cast<double>(with))
            << c.name << " cell " << cell << " step " << step;
        const Long kept = low * expl(-boundaries[cell]) + high * expl(-boundaries[cell + 1]);
        const Long kept_slack = 2 * (shares.error[cell] + 1e-15L) * without + 4e-18L;
        EXPECT_LE(std::abs(kept - without), kept_slack)
            << c.name << " cell " << cell << " step " << step;
      }
      EXPECT_NEAR(static_cast<double>(total), 1, 1e-8) << c.name;
      // Ends: at least the mass outside, and at most what lowering leaves of it.
      const Long first = pair.place(boundaries.front());
      const Long last = pair.place(boundaries.back());
      EXPECT_GE(shares.below, (1 - pair.with_above(first)) * (1 - 1e-17L)) << c.name;
      EXPECT_GE(shares.above + 1e-300, pair.with_above(last) * (1 - 1e-17L)) << c.name;
      EXPECT_LE(shares.above_lowered,
                pair.without_above(last) * expl(boundaries.back()) * (1 + 1e-17L))
          << c.name;
    }
  }
}

TEST(MixtureLaw, TailsAreWithinTheirMass) {
  for (const Case& c : cases()) {
    const NormalPair pair = c.pair();
    for (const double tail : {1e-3, 1e-9, 1e-18}) {
      const Long low = pair.place(c.law().lowest_loss(tail));
      const Long high = pair.place(c.law().highest_loss(tail));
      EXPECT_LE(1 - pair.with_above(low), tail + 1e-18L) << c.name;
      // Where the loss has a limit, nothing is over it.
      if (c.law().highest_loss(tail) < c.law().largest_loss() * (1 - 1e-12)) {
        EXPECT_LE(pair.with_above(high), tail * 1.01L) << c.name;
      }
    }
  }
}

TEST(MixtureLaw, WeightsOfGroupsAreBinomial) {
  const std::vector<double> weights = binomial_weights(0.25, 2);
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_DOUBLE_EQ(weights[0], 0.5625);
  EXPECT_DOUBLE_EQ(weights[1], 0.375);
  EXPECT_DOUBLE_EQ(weights[2], 0.0625);
}

}  // namespace
}  // namespace shoal::privacy
