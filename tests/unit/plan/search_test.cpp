// Searches for bounds: their bins, their price, and what is read from a histogram.
#include "plan/value_bins.hpp"
#include "support/plan_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/plan/automatic.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

using catalog::Bounds;

Search search_of(bool whole, std::optional<Bounds> within) {
  Search search;
  search.whole = whole;
  search.within = within;
  search.bins = value_bins(whole, within);
  search.epsilon_units = 1'000'000'000'000;
  return search;
}

// A histogram with so many people in some bins, and nobody in the others.
std::vector<catalog::ReleasedGroup> histogram(const Search& search,
                                              const std::map<std::int64_t, int>& people) {
  std::vector<catalog::ReleasedGroup> groups;
  for (const std::int64_t bin : search.bins) {
    const auto at = people.find(bin);
    groups.push_back({{std::to_string(bin)}, {at == people.end() ? 0 : at->second}, {}});
  }
  return groups;
}

std::optional<Bounds> found(const Search& search, const std::map<std::int64_t, int>& people) {
  return read_search(search, search_plan(search, Neighbors::add_remove), histogram(search, people))
      .bounds;
}

TEST(ValueBinsTest, AreInTheOrderOfTheirValuesAndLeaveNoGap) {
  for (const bool whole : {false, true}) {
    const std::vector<std::int64_t> bins = value_bins(whole, std::nullopt);
    EXPECT_EQ(bins.size(), whole ? 129u : 189u);
    for (std::size_t i = 1; i < bins.size(); ++i) {
      EXPECT_LT(bins[i - 1], bins[i]);
      EXPECT_EQ(values_of_bin(bins[i - 1], whole).upper, values_of_bin(bins[i], whole).lower);
    }
    EXPECT_EQ(values_of_bin(bins.back(), whole).upper, 0x1p63);
  }
}

TEST(ValueBinsTest, OnlyThoseOfDeclaredBounds) {
  EXPECT_EQ(value_bins(true, Bounds{0, 100}).size(), 9u);  // 0, 1, 2, 4, ..., 128
  EXPECT_EQ(value_bins(true, Bounds{-3, 0}), (std::vector<std::int64_t>{-1002, -1001, -1000, 0}));
  EXPECT_EQ(value_bins(false, Bounds{5, 8}).back(), 1003);
}

TEST(SearchTest, TakesTheOutermostBinsThatStandOut) {
  const Search search = search_of(false, std::nullopt);
  // Epsilon 1 and 189 bins: a bin stands out above ln(189 / 0.1), which is 7.5.
  EXPECT_EQ(found(search, {{1002, 300}, {1005, 8}, {1006, 7}}), (Bounds{2, 32}));
  EXPECT_EQ(found(search, {{-1003, 40}, {1001, 40}}), (Bounds{-8, 2}));
  EXPECT_EQ(found(search, {{0, 40}, {1001, 40}}), (Bounds{0, 2}));
  EXPECT_EQ(found(search, {{0, 40}}), (Bounds{0, 1}));
  EXPECT_EQ(found(search, {{1004, 7}}), std::nullopt);
  EXPECT_EQ(found(search, {}), std::nullopt);
}

TEST(SearchTest, StaysWithinDeclaredBounds) {
  const Search search = search_of(true, Bounds{3, 100});
  EXPECT_EQ(found(search, {{1002, 50}, {1007, 50}}), (Bounds{3, 100}));
  EXPECT_EQ(found(search, {{1004, 50}}), (Bounds{8, 16}));
  // Nothing between 2 and 3 is meant to be there: the declared bounds are what is known.
  EXPECT_EQ(found(search, {{1001, 50}}), (Bounds{3, 100}));
}

TEST(SearchTest, GroupsAreAQuantileOfPeople) {
  Search search;
  search.kind = SearchKind::max_groups;
  search.bins = {1, 2, 3, 4, 8};
  search.epsilon_units = 1'000'000'000'000;
  const Plan plan = search_plan(search, Neighbors::add_remove);
  const auto groups = [&](const std::map<std::int64_t, int>& people) {
    return read_search(search, plan, histogram(search, people)).max_groups;
  };
  EXPECT_EQ(groups({{1, 100}}), 1);
  EXPECT_EQ(groups({{1, 50}, {2, 45}, {8, 5}}), 2);
  EXPECT_EQ(groups({{1, 50}, {2, 44}, {8, 6}}), 8);
  EXPECT_EQ(groups({{3, -5}, {4, 100}}), 4);
  EXPECT_EQ(groups({{1, 2}}), std::nullopt);
}

TEST(SearchTest, CostsItsShareAndNoMore) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    for (const std::int64_t units :
         {std::int64_t{3}, std::int64_t{7'777'777}, std::int64_t{10'000'000'000'000}}) {
      Search search = search_of(true, std::nullopt);
      search.epsilon_units = units;
      try {
        const Plan plan = search_plan(search, neighbors);
        EXPECT_LE(*plan.charge.epsilon_units, units);
        EXPECT_GE(static_cast<double>(*plan.charge.epsilon_units),
                  0.99 * static_cast<double>(units) - 2);
        EXPECT_EQ(plan.charge.delta_units, 0);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << units;
        EXPECT_EQ(units, 3);
      }
    }
  }
}

// An eighth of the epsilon for all searches together, whatever is left for the answer.
TEST(AutomaticPlanTest, DividesTheEpsilon) {
  QueryOptions options;
  options.epsilon = 1;
  const Plan plan = test::plan_of(
      "SELECT SUM(x, bounds => AUTO), AVG(r, bounds => AUTO), AVG(x + r, bounds => AUTO) FROM t",
      options);
  ASSERT_EQ(plan.automatic.size(), 3u);
  for (const Automatic& one : plan.automatic) {
    EXPECT_EQ(one.search.epsilon_units, 1'000'000'000'000 / 24);
  }
  EXPECT_EQ(plan.limit.epsilon_units, 875'000'000'000);
  EXPECT_LE(*plan.charge.epsilon_units, 1'000'000'000'000);
}

TEST(AutomaticPlanTest, TheSameExpressionIsLookedForOnce) {
  QueryOptions options;
  options.epsilon = 1;
  const Plan plan = test::plan_of(
      "SELECT SUM(x, bounds => AUTO), AVG(x, bounds => AUTO), MAX(x, bounds => AUTO) "
      "FILTER (WHERE r > 0.5) FROM t WHERE x > 3",
      options);
  EXPECT_EQ(plan.automatic.size(), 1u);
}

// Whatever is found, the answer stays within what was declared before.
TEST(AutomaticPlanTest, AnyFindingIsCovered) {
  const catalog::Policy policy = catalog::parse_policy(test::kPlanPolicy, "/");
  const char* sql =
      "SELECT COUNT(*), SUM(x, bounds => AUTO), VAR_POP(x, bounds => AUTO), MEDIAN(r, bounds => "
      "AUTO) FROM t";
  for (const NoiseChoice noise : {NoiseChoice::laplace, NoiseChoice::gaussian}) {
    QueryOptions options;
    options.epsilon = 0.7;
    options.delta = 1e-7;
    options.noise = noise;
    const Plan asked = make_plan(sql, policy, options);
    for (const Bounds& bounds : {Bounds{-8, 4}, Bounds{0, 1}, Bounds{0x1p20, 0x1p40}}) {
      Known known{{}, true, noise};
      for (const Automatic& one : asked.automatic) known.findings[one.search.rule] = {bounds, {}};
      const Plan plan = make_plan(sql, policy, options, known);
      EXPECT_TRUE(privacy::covers(privacy::declared(asked.limit), plan.event, plan.neighbors));
      EXPECT_FALSE(must_search(plan));
    }
  }
}

}  // namespace
}  // namespace shoal::plan
