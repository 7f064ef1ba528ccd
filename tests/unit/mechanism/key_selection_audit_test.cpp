// The privacy of key selection: exact laws of all that is told of a few groups, on neighbouring
// tables, against the certified profile of the event. Wrong selections and wrong events are caught.
#include "support/key_laws.hpp"

#include <shoal/mechanism/key_selection.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace shoal::mechanism {
namespace {

using test::UnitCounts;

struct TablePair {
  UnitCounts first;
  UnitCounts second;
};

// One unit in at most two groups comes, to groups that are new, of the least size, or larger; all
// sizes counted from min_units - 1.
std::vector<TablePair> added_pairs(std::int64_t min_units, std::int64_t large) {
  const std::int64_t none = min_units - 1;
  std::vector<TablePair> pairs;
  for (const std::int64_t a : {none, none + 1, large}) {
    pairs.push_back({{a}, {a + 1}});
    for (const std::int64_t b : {none, none + 1, large}) pairs.push_back({{a, b}, {a + 1, b + 1}});
  }
  return pairs;
}

// One unit of at most one group leaves and another comes; or of two, to other two.
std::vector<TablePair> replaced_pairs(std::int64_t large) {
  std::vector<TablePair> pairs;
  for (const std::int64_t a : {std::int64_t{0}, std::int64_t{1}, large}) {
    for (const std::int64_t b : {std::int64_t{0}, std::int64_t{1}, large}) {
      pairs.push_back({{a + 1, b}, {a, b + 1}});
    }
  }
  return pairs;
}

// The largest of both orders over all pairs, over what the event allows: above 1 the claim is
// wrong.
double worst_ratio(const KeySelection& law, const std::vector<TablePair>& pairs,
                   const privacy::Event& event, Neighbors neighbors, double epsilon) {
  double worst = 0;
  for (const TablePair& pair : pairs) {
    worst = std::max({worst, test::hockey_stick_of(law, pair.first, pair.second, epsilon),
                      test::hockey_stick_of(law, pair.second, pair.first, epsilon)});
  }
  const double allowed = privacy::Profile(event, neighbors).delta(epsilon).bounds.upper;
  return allowed > 0     ? worst / allowed
         : worst > 1e-13 ? std::numeric_limits<double>::infinity()
                         : 0;
}

const std::vector<double> kEpsilons = {0, 0.1, 0.3, 0.6, 0.99, 1.01, 1.5, 2.01, 3};

struct Case {
  KeySelection selection;
  std::int64_t large;
};

std::vector<Case> cases() {
  return {{LaplaceThreshold{1, 3}, 5},       {LaplaceThreshold{1, 8}, 9},
          {LaplaceThreshold{2, 6, 4}, 12},   {GaussianThreshold{1.5, 5}, 7},
          {GaussianThreshold{3, 12, 2}, 16}, {OptimalSelection{1, 0.01}, 4},
          {OptimalSelection{0.5, 1e-4}, 15}, {OptimalSelection{0.5, 0.02, 3}, 6}};
}

double worst_of(const KeySelection& law, const KeySelection& stated, std::int64_t large,
                std::int64_t max_groups = 2) {
  const privacy::Event event = privacy_event(stated, max_groups, Neighbors::add_remove);
  const std::vector<TablePair> pairs = added_pairs(min_units(stated), large);
  double worst = 0;
  for (const double epsilon : kEpsilons) {
    worst = std::max(worst, worst_ratio(law, pairs, event, Neighbors::add_remove, epsilon));
  }
  return worst;
}

TEST(KeySelectionAudit, ComingAndGoingIsWithinTheEvent) {
  for (const Case& c : cases()) {
    EXPECT_LE(worst_of(c.selection, c.selection, c.large), 1 + 1e-9) << to_json(c.selection);
    EXPECT_GE(worst_of(c.selection, c.selection, c.large), 0.9) << to_json(c.selection);
  }
}

TEST(KeySelectionAudit, ExchangeIsWithinTheEvent) {
  for (const Case& c : cases()) {
    if (min_units(c.selection) != 1) continue;
    const privacy::Event event = privacy_event(c.selection, 1, Neighbors::replace_one);
    double closest = 0;
    for (const double epsilon : kEpsilons) {
      const double ratio =
          worst_ratio(c.selection, replaced_pairs(c.large), event, Neighbors::replace_one, epsilon);
      EXPECT_LE(ratio, 1 + 1e-9) << to_json(c.selection) << " " << epsilon;
      closest = std::max(closest, ratio);
    }
    // Two groups of optimal selection are not at their worst in opposite directions at once.
    const bool optimal = std::holds_alternative<OptimalSelection>(c.selection);
    EXPECT_GE(closest, optimal ? 0.7 : 0.9) << to_json(c.selection);
  }
}

// Two groups that one unit alone can make appear: the part that failure pays for is exact.
TEST(KeySelectionAudit, NewGroupsAreChargedExactly) {
  const LaplaceThreshold spec{1, 8};
  const double found = test::hockey_stick_of(spec, {1, 1}, {0, 0}, 2.5);
  const double stated =
      privacy::Profile(privacy_event(spec, 2, Neighbors::add_remove), Neighbors::add_remove)
          .delta(2.5)
          .bounds.upper;
  EXPECT_LE(found, stated);
  EXPECT_GE(found, stated * (1 - 1e-9));
}

TEST(KeySelectionAudit, CatchesMutants) {
  // A threshold one lower than stated; noise of half the width.
  EXPECT_GT(worst_of(LaplaceThreshold{1, 7}, LaplaceThreshold{1, 8}, 9), 1.5);
  EXPECT_GT(worst_of(GaussianThreshold{1.5, 4}, GaussianThreshold{1.5, 5}, 7), 1.5);
  EXPECT_GT(worst_of(LaplaceThreshold{0.5, 8}, LaplaceThreshold{1, 8}, 9), 1.5);
  // Delta and epsilon for one group where a unit is in two.
  EXPECT_GT(worst_of(LaplaceThreshold{1, 8}, LaplaceThreshold{1, 8}, 9, 1), 1.5);
  EXPECT_GT(worst_of(OptimalSelection{1, 0.01}, OptimalSelection{1, 0.01}, 4, 1), 1.5);
  // Groups counted one too high: n units are shown as n + 1 would be, and those without not at all.
  for (const KeySelection& spec :
       std::vector<KeySelection>{OptimalSelection{1, 0.01}, LaplaceThreshold{1, 8}}) {
    const privacy::Event event = privacy_event(spec, 2, Neighbors::add_remove);
    EXPECT_GT(worst_ratio(spec, {{{0, 0}, {2, 2}}}, event, Neighbors::add_remove, 2.01), 1.5);
  }
  // A little more than stated.
  EXPECT_GT(worst_of(OptimalSelection{1, 0.012}, OptimalSelection{1, 0.01}, 4), 1.1);
}

}  // namespace
}  // namespace shoal::mechanism
