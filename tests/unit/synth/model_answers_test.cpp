// Marginals across cliques, against sums over the whole domain.
#include "synth/model_answers.hpp"

#include "unit/synth/whole_domain.hpp"

#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/workload.hpp>

#include <gtest/gtest.h>

namespace shoal::synth {
namespace {

// With tables on the way of any size, and with ones so small that every column in between is held.
TEST(ModelAnswersTest, EveryMarginalIsThatOfTheDensity) {
  const auto potentials = random_potentials(4, 3);
  const BruteForce truth = brute_force(potentials);
  BeliefTree tree(kSizes, kSets);
  tree.calibrate(potentials);
  for (const std::size_t most : {0u, 1u, 4u, 12u}) {
    ModelAnswers answers(tree, most);
    for (std::uint64_t bits = 0; bits < 64; ++bits) {
      const AttributeSet set(bits);
      const auto expected = brute_marginal(truth.joint, set, kSizes);
      const auto found = answers.marginal(set);
      ASSERT_EQ(found.size(), expected.size()) << bits;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-12) << bits << " " << most;
      }
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
  ModelAnswers one_by_one(model.beliefs(), 1);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto expected = brute_marginal(joint, sets[s], sizes);
    const auto held = one_by_one.marginal(sets[s]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(answers[s][i], expected[i], 1e-9 * model.total());
      EXPECT_NEAR(held[i] * model.total(), expected[i], 1e-9 * model.total());
    }
  }
}

// Along a chain of three cliques the last column by the first separator has 512 cells, and less
// where one of the columns between is held.
TEST(ModelAnswersTest, TablesOnTheWayStayWithinTheirLimit) {
  const std::vector<std::uint32_t> sizes(5, 8);
  const std::vector<AttributeSet> sets = {AttributeSet::of({0, 1, 2}), AttributeSet::of({1, 2, 3}),
                                          AttributeSet::of({2, 3, 4})};
  test::SeededSource bits(14);
  std::vector<std::vector<double>> potentials(3, std::vector<double>(512));
  for (std::vector<double>& potential : potentials) {
    for (double& cell : potential) cell = 3 * uniform(bits);
  }
  BeliefTree tree(sizes, sets);
  tree.calibrate(potentials);
  ModelAnswers free(tree);
  ModelAnswers limited(tree, 64);
  const auto expected = free.marginal(AttributeSet::of({0, 4}));
  const auto found = limited.marginal(AttributeSet::of({0, 4}));
  EXPECT_EQ(free.most_cells_made(), 512u);
  EXPECT_EQ(limited.most_cells_made(), 64u);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-14);
}

}  // namespace
}  // namespace shoal::synth
