// Quantile trees: their shape and what moves in it, the noise of their ranks, coverage, prices,
// JSON.
#include "mechanism/noise_tails.hpp"
#include "mechanism/rank_path.hpp"
#include "mechanism/tree_shape.hpp"
#include "support/rank_laws.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/quantile_tree.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace shoal::mechanism {
namespace {

using test::Histogram;

const QuantileTree kNoNoise{DiscreteLaplace{0x1p-10}};  // 0, but with probability e^-1024

TEST(QuantileTree, HasAsManyLevelsAsItNeeds) {
  for (const auto& [leaves, levels] : std::map<std::int64_t, int>{
           {1, 1}, {17, 1}, {18, 2}, {272, 2}, {273, 3}, {4352, 3}, {4353, 4}, {65537, 4}}) {
    EXPECT_EQ(tree_levels(leaves), levels) << leaves;
  }
  EXPECT_THROW(tree_levels(0), Error);
  EXPECT_THROW(tree_levels(65538), Error);
}

// Walks all nodes and counts on how many of them each leaf lies, by level.
void count_nodes(const TreeShape& shape, const TreeNode& node,
                 std::vector<std::vector<int>>& seen) {
  ASSERT_GE(shape.children(node), 1u);
  ASSERT_LE(shape.children(node), node.level == 0 ? 17u : 16u);
  for (std::size_t j = 0; j < shape.children(node); ++j) {
    for (std::int64_t leaf = shape.first_leaf(node, j); leaf < shape.first_leaf(node, j + 1);
         ++leaf) {
      ++seen[static_cast<std::size_t>(node.level)][static_cast<std::size_t>(leaf)];
    }
    if (!shape.at_leaves(node)) count_nodes(shape, shape.child(node, j), seen);
  }
}

// So one value moves one count on each level, by 1: what the event is made of.
TEST(QuantileTree, EveryLeafLiesOnOneNodeOfEveryLevel) {
  for (const std::int64_t leaves : {1, 2, 16, 17, 18, 33, 272, 273, 1000, 65536, 65537}) {
    const TreeShape shape(leaves);
    std::vector<std::vector<int>> seen(static_cast<std::size_t>(shape.levels()),
                                       std::vector<int>(static_cast<std::size_t>(leaves), 0));
    count_nodes(shape, {}, seen);
    for (const std::vector<int>& level : seen) {
      for (const int count : level) ASSERT_EQ(count, 1) << leaves;
    }
  }
}

// Boundaries of a path through three levels, from all the counts on it.
struct WalkedPath {
  std::vector<std::size_t> children;  // taken on each level; the last is a boundary
  double p;

  RankPath::Boundary boundary(const std::vector<std::vector<double>>& counts) const {
    RankPath path(p);
    for (std::size_t level = 0; level + 1 < counts.size(); ++level) {
      path = path.child(counts[level], children[level]);
    }
    return path.boundary(counts.back(), children.back());
  }
};

// The estimate is linear in the counts: its coefficients are its slopes, and with counts that are
// consistent it is the truth.
TEST(RankPath, KnowsTheCoefficientsOfItsNoises) {
  test::SeededSource bits(500);
  for (int round = 0; round < 100; ++round) {
    const std::vector<std::size_t> sizes = {1 + bits.next_bits(4), 1 + bits.next_bits(4),
                                            1 + bits.next_bits(2)};
    WalkedPath walk{{}, static_cast<double>(1 + bits.next_bits(6)) / 66};
    std::vector<std::vector<double>> zero;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      const bool last = level + 1 == sizes.size();
      walk.children.push_back(bits.next_bits(20) % (sizes[level] + (last ? 1 : 0)));
      zero.emplace_back(sizes[level], 0.0);
    }
    const RankPath::Boundary stated = walk.boundary(zero);
    EXPECT_EQ(stated.z, 0);
    double squares = 0;
    double largest = 0;
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      for (std::size_t i = 0; i < sizes[level]; ++i) {
        std::vector<std::vector<double>> counts = zero;
        counts[level][i] = 1;
        const double slope = walk.boundary(counts).z;
        squares += slope * slope;
        largest = std::max(largest, std::fabs(slope));
      }
    }
    EXPECT_NEAR(stated.variance, squares, 1e-12 * (1 + squares));
    EXPECT_GE(stated.largest, largest - 1e-12);
    EXPECT_LE(stated.largest, 1);
  }
}

TEST(RankPath, IsTheTruthWithoutNoise) {
  // 3 top nodes of 10, 20 and 30 values; the second has 5, 0, 15; its last 7, 8.
  const WalkedPath walk{{1, 2, 1}, 0.25};
  const RankPath::Boundary found = walk.boundary({{10, 20, 30}, {5, 0, 15}, {7, 8}});
  EXPECT_NEAR(found.z, 10 + 5 + 7 - 15, 1e-12);
}

// A total that is known from above is worth having: the middle of 16 children is known better than
// as the sum of 8.
TEST(RankPath, UsesTheTotal) {
  const std::vector<double> zero(16, 0.0);
  const RankPath path = RankPath(0.5).child(zero, 0);
  const double alone = path.boundary(zero, 0).variance;
  EXPECT_LT(path.boundary(zero, 8).variance, alone + 8);
  EXPECT_LT(path.boundary(zero, 15).variance, alone + 4);
}

TEST(QuantileTree, DeviationsCoverTheNoise) {
  for (const double beta : {0.2, 0.01, 1e-6}) {
    for (const double scale : {0.5, 3.0, 40.0}) {
      const double laplace = rank_deviation({DiscreteLaplace{scale}}, 1, 1, beta);
      const double gaussian = rank_deviation({DiscreteGaussian{scale}}, 1, 1, beta);
      const auto at_least = [](double w) { return static_cast<Int128>(std::floor(w)) + 1; };
      EXPECT_LE(NoiseTails(DiscreteLaplace{scale}).at_least_up(at_least(laplace)), beta);
      EXPECT_LE(NoiseTails(DiscreteGaussian{scale}).at_least_up(at_least(gaussian)), beta);
      // Chernoff's bound for one noise is not far off, and for many it is that of their variance.
      EXPECT_LE(laplace, scale * (std::log(1 / beta) + 4));
      const double many = rank_deviation({DiscreteLaplace{scale}}, 1000, 1, beta);
      EXPECT_LE(many, 1.25 * scale * std::sqrt(2 * 2000 * std::log(1 / beta)));
      EXPECT_GE(many, scale * std::sqrt(2 * 2000 * std::log(1 / beta)) * 0.99);
    }
  }
}

std::vector<Histogram> histograms() {
  test::SeededSource bits(510);
  std::vector<Histogram> list = {{0}, {3}, Histogram(500, 0)};
  for (const std::size_t size : {5u, 17u, 40u, 400u, 5000u}) {
    Histogram& histogram = list.emplace_back(size, 0);
    for (int i = 0; i < 300; ++i) histogram[bits.next_bits(20) % size] += 1;
    Histogram& lumps = list.emplace_back(size, 0);
    for (int i = 0; i < 3; ++i)
      lumps[bits.next_bits(20) % size] += 1 + static_cast<int>(bits.next_bits(7));
  }
  return list;
}

TEST(NoisyTree, FindsExactQuantilesWithoutNoise) {
  test::SeededSource bits(520);
  for (const Histogram& histogram : histograms()) {
    const auto upper = static_cast<std::int64_t>(histogram.size()) - 1;
    NoisyTree tree(kNoNoise, {-7, upper - 7}, test::leaves_of(histogram, -7), bits);
    for (const Fraction fraction : {Fraction{1, 2}, {1, 3}, {9, 10}, {1, 1000000}, {999, 1000}}) {
      const QuantileEstimate found = tree.quantile(fraction, Confidence(0.9));
      const double rank = static_cast<double>(test::total_of(histogram) * fraction.numerator) /
                          static_cast<double>(fraction.denominator);
      const auto step = static_cast<std::size_t>(found.value + 7);
      ASSERT_LE(test::rank_error_of(histogram, step, rank), 1e-9) << histogram.size();
      // Nor is anything in the interval off by more than the deviation of next to no noise.
      ASSERT_LE(test::rank_error_of(histogram, static_cast<std::size_t>(found.lower + 7), rank),
                0.2);
      ASSERT_LE(test::rank_error_of(histogram, static_cast<std::size_t>(found.upper + 7), rank),
                0.2);
    }
  }
}

TEST(NoisyTree, GivesTheSameAnswersAgainAndInOrder) {
  const Histogram histogram = histograms().back();
  test::SeededSource bits(530);
  NoisyTree tree({DiscreteGaussian{5}}, {0, 4999}, test::leaves_of(histogram, 0), bits);
  std::vector<QuantileEstimate> first;
  for (std::int64_t i = 1; i < 20; ++i) {
    first.push_back(tree.quantile({i, 20}, Confidence(0.999999)));
    if (i > 1) {
      EXPECT_GE(first.back().value, first[first.size() - 2].value);
    }
  }
  const std::int64_t visited = tree.visited();
  for (std::int64_t i = 19; i >= 1; --i) {
    EXPECT_EQ(tree.quantile({i, 20}, Confidence(0.999999)), first[static_cast<std::size_t>(i - 1)]);
  }
  EXPECT_EQ(tree.visited(), visited);
  EXPECT_LT(visited, 5000 + 313 + 20);  // all nodes there are
}

struct Data {
  const char* name;
  Histogram histogram;
};

std::vector<Data> data_sets() {
  test::SeededSource bits(540);
  Histogram spread(3000, 0);
  for (int i = 0; i < 20000; ++i) spread[900 + bits.next_bits(10)] += 1;
  Histogram atom(3000, 0);
  atom[1000] = 5000;
  atom[1001] = 5000;
  Histogram few(3000, 0);
  few[7] = 3;
  few[2990] = 2;
  Histogram far(3000, 0);
  far[100] = 4000;
  far[2900] = 4000;
  return {{"spread", spread}, {"atom", atom}, {"few", few}, {"far", far}};
}

// 1000 runs for each of 2 laws, 4 data sets and 2 fractions; each fails wrongly with probability
// below 1e-6.
TEST(NoisyTree, IntervalsHoldAllExactQuantiles) {
  constexpr int kRuns = 1000;
  constexpr double kConfidence = 0.8;
  std::uint64_t seed = 550;
  for (const QuantileTree& tree : {QuantileTree{DiscreteLaplace{8}}, {DiscreteGaussian{8}}}) {
    for (const Data& data : data_sets()) {
      const auto leaves = test::leaves_of(data.histogram, 0);
      const std::vector<Fraction> fractions = {{1, 2}, {1, 20}};
      std::vector<test::StepPair> exact;
      for (const Fraction& fraction : fractions) {
        const auto total = static_cast<double>(test::total_of(data.histogram));
        exact.push_back(
            test::exact_steps(data.histogram, total * static_cast<double>(fraction.numerator) /
                                                  static_cast<double>(fraction.denominator)));
      }
      std::vector<std::int64_t> held(fractions.size(), 0);
      test::SeededSource bits(seed++);
      for (int run = 0; run < kRuns; ++run) {
        NoisyTree noisy(tree, {0, 2999}, leaves, bits);
        for (std::size_t i = 0; i < fractions.size(); ++i) {
          const QuantileEstimate found = noisy.quantile(fractions[i], Confidence(kConfidence));
          ASSERT_LE(found.lower, found.value);
          ASSERT_LE(found.value, found.upper);
          if (found.lower <= exact[i].least && exact[i].most <= found.upper) ++held[i];
        }
      }
      for (const std::int64_t count : held) {
        EXPECT_GE(numeric::chance_upper_bound(count, kRuns, 1e-6), kConfidence) << data.name;
      }
    }
  }
}

// 20 values a step: the interval of a median is about as wide as the deviation of its rank says.
TEST(NoisyTree, IntervalsSaySomething) {
  const Data data = data_sets().front();
  test::SeededSource bits(570);
  const QuantileTree tree{DiscreteGaussian{8}};
  NoisyTree noisy(tree, {0, 2999}, test::leaves_of(data.histogram, 0), bits);
  const QuantileEstimate found = noisy.quantile({1, 2}, Confidence(0.95));
  const double ranks = rank_error(tree, 3000, {1, 2}, Confidence(0.95));
  EXPECT_LE(static_cast<double>(found.upper - found.lower) * 20, 6 * ranks);
  EXPECT_GE(ranks, 2 * expected_rank_error(tree, 3000, {1, 2}));
  EXPECT_LE(ranks, 5 * expected_rank_error(tree, 3000, {1, 2}));
}

TEST(QuantileTree, EventsCountLevelsAndGroups) {
  using namespace privacy::event;
  const GroupContribution one{};
  const GroupContribution many{3, 2, false};
  EXPECT_EQ(privacy_event(QuantileTree{DiscreteLaplace{4}}, 65537, one, Neighbors::add_remove),
            privacy::Event(Repeat{4, privacy::event::DiscreteLaplace{4, 1}}));
  EXPECT_EQ(privacy_event(QuantileTree{DiscreteGaussian{4}}, 300, one, Neighbors::replace_one),
            privacy::Event(Repeat{6, privacy::event::DiscreteGaussian{4, 1, 1}}));
  EXPECT_EQ(privacy_event(QuantileTree{DiscreteLaplace{4}}, 17, many, Neighbors::add_remove),
            privacy::Event(Repeat{3, Pure{0.5}}));
  EXPECT_EQ(privacy_event(QuantileTree{DiscreteGaussian{4}}, 18, many, Neighbors::replace_one),
            privacy::Event(Repeat{12, Zcdp{0.125}}));
}

TEST(QuantileTree, RoundTripsThroughJson) {
  for (const QuantileTree& tree : {QuantileTree{DiscreteLaplace{0.1}}, {DiscreteGaussian{12.5}}}) {
    QuantileTree read;
    from_json(to_json(tree), read);
    EXPECT_EQ(read, tree);
    EXPECT_NE(describe(tree).find("tree"), std::string::npos);
  }
  QuantileTree read;
  for (const char* text : {"{}", R"({"quantile_tree": 3})", R"({"quantile_tree": {}})",
                           R"({"quantile_tree": {"rounded_laplace": {"scale": 4}}})",
                           R"({"quantile_tree": {"discrete_laplace": {"scale": 0}}})",
                           R"({"tree": {"discrete_laplace": {"scale": 4}}})"}) {
    try {
      from_json(text, read);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << text;
    }
  }
  test::SeededSource bits(1);
  EXPECT_THROW(NoisyTree({}, {0, 9}, {}, bits), Error);
  NoisyTree tree(kNoNoise, {0, 9}, {}, bits);
  EXPECT_THROW(tree.quantile({1, 1}, Confidence(0.9)), Error);
}

}  // namespace
}  // namespace shoal::mechanism
