// Belief propagation and estimation, against sums over the whole domain.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "synth/belief_tree.hpp"
#include "synth/contraction.hpp"
#include "synth/model_answers.hpp"

#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/workload.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shoal::synth {
namespace {

using data::AttributeSet;

const std::vector<std::uint32_t> kSizes = {2, 3, 2, 4, 1, 3};
const std::vector<AttributeSet> kSets = {AttributeSet::of({0, 1}), AttributeSet::of({1, 2, 4}),
                                         AttributeSet::of({2, 3}), AttributeSet::of({3, 0}),
                                         AttributeSet::of({5})};

double uniform(test::SeededSource& bits) {
  return std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
}

std::vector<std::size_t> codes_of(std::size_t cell, const std::vector<std::uint32_t>& sizes) {
  std::vector<std::size_t> codes(sizes.size());
  for (std::size_t j = sizes.size(); j-- > 0; cell /= sizes[j]) codes[j] = cell % sizes[j];
  return codes;
}

std::size_t project(const std::vector<std::size_t>& codes, AttributeSet set,
                    const std::vector<std::uint32_t>& sizes) {
  std::size_t cell = 0;
  for (const std::size_t j : set.members()) cell = cell * sizes[j] + codes[j];
  return cell;
}

std::vector<double> brute_marginal(const std::vector<double>& joint, AttributeSet set,
                                   const std::vector<std::uint32_t>& sizes) {
  std::vector<double> table(static_cast<std::size_t>(data::cell_count(sizes, set)));
  for (std::size_t cell = 0; cell < joint.size(); ++cell) {
    table[project(codes_of(cell, sizes), set, sizes)] += joint[cell];
  }
  return table;
}

struct BruteForce {
  std::vector<double> joint;
  double log_constant;
};

BruteForce brute_force(const std::vector<std::vector<double>>& potentials) {
  const std::size_t cells =
      std::accumulate(kSizes.begin(), kSizes.end(), std::size_t{1}, std::multiplies<>());
  BruteForce result{std::vector<double>(cells), 0};
  double total = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    for (std::size_t p = 0; p < kSets.size(); ++p) {
      sum += potentials[p][project(codes_of(cell, kSizes), kSets[p], kSizes)];
    }
    result.joint[cell] = std::exp(sum);
    total += result.joint[cell];
  }
  for (double& cell : result.joint) cell /= total;
  result.log_constant = std::log(total);
  return result;
}

std::vector<std::vector<double>> random_potentials(std::uint64_t seed, double width) {
  test::SeededSource bits(seed);
  std::vector<std::vector<double>> potentials;
  for (const AttributeSet set : kSets) {
    potentials.emplace_back(static_cast<std::size_t>(data::cell_count(kSizes, set)));
    for (double& cell : potentials.back()) cell = width * (uniform(bits) - 0.5);
  }
  return potentials;
}

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

TEST(GraphicalModelTest, AFitIsTheSameForAnyNumberOfThreads) {
  const std::vector<std::uint32_t> sizes = {40, 40, 60, 5};
  test::SeededSource bits(9);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set :
       {AttributeSet::of({0, 1, 2}), AttributeSet::of({2, 3}), AttributeSet::of({0})}) {
    marginals.push_back({set, 3, {}});
    for (std::int64_t i = 0; i < data::cell_count(sizes, set); ++i) {
      marginals.back().counts.push_back(20 * uniform(bits) * uniform(bits));
    }
  }
  FitOptions options;
  options.max_iterations = 12;
  const GraphicalModel one = GraphicalModel::fit(sizes, marginals, options);
  ASSERT_GT(one.cells(), std::int64_t{1} << 16);
  for (const int threads : {0, 2, 3}) {
    options.threads = threads;
    const GraphicalModel model = GraphicalModel::fit(sizes, marginals, options);
    EXPECT_EQ(model.report().iterations, one.report().iterations);
    EXPECT_EQ(model.report().promise, one.report().promise);
    EXPECT_EQ(model.potentials(), one.potentials());
    for (std::size_t c = 0; c < one.beliefs().tree().cliques.size(); ++c) {
      EXPECT_TRUE(std::ranges::equal(model.beliefs().belief(c), one.beliefs().belief(c)));
    }
  }
}

TEST(ModelAnswersTest, EveryMarginalIsThatOfTheDensity) {
  const auto potentials = random_potentials(4, 3);
  const BruteForce truth = brute_force(potentials);
  BeliefTree tree(kSizes, kSets);
  tree.calibrate(potentials);
  ModelAnswers answers(tree);
  for (std::uint64_t bits = 0; bits < 64; ++bits) {
    const AttributeSet set(bits);
    const auto expected = brute_marginal(truth.joint, set, kSizes);
    const auto found = answers.marginal(set);
    ASSERT_EQ(found.size(), expected.size()) << bits;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-12) << bits;
    }
  }
}

TEST(ModelAnswersTest, LongChainsAndStarsOfThreeBranches) {
  // A tree of pairs: 0-1-2-3 and branches 1-4-5, 2-6.
  const std::vector<std::uint32_t> sizes = {2, 3, 2, 3, 2, 2, 3};
  std::vector<NoisyMarginal> marginals;
  test::SeededSource bits(8);
  for (const AttributeSet set :
       {AttributeSet::of({0, 1}), AttributeSet::of({1, 2}), AttributeSet::of({2, 3}),
        AttributeSet::of({1, 4}), AttributeSet::of({4, 5}), AttributeSet::of({2, 6})}) {
    NoisyMarginal marginal{set, 1, {}};
    marginal.counts.resize(static_cast<std::size_t>(data::cell_count(sizes, set)));
    for (double& count : marginal.counts) count = 100 * uniform(bits);
    marginals.push_back(marginal);
  }
  const GraphicalModel model = GraphicalModel::fit(sizes, marginals, {});
  const std::vector<double> joint = model.marginal(AttributeSet(127));
  std::vector<AttributeSet> sets;
  for (const WorkloadMarginal& one : all_marginals(7, 3)) sets.push_back(one.set);
  const auto answers = model.marginals(sets, 2);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto expected = brute_marginal(joint, sets[s], sizes);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(answers[s][i], expected[i], 1e-9 * model.total());
    }
  }
}

// Tables of any columns, those of both kept or not, with few cells next to each other and with
// many.
TEST(ContractionTest, IsASumOfProducts) {
  const std::vector<std::uint32_t> sizes = {2, 9, 4, 3, 5, 8};
  test::SeededSource bits(2);
  const auto table = [&](AttributeSet set) {
    ColumnTable one{set,
                    std::vector<double>(static_cast<std::size_t>(data::cell_count(sizes, set)))};
    for (double& cell : one.cells) cell = uniform(bits);
    return one;
  };
  for (int round = 0; round < 200; ++round) {
    const ColumnTable a = table(AttributeSet(bits.next_bits(6)));
    const ColumnTable b = table(AttributeSet(bits.next_bits(6)));
    const AttributeSet both = a.set | b.set;
    const AttributeSet kept = AttributeSet(bits.next_bits(6)) & both;
    const ColumnTable product = contract(sizes, a, b, kept);
    ASSERT_EQ(product.set, kept);
    EXPECT_EQ(contract(sizes, a, b, kept, false).cells, product.cells);
    std::vector<double> expected(product.cells.size());
    std::vector<std::uint32_t> taken = sizes;  // columns of neither are summed over once
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      if (!both.contains(j)) taken[j] = 1;
    }
    const auto cells = static_cast<std::size_t>(data::cell_count(sizes, both));
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto codes = codes_of(cell, taken);
      expected[project(codes, kept, sizes)] +=
          a.cells[project(codes, a.set, sizes)] * b.cells[project(codes, b.set, sizes)];
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(product.cells[i], expected[i], 1e-9);
    }
  }
}

// The conditions of the optimum: n p_r - y_r + w sigma^2 theta_r = 0, where the potentials that the
// residuals define must give the same density.
TEST(GraphicalModelTest, FitsTheRegularisedOptimum) {
  test::SeededSource bits(11);
  std::vector<NoisyMarginal> marginals;
  double sigma = 3;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, sigma += 2, {}};
    const auto cells = static_cast<std::size_t>(data::cell_count(kSizes, set));
    marginal.counts.resize(cells);
    for (double& count : marginal.counts)
      count = 2000.0 / static_cast<double>(cells) * uniform(bits) - 20;
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.shrinkage = {0.05, 0.05, 0.05};
  options.tolerance = 1e-12;
  options.max_iterations = 2000;
  const GraphicalModel model = GraphicalModel::fit(kSizes, marginals, options);
  EXPECT_TRUE(model.report().converged);
  std::vector<std::vector<double>> potentials;
  for (const NoisyMarginal& marginal : marginals) {
    const auto fitted = model.marginal(marginal.set);
    const double sum = std::accumulate(marginal.counts.begin(), marginal.counts.end(), 0.0);
    const double shift = (model.total() - sum) / static_cast<double>(fitted.size());
    const double ridge = options.shrinkage[0] * marginal.sigma * marginal.sigma;
    potentials.emplace_back();
    for (std::size_t i = 0; i < fitted.size(); ++i) {
      potentials.back().push_back((marginal.counts[i] + shift - fitted[i]) / ridge);
    }
  }
  const BruteForce truth = brute_force(potentials);
  const auto joint = model.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < joint.size(); ++i) {
    EXPECT_NEAR(joint[i] / model.total(), truth.joint[i], 1e-6);
  }
}

// With a prior, the residual of each part is its log-linear table times sigma^2 cells / (n
// variance): here of one column and of a pair, from the joint density.
TEST(GraphicalModelTest, APriorLeavesResidualsInProportionToTheEffects) {
  const std::vector<std::uint32_t> sizes = {3, 4};
  const AttributeSet both = AttributeSet::of({0, 1});
  const double sigma = 30;
  const std::vector<double> counts = {120, 40, 260, 90, 310, 75, 20, 55, 10, 190, 60, 150};
  FitOptions options;
  options.prior_variance = 0.7;
  options.tolerance = 1e-12;
  options.max_iterations = 2000;
  const GraphicalModel model = GraphicalModel::fit(sizes, {{{both, sigma, counts}}}, options);
  EXPECT_TRUE(model.report().converged);
  const auto joint = model.marginal(both);
  std::vector<double> residual(12);
  std::vector<double> logs(12);
  for (std::size_t i = 0; i < 12; ++i) {
    residual[i] = counts[i] - joint[i];
    logs[i] = std::log(joint[i]);
  }
  const auto effect = [](const std::vector<double>& table, std::size_t r, std::size_t c) {
    double row = 0;
    double column = 0;
    double all = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      if (i / 4 == r) row += table[i] / 4;
      if (i % 4 == c) column += table[i] / 3;
      all += table[i] / 12;
    }
    return table[4 * r + c] - row - column + all;
  };
  const double expected = sigma * sigma * 12 / (model.total() * 0.7);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(effect(residual, r, c), expected * effect(logs, r, c), 1e-3) << r << " " << c;
    }
  }
  options.prior_variance = 0;
  EXPECT_THROW(GraphicalModel::fit(sizes, {{{both, sigma, counts}}}, options), Error);
}

TEST(GraphicalModelTest, ReproducesConsistentMarginals) {
  const auto potentials = random_potentials(9, 2);
  const BruteForce truth = brute_force(potentials);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, 1, brute_marginal(truth.joint, set, kSizes)};
    for (double& count : marginal.counts) count *= 1e6;
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.shrinkage = {1e-3, 1e-3, 1e-3};
  options.tolerance = 1e-10;
  const GraphicalModel model = GraphicalModel::fit(kSizes, marginals, options);
  EXPECT_NEAR(model.total(), 1e6, 1e-3);
  const auto joint = model.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < joint.size(); ++i) EXPECT_NEAR(joint[i] / 1e6, truth.joint[i], 1e-5);
}

TEST(GraphicalModelTest, MergesRepeatedMarginalsByInverseVariance) {
  const std::vector<std::uint32_t> sizes = {2};
  const AttributeSet set = AttributeSet::of({0});
  const std::vector<NoisyMarginal> marginals = {{set, 1, {600, 400}}, {set, 3, {700, 400}}};
  FitOptions options;
  options.shrinkage = {1e-6, 1e-6, 1e-6};
  options.tolerance = 1e-12;
  const GraphicalModel model = GraphicalModel::fit(sizes, marginals, options);
  EXPECT_NEAR(model.total(), (1000 + 1100 / 9.0) / (1 + 1 / 9.0), 1e-9);
  EXPECT_NEAR(model.marginal(set)[0], (600 + 700 / 9.0) / (1 + 1 / 9.0), 1e-2);
}

TEST(GraphicalModelTest, AWarmStartGivesTheSameModelInFewerSteps) {
  test::SeededSource bits(13);
  std::vector<NoisyMarginal> marginals;
  for (const AttributeSet set : kSets) {
    NoisyMarginal marginal{set, 5, {}};
    marginal.counts.resize(static_cast<std::size_t>(data::cell_count(kSizes, set)));
    for (double& count : marginal.counts) count = 100 * uniform(bits);
    marginals.push_back(marginal);
  }
  FitOptions options;
  options.tolerance = 1e-8;
  const GraphicalModel cold = GraphicalModel::fit(kSizes, marginals, options);
  const GraphicalModel warm = GraphicalModel::fit(kSizes, marginals, options, &cold);
  EXPECT_LT(warm.report().iterations, 2);
  EXPECT_GT(cold.report().iterations, 5);
  const auto a = cold.marginal(AttributeSet(63));
  const auto b = warm.marginal(AttributeSet(63));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
}

TEST(GraphicalModelTest, RefusesWhatDoesNotFit) {
  using test::code_of;
  const std::vector<std::uint32_t> sizes = {2, 3};
  const AttributeSet set = AttributeSet::of({1});
  const auto fit = [&](NoisyMarginal marginal, double weight) {
    FitOptions options;
    options.shrinkage[1] = weight;
    return code_of([&] { GraphicalModel::fit(sizes, {&marginal, 1}, options); });
  };
  EXPECT_EQ(code_of([&] { GraphicalModel::fit(sizes, {}, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2}}, 0.1), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 0, {1, 2, 3}}, 0.1), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2, 3}}, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(fit({set, 1, {1, 2, 3}}, 0.1), std::nullopt);
}

}  // namespace
}  // namespace shoal::synth
