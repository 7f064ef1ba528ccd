// Groupings that agree: totals are sums of their parts, least squares is what it claims to be, and
// intervals lose nothing.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/plan/consistency.hpp>
#include <shoal/plan/estimate.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::plan {
namespace {

using catalog::ReleasedGroup;

constexpr const char* kPolicy = R"(
[dataset]
name = "t"
lineage = "t"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "t.ledger"
[table.t]
source = "t.csv"
format = "csv"
[table.t.column.a]
type = "text"
categories = ["p", "q", "r"]
[table.t.column.b]
type = "boolean"
[table.t.column.c]
type = "text"
[table.t.column.x]
type = "integer"
bounds = [0, 10]
)";

Plan plan_of(const std::string& sql) {
  static const catalog::Policy kParsed = catalog::parse_policy(kPolicy, "/");
  QueryOptions options;
  options.epsilon = 1;
  return make_plan("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(consistent = TRUE) " + sql, kParsed,
                   options);
}

// As release_groups would: the number of leaves below a group times `each`, and noise.
std::vector<std::vector<ReleasedGroup>> release(const Plan& plan, int each,
                                                random::BitSource& bits) {
  std::vector<std::vector<ReleasedGroup>> sets;
  const std::size_t finest = *finest_grouping(plan.groupings);
  const std::size_t leaves = plan.groupings[finest].public_keys.size();
  for (std::size_t set = 0; set < plan.groupings.size(); ++set) {
    const auto& keys = plan.groupings[set].public_keys;
    auto& groups = sets.emplace_back();
    for (const catalog::Key& key : keys) {
      ReleasedGroup group{key, {}, {}, {}};
      for (const auto& statistic : plan.noises[set].statistics) {
        const auto exact = static_cast<Int128>(leaves / keys.size()) * each;
        group.values.push_back(exact + mechanism::sample(*statistic.noise, bits));
      }
      groups.push_back(group);
    }
  }
  return sets;
}

TEST(ConsistencyTest, TotalsAreTheSumsOfTheirParts) {
  const Plan plan = plan_of("a, b, COUNT(*), SUM(x) FROM t GROUP BY CUBE (a, b)");
  ASSERT_TRUE(plan.consistent);
  ASSERT_EQ(plan.groupings.size(), 4u);
  test::SeededSource bits(5);
  auto sets = release(plan, 1000, bits);
  make_consistent(plan, sets);
  const auto& leaves = sets[*finest_grouping(plan.groupings)];
  ASSERT_EQ(leaves.size(), 6u);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const auto& keys = plan.groupings[set].keys;
    for (const ReleasedGroup& group : sets[set]) {
      for (std::size_t i = 0; i < group.values.size(); ++i) {
        Int128 sum = 0;
        for (const ReleasedGroup& leaf : leaves) {
          bool part = true;
          for (std::size_t k = 0; k < keys.size(); ++k)
            part = part && leaf.key[keys[k]] == group.key[k];
          if (part) sum += leaf.consistent[i];
        }
        EXPECT_EQ(sum, group.consistent[i]);
      }
    }
  }
}

// A total T and its n parts p, all with the same noise: each part moves by (T - sum p) / (n + 1).
TEST(ConsistencyTest, IsLeastSquares) {
  const Plan plan = plan_of("a, COUNT(*) FROM t GROUP BY ROLLUP (a)");
  ASSERT_EQ(plan.groupings.size(), 2u);
  std::vector<std::vector<ReleasedGroup>> sets(2);
  const std::size_t finest = *finest_grouping(plan.groupings);
  sets[finest] = {{{"p"}, {100}, {}, {}}, {{"q"}, {200}, {}, {}}, {{"r"}, {300}, {}, {}}};
  sets[1 - finest] = {{{}, {640}, {}, {}}};
  make_consistent(plan, sets);
  EXPECT_EQ(sets[finest][0].consistent[0], 110);
  EXPECT_EQ(sets[finest][1].consistent[0], 210);
  EXPECT_EQ(sets[finest][2].consistent[0], 310);
  EXPECT_EQ(sets[1 - finest][0].consistent[0], 630);
}

// Over 1,000 seeded releases the total's squared error falls from 1 to about 3/4 of the noise's
// variance (three parts and a total); an error of 10% of that is 3 standard deviations.
TEST(ConsistencyTest, IsNearerToTheTruth) {
  const Plan plan = plan_of("a, COUNT(*) FROM t GROUP BY ROLLUP (a)");
  const std::size_t total = 1 - *finest_grouping(plan.groupings);
  test::SeededSource bits(6);
  double released = 0;
  double made = 0;
  for (int run = 0; run < 1000; ++run) {
    auto sets = release(plan, 500, bits);
    make_consistent(plan, sets);
    released += std::pow(static_cast<double>(sets[total][0].values[0]) - 1500, 2);
    made += std::pow(static_cast<double>(sets[total][0].consistent[0]) - 1500, 2);
    const Estimate one = estimate(plan, total, plan.aggregates[0], sets[total][0], plan.confidence);
    const auto width = static_cast<double>(
        mechanism::error_interval(*plan.noises[total].statistics[0].noise, plan.confidence));
    EXPECT_EQ(one.value, static_cast<double>(sets[total][0].consistent[0]));
    EXPECT_LE(one.lower, std::max(0.0, static_cast<double>(sets[total][0].values[0]) - width));
    EXPECT_GE(one.upper, static_cast<double>(sets[total][0].values[0]) + width);
  }
  EXPECT_LT(made, 0.9 * released);
  EXPECT_GT(made, 0.6 * released);
}

TEST(ConsistencyTest, RefusesWhereTotalsNeedNotAgree) {
  const auto refuses = [](const char* sql) {
    try {
      plan_of(sql);
    } catch (const Error& error) {
      return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::refused_by_policy;
    }
    return false;
  };
  EXPECT_TRUE(refuses("c, COUNT(*) FROM t GROUP BY ROLLUP (c)"));
  EXPECT_TRUE(refuses("a, b, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), (b))"));
  // One grouping agrees with itself.
  EXPECT_FALSE(plan_of("a, COUNT(*) FROM t GROUP BY a").consistent);
}

}  // namespace
}  // namespace shoal::plan
