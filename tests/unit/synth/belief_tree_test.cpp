// Belief propagation, against sums over the whole domain.
#include "synth/belief_tree.hpp"

#include "unit/synth/whole_domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shoal::synth {
namespace {

TEST(BeliefTreeTest, TablesAreTheMarginalsOfTheDensity) {
  for (const double width : {1.0, 20.0}) {
    const auto potentials = random_potentials(3, width);
    const BruteForce truth = brute_force(potentials);
    BeliefTree tree(kSizes, kSets);
    EXPECT_NEAR(tree.calibrate(potentials), truth.log_constant, 1e-10);
    for (std::size_t c = 0; c < tree.tree().cliques.size(); ++c) {
      const auto expected = brute_marginal(truth.joint, tree.tree().cliques[c], kSizes);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(tree.belief(c)[i], expected[i], 1e-12);
      }
      const auto shared = brute_marginal(truth.joint, tree.tree().separators[c], kSizes);
      for (std::size_t i = 0; i < shared.size(); ++i) {
        EXPECT_NEAR(tree.separator(c)[i], shared[i], 1e-12);
      }
    }
  }
}

// Two cliques that contradict each other: what one all but rules out is all that the other leaves.
TEST(BeliefTreeTest, PotentialsThatContradictEachOtherGiveADensityToo) {
  const std::vector<std::uint32_t> sizes = {2, 2, 2};
  const std::vector<AttributeSet> sets = {AttributeSet::of({0, 1}), AttributeSet::of({1, 2})};
  BeliefTree tree(sizes, sets);
  // Column 1 is 0 by the first and 1 by the second, each by a factor of exp(2000).
  const std::vector<std::vector<double>> potentials = {{0, -2000, 0, -2000},
                                                       {-2000, -2000.5, 0, 0.25}};
  const double constant = tree.calibrate(potentials);
  // exp(2000) times the sum over all eight cells.
  const double rest = 2 * (1 + std::exp(-0.5) + 1 + std::exp(0.25));
  EXPECT_NEAR(constant, -2000 + std::log(rest), 1e-9);
  const std::span<const double> first = tree.potential_marginal(0);
  const double zero = (1 + std::exp(-0.5)) / rest;
  EXPECT_NEAR(first[0], zero, 1e-12);
  EXPECT_NEAR(first[1], 0.5 - zero, 1e-12);
  const std::span<const double> second = tree.potential_marginal(1);
  EXPECT_NEAR(second[1], 2 * std::exp(-0.5) / rest, 1e-12);
  EXPECT_NEAR(second[3], 2 * std::exp(0.25) / rest, 1e-12);
}

// One tree for one density after the other, as a fit has them: near ones, and ones far away. What
// column 3 adds to one table and takes from another changes no density.
TEST(BeliefTreeTest, OneTreeTakesOnePotentialAfterTheOther) {
  BeliefTree tree(kSizes, kSets);
  std::vector<std::vector<double>> potentials = random_potentials(5, 20);
  const std::vector<std::vector<double>> moves = random_potentials(6, 3);
  for (const double apart : {0.0, 1500.0, 1500.5, 1502.0, -1500.0, 0.0, 800.0}) {
    for (std::size_t p = 0; p < kSets.size(); ++p) {
      for (std::size_t i = 0; i < potentials[p].size(); ++i) potentials[p][i] += moves[p][i];
    }
    std::vector<std::vector<double>> contradictory = potentials;
    for (const std::size_t p : {std::size_t{2}, std::size_t{3}}) {  // {2, 3} and {0, 3}
      for (std::size_t i = 0; i < contradictory[p].size(); ++i) {
        const double code = static_cast<double>(i % kSizes[3]);
        contradictory[p][i] += (p == 2 ? 1 : -1) * apart * code;
      }
    }
    const BruteForce truth = brute_force(potentials);
    EXPECT_NEAR(tree.calibrate(contradictory), truth.log_constant, 1e-9) << apart;
    for (std::size_t c = 0; c < tree.tree().cliques.size(); ++c) {
      const auto expected = brute_marginal(truth.joint, tree.tree().cliques[c], kSizes);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(tree.belief(c)[i], expected[i], 1e-11) << apart;
      }
    }
  }
}

// A chain whose neighbours contradict each other at each column that they share, by what cancels:
// the density is that of the moderate tables. What is too small for one clique comes back, step by
// step, on the way through the others.
TEST(BeliefTreeTest, ContradictionsAlongAChainCancel) {
  const std::vector<std::uint32_t> sizes = {3, 3, 3, 3, 3, 3};
  std::vector<AttributeSet> chain;
  for (std::size_t j = 0; j + 1 < sizes.size(); ++j) chain.push_back(AttributeSet::of({j, j + 1}));
  BeliefTree reused(sizes, chain);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    test::SeededSource bits(seed);
    std::vector<std::vector<double>> moderate(chain.size(), std::vector<double>(9));
    for (auto& table : moderate) {
      for (double& cell : table) cell = 20 * uniform(bits);
    }
    BeliefTree plain(sizes, chain);
    const double expected = plain.calibrate(moderate);
    std::vector<std::vector<double>> contradictory = moderate;
    const double apart = 300.0 * static_cast<double>(1 + seed % 4);
    for (std::size_t shared = 1; shared + 1 < sizes.size(); ++shared) {
      for (std::size_t code = 0; code < 3; ++code) {
        const double shift = apart * (uniform(bits) - 0.5);
        for (std::size_t other = 0; other < 3; ++other) {
          contradictory[shared - 1][3 * other + code] += shift;
          contradictory[shared][3 * code + other] -= shift;
        }
      }
    }
    BeliefTree fresh(sizes, chain);
    for (BeliefTree* tree : {&fresh, &reused}) {
      ASSERT_NEAR(tree->calibrate(contradictory), expected, 1e-8) << seed;
      for (std::size_t c = 0; c < chain.size(); ++c) {
        for (std::size_t i = 0; i < 9; ++i) {
          ASSERT_NEAR(tree->belief(c)[i], plain.belief(c)[i], 1e-10) << seed;
        }
      }
    }
  }
}

// Cliques of 96,000 and 76,800 cells, taken in pieces: the numbers are the same for any number of
// threads, also where potentials contradict each other.
TEST(BeliefTreeTest, IsTheSameForAnyNumberOfThreads) {
  const std::vector<std::uint32_t> sizes = {40, 40, 60, 32, 5};
  const std::vector<AttributeSet> sets = {AttributeSet::of({0, 1, 2}), AttributeSet::of({1, 2, 3}),
                                          AttributeSet::of({1, 3}), AttributeSet::of({2, 4})};
  test::SeededSource bits(8);
  std::vector<std::vector<double>> potentials;
  for (const AttributeSet set : sets) {
    potentials.emplace_back(static_cast<std::size_t>(data::cell_count(sizes, set)));
    for (double& cell : potentials.back()) cell = 20 * uniform(bits);
  }
  std::vector<std::vector<double>> contradictory = potentials;
  for (std::size_t i = 0; i < contradictory[0].size(); ++i) {
    contradictory[0][i] += 40 * static_cast<double>(i % 60);  // by column 2
  }
  for (std::size_t i = 0; i < contradictory[1].size(); ++i) {
    contradictory[1][i] -= 40 * static_cast<double>(i / 32 % 60);
  }
  BeliefTree first(sizes, sets);
  for (const int threads : {1, 2, 3}) {
    WorkerTeam alone(1);
    WorkerTeam team(threads);
    BeliefTree tree(sizes, sets);
    BeliefTree reference(sizes, sets);
    ASSERT_GT(tree.belief(0).size(), std::size_t{1} << 16);
    // Multiplied; as logarithms; balanced by what those left.
    for (const auto* tables : {&potentials, &contradictory, &contradictory, &potentials}) {
      const double constant = tree.calibrate(*tables, team);
      EXPECT_EQ(constant, reference.calibrate(*tables, alone));
      EXPECT_NEAR(constant, first.calibrate(potentials), 1e-8);  // the same density
      for (std::size_t c = 0; c < tree.tree().cliques.size(); ++c) {
        EXPECT_TRUE(std::ranges::equal(tree.belief(c), reference.belief(c)));
        EXPECT_TRUE(std::ranges::equal(tree.separator(c), reference.separator(c)));
        for (std::size_t i = 0; i < tree.belief(c).size(); ++i) {
          ASSERT_NEAR(tree.belief(c)[i], first.belief(c)[i], 1e-11);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::synth
