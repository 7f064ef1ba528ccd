#include <shoal/base/error.hpp>
#include <shoal/privacy/declared.hpp>
#include <shoal/release/release_groups.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace shoal::release {

// The one reader of grouped aggregates.
class GroupedAggregateKey {
 public:
  static const std::vector<data::ExactGroup>& groups(const data::GroupedAggregate& exact) {
    return exact.groups_;
  }
};

namespace {

using catalog::ReleasedGroup;
using mechanism::GroupedNoise;

// Noise for each statistic of one group, drawn before the group is looked at. The slot of a
// statistic that the selection makes noisy stays 0.
std::vector<Int128> draw(const GroupedNoise& noise, random::BitSource& bits) {
  std::vector<Int128> values;
  values.reserve(noise.statistics.size());
  for (const mechanism::GroupStatistic& statistic : noise.statistics) {
    values.push_back(statistic.noise ? sample(*statistic.noise, bits) : Int128{0});
  }
  return values;
}

std::vector<mechanism::LeafCount> histogram(const data::ExactGroup* group, std::size_t index) {
  std::vector<mechanism::LeafCount> leaves;
  if (!group) return leaves;
  for (const data::Leaf& leaf : group->leaves.at(index)) leaves.push_back({leaf.step, leaf.count});
  return leaves;
}

void add_quantiles(const GroupedNoise& noise, const data::ExactGroup* group,
                   random::BitSource& bits, ReleasedGroup& released) {
  SHOAL_CHECK(!group || group->leaves.size() == noise.quantiles.size());
  const auto add = [&](const mechanism::QuantileEstimate& one) {
    released.quantiles.push_back({one.value, one.lower, one.upper});
  };
  for (std::size_t i = 0; i < noise.quantiles.size(); ++i) {
    const mechanism::GroupQuantiles& quantiles = noise.quantiles[i];
    const std::vector<mechanism::LeafCount> leaves = histogram(group, i);
    const Confidence confidence(quantiles.confidence);
    if (const auto* tree = std::get_if<mechanism::TreeQuantiles>(&quantiles.method)) {
      mechanism::NoisyTree noisy_tree(tree->tree, quantiles.range, leaves, bits);
      for (const mechanism::Fraction& fraction : tree->fractions) {
        add(noisy_tree.quantile(fraction, confidence));
      }
      continue;
    }
    for (const mechanism::QuantileChoice& choice :
         std::get<std::vector<mechanism::QuantileChoice>>(quantiles.method)) {
      add(choose(choice, quantiles.range, leaves, confidence, bits));
    }
  }
}

ReleasedGroup noisy(const catalog::Key& key, std::vector<Int128> drawn,
                    const data::ExactGroup* group) {
  if (group) {
    SHOAL_CHECK(group->sums.size() == drawn.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      drawn[i] = saturating_add(group->sums[i], drawn[i]);
    }
  }
  return {key, std::move(drawn), {}};
}

std::vector<ReleasedGroup> of_public_keys(const std::vector<data::ExactGroup>& groups,
                                          const GroupedNoise& noise,
                                          const std::vector<catalog::Key>& keys,
                                          random::BitSource& bits) {
  std::map<catalog::Key, const data::ExactGroup*> found;
  for (const data::ExactGroup& group : groups) found.emplace(group.key, &group);
  std::vector<ReleasedGroup> released;
  released.reserve(keys.size());
  for (const catalog::Key& key : keys) {
    const auto at = found.find(key);
    const data::ExactGroup* group = at == found.end() ? nullptr : at->second;
    released.push_back(noisy(key, draw(noise, bits), group));
    add_quantiles(noise, group, bits, released.back());
  }
  return released;
}

std::vector<ReleasedGroup> of_shown_keys(const std::vector<data::ExactGroup>& groups,
                                         const GroupedNoise& noise, random::BitSource& bits) {
  std::vector<ReleasedGroup> released;
  for (const data::ExactGroup& group : groups) {
    const auto shown = select(*noise.selection, group.units, bits);
    if (!shown) continue;
    ReleasedGroup one = noisy(group.key, draw(noise, bits), &group);
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      if (!noise.statistics[i].noise) one.values[i] = shown->noisy_units.value();
    }
    add_quantiles(noise, &group, bits, one);
    released.push_back(std::move(one));
  }
  // The order in which the engine met the groups is the data's.
  std::sort(released.begin(), released.end(),
            [](const ReleasedGroup& a, const ReleasedGroup& b) { return a.key < b.key; });
  return released;
}

}  // namespace

ReleasedGroups release_groups(privacy::Reservation&& reservation,
                              std::vector<data::GroupedAggregate>&& exact,
                              std::span<const mechanism::GroupedNoise> noises,
                              std::span<const std::vector<catalog::Key>> public_keys,
                              Neighbors neighbors, random::BitSource& bits) {
  privacy::Reservation mine = std::move(reservation);
  const std::vector<data::GroupedAggregate> secret = std::move(exact);
  SHOAL_CHECK(mine.touched());
  SHOAL_CHECK(mine.neighbors() == neighbors);
  SHOAL_CHECK(secret.size() == noises.size() && public_keys.size() == noises.size());
  SHOAL_CHECK(
      privacy::covers(mine.event(), mechanism::grouped_event(noises, neighbors), neighbors));
  std::vector<std::vector<ReleasedGroup>> sets;
  for (std::size_t i = 0; i < noises.size(); ++i) {
    SHOAL_CHECK(!noises[i].selection || public_keys[i].empty());
    // A key listed twice would be released twice, with noise paid for once.
    SHOAL_CHECK(std::set<catalog::Key>(public_keys[i].begin(), public_keys[i].end()).size() ==
                public_keys[i].size());
    const std::vector<data::ExactGroup>& groups = GroupedAggregateKey::groups(secret[i]);
    sets.push_back(noises[i].selection ? of_shown_keys(groups, noises[i], bits)
                                       : of_public_keys(groups, noises[i], public_keys[i], bits));
  }
  return {std::move(sets), std::move(mine).spend()};
}

}  // namespace shoal::release
