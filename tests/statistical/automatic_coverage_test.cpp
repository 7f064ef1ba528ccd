// Automatic bounds keep their word: empty bins are taken as seldom as stated, and the bounds cover
// what stands out.
//
// False alarm: 2,000 seeded searches each. Of events of probability at most 5%, more than 150 occur
// with a chance below 1e-6 (5.1 standard deviations).
#include "plan/value_bins.hpp"
#include "support/seeded_source.hpp"

#include <shoal/plan/automatic.hpp>

#include <gtest/gtest.h>

#include <map>

namespace shoal::plan {
namespace {

constexpr int kRuns = 2000;
constexpr int kMost = 150;

// What release_groups does to a histogram: noise for each bin.
Found searched(const Search& search, const std::map<std::int64_t, int>& people, Neighbors neighbors,
               random::BitSource& bits) {
  const Plan plan = search_plan(search, neighbors);
  std::vector<catalog::ReleasedGroup> groups;
  for (const std::int64_t bin : search.bins) {
    const auto at = people.find(bin);
    const Int128 exact = at == people.end() ? 0 : at->second;
    const Int128 noise = mechanism::sample(*plan.noises.front().statistics.front().noise, bits);
    groups.push_back({{std::to_string(bin)}, {exact + noise}, {}});
  }
  return read_search(search, plan, groups);
}

Search search_of(double epsilon) {
  Search search;
  search.bins = value_bins(false, std::nullopt);
  search.epsilon_units = static_cast<std::int64_t>(epsilon * 1e12);
  return search;
}

class AutomaticCoverageTest : public testing::TestWithParam<Neighbors> {};

TEST_P(AutomaticCoverageTest, OfNobodyNothingIsFound) {
  test::SeededSource bits(21);
  for (const double epsilon : {0.05, 0.5, 3.0}) {
    int found = 0;
    for (int run = 0; run < kRuns; ++run) {
      if (searched(search_of(epsilon), {}, GetParam(), bits).bounds) ++found;
    }
    EXPECT_LE(found, kMost) << epsilon;
    // And the threshold is no higher than it need be. Discrete noise of little scale skips some.
    if (epsilon < 1) {
      EXPECT_GE(found, 50) << epsilon;
    }
  }
}

// The threshold is ln(189 / 0.1) = 7.54 scales, and noise is below -3 scales with a chance of 2.5%:
// twelve scales of people are missed in fewer than 1 run of 100 in either of two bins.
TEST_P(AutomaticCoverageTest, BoundsCoverWhatStandsOut) {
  test::SeededSource bits(22);
  const double scale = GetParam() == Neighbors::add_remove ? 1 / 0.125 : 2 / 0.125;
  const int people = static_cast<int>(12 * scale);
  int missed = 0;
  int wider = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Found found =
        searched(search_of(0.125), {{-1002, people}, {1007, people}}, GetParam(), bits);
    const catalog::Bounds bounds = found.bounds.value_or(catalog::Bounds{0, 0});
    if (bounds.lower > -4 || bounds.upper < 128) ++missed;
    if (bounds.lower < -4 || bounds.upper > 128) ++wider;
  }
  EXPECT_LE(missed, kMost / 3);
  EXPECT_LE(wider, kMost);
}

INSTANTIATE_TEST_SUITE_P(Relations, AutomaticCoverageTest,
                         testing::Values(Neighbors::add_remove, Neighbors::replace_one),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}  // namespace
}  // namespace shoal::plan
