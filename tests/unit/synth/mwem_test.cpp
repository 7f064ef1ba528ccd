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
  const int best = mwem_best_rounds(1024, 1000, 100'000, 1);
  EXPECT_GT(best, 1);
  EXPECT_LT(mwem_error_bound(1024, 1000, 100'000, best, 1),
            mwem_error_bound(1024, 1000, 100'000, 2 * best, 1));
}

}  // namespace
}  // namespace shoal::synth
