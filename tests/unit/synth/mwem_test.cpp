// MWEM: it spends what was reserved, lowers the error, and refuses before anything is spent.
#include "support/curator_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/synth/mwem.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shoal::synth {
namespace {

using test::code_of;

const std::vector<std::uint32_t> kSizes = {4, 5};

std::vector<LinearQuery> queries() {
  auto all = prefix_queries(kSizes, 0);
  for (const LinearQuery& one : prefix_queries(kSizes, 1)) all.push_back(one);
  for (const LinearQuery& one : marginal_queries(kSizes, data::AttributeSet::of({0, 1}))) {
    all.push_back(one);
  }
  return all;
}

std::vector<std::vector<std::uint16_t>> rows() {
  std::vector<std::vector<std::uint16_t>> all;
  for (std::uint16_t i = 0; i < 5000; ++i) {
    all.push_back({static_cast<std::uint16_t>(i % 2), static_cast<std::uint16_t>(i % 3)});
  }
  return all;
}

class MwemTest : public test::CuratorTest {
 protected:
  release::HistogramCurator curator(double epsilon, random::BitSource& bits) {
    std::vector<std::vector<std::int64_t>> steps;
    for (const LinearQuery& query : queries()) steps.push_back(query.steps);
    return {reserve(privacy::event::Pure{epsilon}), test::coded_table(kSizes, rows()), steps,
            kQuerySteps, bits};
  }
};

double worst(const std::vector<double>& density) {
  std::vector<double> truth(20);
  for (const auto& row : rows()) truth[row[0] * 5u + row[1]] += 1.0 / 5000;
  double result = 0;
  for (const LinearQuery& query : queries()) {
    double miss = 0;
    for (std::size_t i = 0; i < 20; ++i) {
      miss += (truth[i] - density[i]) * static_cast<double>(query.steps[i]) / kQuerySteps;
    }
    result = std::max(result, std::abs(miss));
  }
  return result;
}

TEST_F(MwemTest, LowersTheErrorAndSpendsWhatWasReserved) {
  test::SeededSource bits(1);
  release::HistogramCurator mine = curator(2, bits);
  const MwemResult result = mwem(mine, queries(), 30, 2);
  EXPECT_LT(mine.epsilon_left(), 1e-8);
  EXPECT_EQ(result.queries.size(), 30u);
  EXPECT_NEAR(std::accumulate(result.density.begin(), result.density.end(), 0.0), 1, 1e-9);
  const std::vector<double> uniform(20, 0.05);
  EXPECT_LT(worst(result.density), worst(uniform) / 2);
}

TEST_F(MwemTest, RefusesBeforeAnythingIsSpent) {
  test::SeededSource bits(2);
  release::HistogramCurator mine = curator(1, bits);
  EXPECT_EQ(code_of([&] { mwem(mine, queries(), 0, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { mwem(mine, queries(), 5, 1.1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { mwem(mine, {}, 5, 1); }), ErrorCode::invalid_argument);
  EXPECT_NEAR(mine.epsilon_left(), 1, 1e-9);
}

TEST(LinearQueriesTest, AreWhatTheySay) {
  const auto cells = marginal_queries(kSizes, data::AttributeSet::of({1}));
  ASSERT_EQ(cells.size(), 5u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(cells[2].steps[i], i % 5 == 2 ? kQuerySteps : 0);
  }
  const LinearQuery range = range_query(kSizes, 0, 1, 2);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(range.steps[i], i / 5 == 1 || i / 5 == 2 ? kQuerySteps : 0);
  }
  EXPECT_EQ(prefix_queries(kSizes, 1).size(), 4u);
  EXPECT_EQ(code_of([] { range_query(kSizes, 0, 2, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { range_query(kSizes, 0, 0, 4); }), ErrorCode::invalid_argument);
  const std::vector<std::uint32_t> large = {65536, 65536};
  EXPECT_EQ(code_of([&] { universe_size(large); }), ErrorCode::invalid_argument);
}

TEST(MwemBoundTest, HasAnInteriorOptimum) {
  const MwemProblem problem{1024, 1000, 100'000, 1};
  const int best = mwem_best_rounds(problem, 0.05);
  EXPECT_GT(best, 1);
  const double least = mwem_error_bound(problem, best, 0.05);
  EXPECT_LT(least, mwem_error_bound(problem, 2 * best, 0.05));
  EXPECT_LT(least, mwem_error_bound(problem, best / 2, 0.05));
}

// By hand: without noise sqrt(32/15 ln|X| / T) and 1 / T are left, and the chance to fail counts.
TEST(MwemBoundTest, IsTheOneOfTheProofNote) {
  const double free = mwem_error_bound({100, 50, 1'000'000'000, 100}, 25, 0.05);
  EXPECT_NEAR(free, std::sqrt(32.0 / 15 * std::log(100) / 25) + 0.04, 1e-4);
  const MwemProblem problem{100, 50, 1000, 2};
  EXPECT_GT(mwem_error_bound(problem, 4, 1e-6), mwem_error_bound(problem, 4, 0.05));
  // One query is chosen without fail, but its noise is not bounded by ln|Q| = 0.
  const double z = 4 / 1000.0 * std::log(16 / (1 + std::exp(-1 / 4096.0)) / 0.05);
  const double l = std::log(40.0);
  const double c = 8 / 1000.0 * (1 + std::sqrt(l / 2) + l / 4) + 1 / 1'024'000.0;
  EXPECT_NEAR(mwem_error_bound({1, 1, 1000, 2}, 4, 0.05), z + c + 0.25, 1e-12);
}

// The step of the proof: multiplicative weights lower the relative entropy by at least that much,
// whatever the noise is. Densities, queries and noise at random.
TEST(MwemBoundTest, TheEntropyFallsAsTheProofSays) {
  test::SeededSource random(12);
  const auto uniform = [&] { return (static_cast<double>(random.next_bits(20)) + 1) / (1 << 20); };
  double tightest = 1;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> truth(6), guess(6), query(6);
    double truths = 0;
    double guesses = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      truths += truth[i] = std::pow(uniform(), 3);
      guesses += guess[i] = std::pow(uniform(), 3);
      query[i] = trial % 2 == 0 ? std::round(uniform()) : uniform();
    }
    double exact = 0;
    double expected = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      exact += query[i] * (truth[i] /= truths);
      expected += query[i] * (guess[i] /= guesses);
    }
    const double e = exact - expected;
    const double w = (uniform() - 0.5) * (trial % 3 == 0 ? 8 : 0.2);
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += guess[i] * std::exp(query[i] * (e + w) / 2);
    const double fall = (e + w) / 2 * exact - std::log(sum);
    const double proved = 15.0 / 32 * e * e + 7.0 / 16 * e * w - w * w / 32;
    EXPECT_GE(fall, proved - 1e-12);
    tightest = std::min(tightest, fall - proved);
  }
  EXPECT_LT(tightest, 1e-4);
}

// 40 runs, each against the bound that fails with probability 2e-8 at most. False alarm: below
// 1e-6, by the theorem.
TEST_F(MwemTest, TheWorstQueryIsWithinTheBound) {
  const auto count = static_cast<std::int64_t>(queries().size());
  const MwemProblem problem{20, count, 5000, 4};
  const int rounds = mwem_best_rounds(problem, 0.05);
  const double bound = mwem_error_bound(problem, rounds, 2e-8);
  EXPECT_LT(bound, 1);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::SeededSource bits(seed);
    release::HistogramCurator mine = curator(4, bits);
    EXPECT_LT(worst(mwem(mine, queries(), rounds, 4).density), bound) << seed;
  }
}

}  // namespace
}  // namespace shoal::synth
