// Losses with finitely many values, and the mechanisms that have them: against sums outcome by
// outcome.
#include "privacy/atom_law.hpp"

#include "privacy/base_laws.hpp"
#include "support/loss_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace shoal::privacy {
namespace {

using test::Long;
using test::Masses;

void expect_brackets(const LossLaw& law, const Masses& masses, double relative) {
  for (const double at : {-3.0, -0.5, 0.0, 0.1, 0.45, 0.7, 1.0, 2.0, 9.0}) {
    const auto bounds = law.delta(at);
    ASSERT_TRUE(bounds);
    const Long exact = masses.delta(at);
    EXPECT_LE(bounds->lower, exact) << at;
    EXPECT_GE(bounds->upper, std::min(Long(1), exact)) << at;
    EXPECT_LE(bounds->upper - bounds->lower, relative) << at;
  }
}

// Outputs with their chances with the person and without, mixed by sampling.
Masses sampled_masses(const std::vector<std::pair<Long, Long>>& pairs, Long rate, bool added) {
  Masses masses;
  for (const auto& [with, without] : pairs) {
    const Long mixed = (1 - rate) * without + rate * with;
    const Long p = added ? without : mixed;
    const Long q = added ? mixed : without;
    if (p == 0) continue;
    if (q == 0) {
      masses.infinite += p;
    } else {
      masses.at.push_back({logl(p / q), p});
    }
  }
  return masses;
}

TEST(AtomLaw, DeltaIsTheSumOverOutcomes) {
  const AtomLaw law({{0.5, 0.25}, {-0.25, 0.5}, {1.5, 0.125}}, 0.125);
  Masses masses{{{0.5L, 0.25L}, {-0.25L, 0.5L}, {1.5L, 0.125L}}, 0.125L};
  expect_brackets(law, masses, 1e-14);
  EXPECT_NEAR(static_cast<double>(masses.total()), 1, 1e-18);
  EXPECT_GE(law.infinite(), 0.125);
  EXPECT_LE(law.infinite_down(), 0.125);
  EXPECT_GE(law.largest_loss(), 1.5);
}

TEST(AtomLaw, WidensByItsErrors) {
  const std::vector<Atom> atoms = {{-0.5, 0.5}, {0.5, 0.5}};
  const Bounds exact = *AtomLaw(atoms, 0).delta(0);
  const Bounds rough = *AtomLaw(atoms, 0, 1e-6, 1e-7, 1e-5).delta(0);
  const double delta = -0.5 * std::expm1(-0.5);
  EXPECT_LE(rough.lower, delta * (1 - 1e-6) - 0.5e-7 * std::exp(-0.5));
  EXPECT_GE(rough.upper, delta * (1 + 1e-6) + 0.5e-7 * std::exp(-0.5) + 1e-5);
  EXPECT_LT(exact.upper - exact.lower, 1e-14);
  // The uncertain mass is above only.
  EXPECT_GE(AtomLaw(atoms, 0, 0, 0, 1e-5).infinite(), 1e-5);
  EXPECT_EQ(AtomLaw(atoms, 0, 0, 0, 1e-5).infinite_down(), 0);
}

TEST(AtomLaw, TailsAreWithinTheirMass) {
  const AtomLaw law({{-2, 0.001}, {-1, 0.499}, {1, 0.4}, {3, 0.1}}, 0);
  EXPECT_EQ(law.lowest_loss(1e-6), -2);
  EXPECT_EQ(law.lowest_loss(0.01), -1);
  EXPECT_EQ(law.highest_loss(0.01), 3);
  EXPECT_EQ(law.highest_loss(0.2), 1);
}

TEST(AtomLaw, NodesAreTheAtoms) {
  const AtomLaw law({{1, 0.75}, {-1, 0.25}, {2, 0}}, 0);
  const NodeTable table = law.nodes(1, 1, 1e-15);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table.loss[0], -1);
  EXPECT_DOUBLE_EQ(std::exp(table.log_mass[1]), 0.75);
}

TEST(AtomLaw, SharesKeepTheMassesOfBothSides) {
  const std::vector<Atom> atoms = {
      {-0.83, 0.1}, {-0.21, 0.2}, {0.05, 0.3}, {0.4, 0.25}, {0.9, 0.15}};
  const AtomLaw law(atoms, 0);
  std::vector<double> boundaries;
  for (int i = 0; i <= 10; ++i) boundaries.push_back(-1 + 0.2 * i);
  const CellShares shares = law.split(boundaries);
  Long with = 0;
  Long without = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_GE(shares.low[i], 0);
    EXPECT_GE(shares.high[i], 0);
    with += Long(shares.low[i]) + shares.high[i];
    without += shares.low[i] * expl(-boundaries[i]) + shares.high[i] * expl(-boundaries[i + 1]);
  }
  for (std::size_t i = 0; i <= 10; ++i) {
    with += shares.at[i];
    without += shares.at[i] * expl(-boundaries[i]);
  }
  Long exact = 0;
  for (const Atom& atom : atoms) exact += atom.mass * expl(-Long(atom.loss));
  EXPECT_NEAR(static_cast<double>(with), 1, 1e-15);
  EXPECT_NEAR(static_cast<double>(without - exact), 0, 1e-15);
  EXPECT_NEAR(shares.at[7], 0.25, 1e-16);  // 0.4 lies on a boundary but for rounding
  const CellShares narrow = law.split({-0.5, 0, 0.5});
  EXPECT_GE(narrow.below, 0.1);
  EXPECT_GE(narrow.above, 0.15);
  EXPECT_LE(narrow.above_lowered, 0.15 * std::exp(0.5 - 0.9));
  EXPECT_GE(narrow.above_lowered, 0.149 * std::exp(0.5 - 0.9));
}

TEST(BaseLaws, RandomizedResponseInAllForms) {
  for (const double categories : {2.0, 5.0}) {
    const Long down = expl(-1.25L);
    const Long told = 0.0625L;
    const Long kept = (1 - told) / (1 + (Long(categories) - 1) * down);
    const std::vector<std::pair<Long, Long>> pairs = {
        {kept, kept * down},
        {kept * down, kept},
        {kept * down * (Long(categories) - 2), kept * down * (Long(categories) - 2)},
        {told, 0},
        {0, told}};
    expect_brackets(*response_law(1.25, categories, 0.0625, std::nullopt),
                    sampled_masses(pairs, 1, false), 1e-14);
    for (const bool added : {false, true}) {
      expect_brackets(*response_law(1.25, categories, 0.0625, Sampling{0.25, added}),
                      sampled_masses(pairs, 0.25L, added), 1e-14);
    }
  }
}

// Chances of discrete noise around 0 and around `steps`, far into the tails.
template <class LogWeight>
std::vector<std::pair<Long, Long>> shifted_pairs(int steps, int reach, LogWeight log_weight) {
  Long total = 0;
  for (int x = -reach; x <= reach; ++x) total += expl(log_weight(x));
  std::vector<std::pair<Long, Long>> pairs;
  for (int x = -reach; x <= reach + steps; ++x) {
    pairs.push_back({expl(log_weight(x - steps)) / total, expl(log_weight(x)) / total});
  }
  return pairs;
}

TEST(BaseLaws, DiscreteLaplaceIsItsNoise) {
  for (const int steps : {1, 2, 7}) {
    const auto pairs = shifted_pairs(steps, 400, [](int x) { return -Long(std::abs(x)) / 3; });
    expect_brackets(*discrete_laplace_law(3, steps, std::nullopt), sampled_masses(pairs, 1, false),
                    1e-13);
    for (const bool added : {false, true}) {
      expect_brackets(*discrete_laplace_law(3, steps, Sampling{0.125, added}),
                      sampled_masses(pairs, 0.125L, added), 1e-13);
    }
  }
}

TEST(BaseLaws, DiscreteGaussianIsItsNoise) {
  for (const int steps : {1, 3}) {
    const auto pairs =
        shifted_pairs(steps, 100, [](int x) { return -Long(x) * x / (2 * 2.5L * 2.5L); });
    expect_brackets(*discrete_gaussian_law(2.5, steps), sampled_masses(pairs, 1, false), 1e-11);
    for (const bool added : {false, true}) {
      expect_brackets(*discrete_gaussian_law(2.5, steps, Sampling{0.5, added}),
                      sampled_masses(pairs, 0.5L, added), 1e-11);
    }
  }
}

// Above the size at which losses are joined, the two laws must still enclose the truth.
TEST(BaseLaws, JoinedDiscreteLaplaceBracketsTheTruth) {
  const double scale = 3000;
  const double steps = 2 * kLargestSummedSteps + 3;
  const Component laws = discrete_laplace_laws(scale, steps);
  Masses masses;
  const Long all = 1 + expl(-1 / Long(scale));
  const Long point = -expm1l(-1 / Long(scale)) / all;
  masses.at.push_back({steps / Long(scale), 1 / all});
  for (Long x = 1; x < steps; ++x) {
    masses.at.push_back({(2 * x - steps) / scale, point * expl(-(steps - x) / scale)});
  }
  for (const double at : {-1.0, 0.0, 0.3, 1.0, 2.0, 2.7}) {
    const Long exact = masses.delta(at);
    EXPECT_GE(laws.upper->delta(at)->upper, exact) << at;
    EXPECT_LE(laws.lower->delta(at)->lower, exact) << at;
    EXPECT_LE(laws.upper->delta(at)->upper - laws.lower->delta(at)->lower, 1e-6) << at;
  }
}

// sigma is above kLargestSummedSigma: a rounded Gaussian, with its slack, encloses the exact sum.
TEST(BaseLaws, WideDiscreteGaussianSlackCoversTheTruth) {
  const double sigma = 5000;
  const double steps = 4000;
  const WideNoise wide = wide_discrete_gaussian(sigma, steps);
  Masses masses;
  Long total = 0;
  for (Long x = -15 * sigma; x <= 15 * sigma; ++x) total += expl(-x * x / (2 * sigma * sigma));
  for (Long x = -15 * sigma; x <= 15 * sigma; ++x) {
    const Long loss = (2 * x + steps) * steps / (2 * Long(sigma) * sigma);
    masses.at.push_back({loss, expl(-x * x / (2 * sigma * sigma)) / total});
  }
  const test::NormalPair pair{Long(steps) / sigma, {0, 1}, {1}};
  for (const double at : {0.0, 0.5, 2.0, 4.0}) {
    const Long exact = masses.delta(at);
    const Long upper = pair.delta(at - wide.loss_up) * expl(wide.mass) + wide.infinite;
    const Long lower = pair.delta(at + wide.loss_down) * expl(-wide.mass);
    EXPECT_GE(upper, exact) << at;
    EXPECT_LE(lower, exact) << at;
  }
}

// Few users: the number of ones, outcome by outcome.
TEST(BaseLaws, ShuffledResponseIsTheNumberOfOnes) {
  const double chance = 1 / (std::exp(1.0) + 1);
  for (const int users : {1, 2, 9}) {
    std::vector<Long> others = {1};
    for (int i = 1; i < users; ++i) {
      others.push_back(0);
      for (std::size_t j = others.size(); j-- > 0;) {
        others[j] = others[j] * (1 - Long(chance)) + (j > 0 ? others[j - 1] * chance : 0);
      }
    }
    std::vector<std::pair<Long, Long>> pairs;
    for (std::size_t k = 0; k <= others.size(); ++k) {
      const Long here = k < others.size() ? others[k] : 0;
      const Long before = k > 0 ? others[k - 1] : 0;
      pairs.push_back({chance * here + (1 - Long(chance)) * before,
                       (1 - Long(chance)) * here + chance * before});
    }
    expect_brackets(*shuffled_response_law(1, users), sampled_masses(pairs, 1, false), 1e-11);
  }
}

}  // namespace
}  // namespace shoal::privacy
