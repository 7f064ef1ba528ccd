// The noise of whole answers: exact laws of all that is released of two or three groups, on
// neighbouring tables, against the certified profile of the event. Events with a constant too small
// are caught.
#include "support/key_laws.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/grouped_noise.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/profile.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace shoal::mechanism {
namespace {

// One group in both tables.
struct GroupPair {
  std::int64_t units_first = 0;
  std::int64_t units_second = 0;
  std::vector<std::int64_t> moves = {};  // of each statistic, from the first to the second
};
using TablePair = std::vector<GroupPair>;

struct Mass {
  double p = 0;
  double q = 0;
};

// Outcomes put together by their loss, which is what tells two tables apart; those with about the
// same loss are one outcome. Forgetting which of them it was is post-processing: whatever is found
// is no more than the truth.
class LossLaw {
 public:
  static LossLaw of_nothing() {
    LossLaw law;
    law.at(0) = {1, 1};
    return law;
  }

  void add(Mass mass) {
    if (mass.p <= 0 && mass.q <= 0) return;
    const double loss = std::log(mass.p) - std::log(mass.q);
    add(static_cast<int>(std::lround(std::clamp<double>(loss / kStep, -kMost, kMost))), mass);
  }

  LossLaw times(const LossLaw& other) const {
    std::vector<std::pair<int, Mass>> factors;
    for (int b = -kMost; b <= kMost; ++b) {
      if (other.at(b).p > 0 || other.at(b).q > 0) factors.emplace_back(b, other.at(b));
    }
    LossLaw joint;
    for (int a = -kMost; a <= kMost; ++a) {
      const Mass left = at(a);
      if (left.p <= 0 && left.q <= 0) continue;
      for (const auto& [b, right] : factors)
        joint.add(std::clamp(a + b, -kMost, kMost), {left.p * right.p, left.q * right.q});
    }
    return joint;
  }

  double hockey_stick(double epsilon, bool reversed) const {
    const double factor = std::exp(epsilon);
    double sum = 0;
    for (const Mass& mass : cells_)
      sum += std::max(0.0, reversed ? mass.q - factor * mass.p : mass.p - factor * mass.q);
    return sum;
  }

 private:
  static constexpr double kStep = 0.01;
  static constexpr int kMost = 2000;  // beyond it a loss is as good as infinite

  Mass& at(int cell) { return cells_[static_cast<std::size_t>(cell + kMost)]; }
  const Mass& at(int cell) const { return cells_[static_cast<std::size_t>(cell + kMost)]; }
  void add(int cell, Mass mass) {
    at(cell).p += mass.p;
    at(cell).q += mass.q;
  }

  std::vector<Mass> cells_ = std::vector<Mass>(2 * kMost + 1);
};

// Far enough out that what is cut off is below what is looked for, of the scales used here.
constexpr std::int64_t kReach = 70;

LossLaw shifted_law(const AnyMechanism& noise, std::int64_t move) {
  LossLaw law;
  for (std::int64_t y = -kReach; y <= kReach; ++y) {
    law.add({std::exp(log_pmf(noise, Int128{y})), std::exp(log_pmf(noise, Int128{y - move}))});
  }
  return law;
}

LossLaw statistics_law(const GroupedNoise& noise, const GroupPair& group) {
  LossLaw law = LossLaw::of_nothing();
  for (std::size_t i = 0; i < noise.statistics.size(); ++i) {
    if (!noise.statistics[i].noise || group.moves.at(i) == 0) continue;
    law = law.times(shifted_law(*noise.statistics[i].noise, group.moves[i]));
  }
  return law;
}

LossLaw group_law(const GroupedNoise& noise, const GroupPair& group) {
  if (!noise.selection) return statistics_law(noise, group);
  const test::GroupLaw first = test::law_of(*noise.selection, group.units_first, kReach);
  const test::GroupLaw second = test::law_of(*noise.selection, group.units_second, kReach);
  test::GroupLaw all = first;
  all.insert(second.begin(), second.end());
  const auto in = [](const test::GroupLaw& law, std::int64_t y) {
    const auto found = law.find(y);
    return found == law.end() ? 0.0 : found->second;
  };
  LossLaw shown;
  for (const auto& [y, unused] : all) {
    if (y != test::kHidden) shown.add({in(first, y), in(second, y)});
  }
  LossLaw law = shown.times(statistics_law(noise, group));
  law.add({in(first, test::kHidden), in(second, test::kHidden)});
  return law;
}

const std::vector<double> kEpsilons = {0, 0.1, 0.3, 0.6, 1, 1.5, 2, 2.5, 3, 4, 5};

// The most that any pair is told apart, in either order, over what the event allows.
double worst_ratio(const GroupedNoise& noise, const std::vector<TablePair>& pairs,
                   const privacy::Event& event, Neighbors neighbors) {
  const privacy::Profile profile(event, neighbors);
  double worst = 0;
  std::vector<double> allowed;
  for (const double epsilon : kEpsilons) allowed.push_back(profile.delta(epsilon).bounds.upper);
  for (const TablePair& pair : pairs) {
    LossLaw law = LossLaw::of_nothing();
    for (const GroupPair& group : pair) law = law.times(group_law(noise, group));
    for (std::size_t i = 0; i < kEpsilons.size(); ++i) {
      const double told =
          std::max(law.hockey_stick(kEpsilons[i], false), law.hockey_stick(kEpsilons[i], true));
      if (told < 1e-9) continue;  // what was cut off is of this size
      worst = std::max(worst, allowed[i] > 0 ? told / allowed[i] : HUGE_VAL);
    }
  }
  return worst;
}

double ratio_of(const GroupedNoise& noise, const std::vector<TablePair>& pairs,
                const GroupedNoise& stated, Neighbors neighbors) {
  return worst_ratio(noise, pairs, grouped_event({&stated, 1}, neighbors), neighbors);
}

GroupedNoise noise_of(std::int64_t max_groups, std::vector<GroupStatistic> statistics) {
  GroupedNoise noise;
  noise.max_groups = max_groups;
  noise.statistics = std::move(statistics);
  return noise;
}

const GroupStatistic kLaplaceCount = {DiscreteLaplace{3}, 0, 2};
const GroupStatistic kGaussianCount = {DiscreteGaussian{4}, 0, 3};
const GroupStatistic kLaplaceSum = {DiscreteLaplace{6}, -3, 2};
const GroupStatistic kGaussianSum = {DiscreteGaussian{5}, -3, 3};

// What a unit can add to a group: nothing, or the ends of each statistic's range.
std::vector<std::vector<std::int64_t>> additions(const GroupedNoise& noise) {
  std::vector<std::vector<std::int64_t>> all = {{}};
  for (const GroupStatistic& statistic : noise.statistics) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& one : all) {
      for (const std::int64_t end : {statistic.least, statistic.most}) {
        longer.push_back(one);
        longer.back().push_back(end);
        if (statistic.least == statistic.most) break;
      }
    }
    all = std::move(longer);
  }
  return all;
}

// A unit comes to `groups` groups that have `units` others.
std::vector<TablePair> added(const GroupedNoise& noise, std::size_t groups, std::int64_t units) {
  std::vector<TablePair> pairs = {{}};
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<TablePair> longer;
    for (const TablePair& pair : pairs) {
      for (const auto& addition : additions(noise)) {
        longer.push_back(pair);
        longer.back().push_back({units, units + 1, addition});
      }
    }
    pairs = std::move(longer);
  }
  return pairs;
}

// One unit leaves and another comes, each in as many groups as it may, `meeting` of them shared.
std::vector<TablePair> exchanged(const GroupedNoise& noise, std::int64_t meeting,
                                 std::int64_t units) {
  std::vector<TablePair> pairs;
  for (const auto& leaves : additions(noise)) {
    for (const auto& comes : additions(noise)) {
      TablePair pair;
      GroupPair both{units + 1, units + 1, {}};
      GroupPair left{units + 1, units, {}};
      GroupPair joined{units, units + 1, {}};
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        both.moves.push_back(comes[i] - leaves[i]);
        left.moves.push_back(-leaves[i]);
        joined.moves.push_back(comes[i]);
      }
      for (std::int64_t g = 0; g < noise.max_groups; ++g) {
        if (g < meeting) {
          pair.push_back(both);
        } else {
          pair.push_back(left);
          pair.push_back(joined);
        }
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

std::vector<TablePair> all_exchanges(const GroupedNoise& noise, std::int64_t units) {
  std::vector<TablePair> pairs;
  for (std::int64_t meeting = noise.single ? 1 : 0; meeting <= noise.max_groups; ++meeting) {
    const std::vector<TablePair> more = exchanged(noise, meeting, units);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  return pairs;
}

std::vector<GroupedNoise> public_cases() {
  return {noise_of(1, {kLaplaceCount}), noise_of(2, {kGaussianCount}),
          noise_of(2, {kLaplaceSum, kLaplaceCount}), noise_of(1, {kGaussianSum, kLaplaceCount}),
          noise_of(2, {kGaussianCount, kGaussianSum})};
}

constexpr Neighbors kComes = Neighbors::add_remove;
constexpr Neighbors kChanges = Neighbors::replace_one;

TEST(GroupedNoise, ComingAndGoingIsWithinTheEvent) {
  for (const GroupedNoise& noise : public_cases()) {
    for (std::int64_t groups = 1; groups <= noise.max_groups; ++groups) {
      const double ratio =
          ratio_of(noise, added(noise, static_cast<std::size_t>(groups), 4), noise, kComes);
      EXPECT_LE(ratio, 1 + 1e-5);
      if (groups == noise.max_groups) {
        EXPECT_GE(ratio, 0.95);
      }
    }
  }
}

TEST(GroupedNoise, AnExchangeIsWithinTheEvent) {
  for (GroupedNoise noise : public_cases()) {
    const bool grows = std::all_of(noise.statistics.begin(), noise.statistics.end(),
                                   [](const GroupStatistic& one) { return one.least == 0; });
    const double ratio = ratio_of(noise, all_exchanges(noise, 4), noise, kChanges);
    EXPECT_LE(ratio, 1 + 1e-5);
    // Where statistics move both ways only the sum of moves is charged, which is not attained.
    EXPECT_GE(ratio, grows ? 0.95 : 0.3);
    noise.max_groups = 1;
    noise.single = true;
    const double alone = ratio_of(noise, all_exchanges(noise, 4), noise, kChanges);
    EXPECT_LE(alone, 1 + 1e-5);
    EXPECT_GE(alone, 0.95);
  }
}

std::vector<GroupedNoise> hidden_cases() {
  const GroupStatistic units = {std::nullopt, 0, 1};
  std::vector<GroupedNoise> cases;
  const auto add = [&](GroupedNoise noise, const KeySelection& selection) {
    noise.selection = selection;
    cases.push_back(std::move(noise));
  };
  add(noise_of(1, {kLaplaceSum, units}), LaplaceThreshold{2, 8});
  add(noise_of(2, {units, kGaussianCount}), GaussianThreshold{3, 9});
  add(noise_of(2, {kLaplaceCount}), OptimalSelection{0.5, 1e-3});
  add(noise_of(1, {kGaussianSum}), OptimalSelection{0.8, 1e-2, 3});
  add(noise_of(2, {kLaplaceCount, units}), LaplaceThreshold{3, 10, 4});
  return cases;
}

TEST(GroupedNoise, HiddenGroupsAreWithinTheEvent) {
  for (const GroupedNoise& noise : hidden_cases()) {
    const std::int64_t least = min_units(*noise.selection);
    double closest = 0;
    for (const std::int64_t units : {std::int64_t{0}, least - 1, least, least + 5, least + 15}) {
      const double ratio = ratio_of(
          noise, added(noise, static_cast<std::size_t>(noise.max_groups), units), noise, kComes);
      EXPECT_LE(ratio, 1 + 1e-5) << units;
      closest = std::max(closest, ratio);
      EXPECT_LE(ratio_of(noise, all_exchanges(noise, units), noise, kChanges), 1 + 1e-5) << units;
    }
    EXPECT_GE(closest, 0.5);
  }
}

// Each constant of the event, taken too small.
constexpr double kCaught = 1.02;

TEST(GroupedNoise, EventsThatStateTooLittleAreCaught) {
  for (const GroupedNoise& noise : public_cases()) {
    const auto pairs = added(noise, static_cast<std::size_t>(noise.max_groups), 4);
    for (std::size_t i = 0; i < noise.statistics.size(); ++i) {
      GroupedNoise narrow = noise;
      narrow.statistics[i].least /= 2;
      narrow.statistics[i].most /= 2;
      EXPECT_GT(ratio_of(noise, pairs, narrow, kComes), kCaught) << "half the reach of " << i;
      GroupedNoise forgotten = noise;
      forgotten.statistics.erase(forgotten.statistics.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_GT(ratio_of(noise, pairs, forgotten, kComes), kCaught) << "without " << i;
    }
    if (noise.max_groups == 1) continue;
    GroupedNoise fewer = noise;
    fewer.max_groups = 1;
    EXPECT_GT(ratio_of(noise, pairs, fewer, kComes), kCaught) << "half the groups";
  }
}

// One statistic at a time: several that move both ways are charged for more than they do together.
TEST(GroupedNoise, ExchangesThatStateTooLittleAreCaught) {
  const GroupStatistic both_ways = {DiscreteLaplace{6}, -3, 3};
  for (const GroupStatistic& one : {kLaplaceCount, kGaussianCount, both_ways, kGaussianSum}) {
    for (const std::int64_t groups : {1, 2}) {
      const GroupedNoise noise = noise_of(groups, {one});
      const auto pairs = all_exchanges(noise, 4);
      GroupedNoise narrow = noise;
      narrow.statistics[0].least /= 2;
      narrow.statistics[0].most /= 2;
      EXPECT_GT(ratio_of(noise, pairs, narrow, kChanges), kCaught) << "half the reach";
      // What a coming costs is half of it.
      const privacy::Event coming =
          privacy::stated_for(grouped_event({&noise, 1}, kComes), Neighbors::replace_one);
      EXPECT_GT(worst_ratio(noise, pairs, coming, kChanges), kCaught) << "only one of the two";
      if (groups == 1) continue;
      GroupedNoise fewer = noise;
      fewer.max_groups = 1;
      EXPECT_GT(ratio_of(noise, pairs, fewer, kChanges), kCaught) << "half the groups";
      fewer.single = true;
      EXPECT_GT(ratio_of(noise, pairs, fewer, kChanges), kCaught) << "one group for several";
    }
  }
}

TEST(GroupedNoise, SelectionsThatStateTooLittleAreCaught) {
  for (const GroupedNoise& noise : hidden_cases()) {
    const auto pairs =
        added(noise, static_cast<std::size_t>(noise.max_groups), min_units(*noise.selection) - 1);
    GroupedNoise without = noise;
    for (GroupStatistic& one : without.statistics) {
      if (!one.noise) one.noise = DiscreteLaplace{1000};
    }
    without.selection = std::nullopt;
    EXPECT_GT(ratio_of(noise, pairs, without, kComes), 1.5) << "no selection";
    if (noise.max_groups == 1) continue;
    GroupedNoise fewer = noise;
    fewer.max_groups = 1;
    EXPECT_GT(ratio_of(noise, pairs, fewer, kComes), 1.02) << "half the groups";
  }
}

// Groupings are answers of their own: their events add up.
TEST(GroupedNoise, GroupingsCompose) {
  const GroupedNoise first = noise_of(1, {kLaplaceCount});
  const GroupedNoise second = noise_of(2, {kLaplaceCount});
  const GroupedNoise both[] = {first, second};
  const auto epsilon_of = [](const privacy::Event& event) {
    return privacy::Profile(event, kComes).epsilon(Delta(0)).bounds.upper;
  };
  EXPECT_NEAR(epsilon_of(grouped_event(both, kComes)),
              epsilon_of(grouped_event({&first, 1}, kComes)) +
                  epsilon_of(grouped_event({&second, 1}, kComes)),
              1e-6);
  EXPECT_NEAR(epsilon_of(grouped_event(both, kComes)), 3 * 2.0 / 3.0, 1e-5);
}

TEST(GroupedNoise, RefusesWhatIsOutOfRange) {
  const auto refused = [](const GroupedNoise& noise) {
    try {
      validate(noise);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_FALSE(refused(noise_of(1, {kLaplaceCount})));
  EXPECT_TRUE(refused(noise_of(0, {kLaplaceCount})));
  EXPECT_TRUE(refused(noise_of(1, {{DiscreteLaplace{3}, 1, 2}})));
  EXPECT_TRUE(refused(noise_of(1, {{DiscreteLaplace{3}, -2, -1}})));
  EXPECT_TRUE(refused(noise_of(1, {{DiscreteLaplace{3}, 0, (std::int64_t{1} << 52) + 1}})));
  EXPECT_TRUE(refused(noise_of(1, {{std::nullopt, 0, 1}})));
  GroupedNoise counted = noise_of(1, {{std::nullopt, 0, 1}});
  counted.selection = LaplaceThreshold{2, 8};
  EXPECT_FALSE(refused(counted));
  counted.selection = OptimalSelection{0.5, 1e-3};  // tells no count
  EXPECT_TRUE(refused(counted));
  EXPECT_TRUE(refused(noise_of(1, {{DiscreteLaplace{-1}, 0, 1}})));
  GroupedNoise single = noise_of(2, {kLaplaceCount});
  single.single = true;
  EXPECT_TRUE(refused(single));
}

}  // namespace
}  // namespace shoal::mechanism
