// Weighted least squares over the finest groups: the values that explain all groupings best, each
// weighted by how exact it is. Totals are then sums of their parts, to the last unit. It looks at
// released numbers alone, so it is free; intervals stay those of the released numbers.
#include <shoal/base/error.hpp>
#include <shoal/plan/consistency.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace shoal::plan {
namespace {

using catalog::ReleasedGroup;
using catalog::StatisticKind;
using Numbers = std::vector<double>;
using Sets = std::vector<std::vector<ReleasedGroup>>;

constexpr int kMaxRounds = 200;
constexpr double kSmallResidual = 1e-12;

// People who are in several groups count once in the total of those.
bool adds_up(const Plan& plan, const catalog::Statistic& statistic) {
  switch (statistic.kind) {
    case StatisticKind::rows:
    case StatisticKind::values:
    case StatisticKind::plain_sum:
    case StatisticKind::centred_sum:
    case StatisticKind::centred_squares:
      return true;
    case StatisticKind::units:
      return !plan.has_unit;
    case StatisticKind::distinct:
    case StatisticKind::leaves:
      break;
  }
  return false;
}

// Of the law without its grid; a law that is not listed does not compile.
struct VarianceOf {
  double operator()(const mechanism::DiscreteLaplace& spec) const { return laplace(spec.scale); }
  double operator()(const mechanism::RoundedLaplace& spec) const { return laplace(spec.scale); }
  double operator()(const mechanism::DiscreteGaussian& spec) const {
    return spec.sigma * spec.sigma;
  }
  double operator()(const mechanism::RoundedGaussian& spec) const {
    return spec.sigma * spec.sigma;
  }

  static double laplace(double scale) { return 2 * scale * scale; }
};

double variance_of(const mechanism::AnyMechanism& noise) { return std::visit(VarianceOf{}, noise); }

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

class LeastSquares {
 public:
  LeastSquares(const Plan& plan, const Sets& sets, std::size_t finest)
      : plan_(plan), sets_(sets), finest_(finest) {
    for (std::size_t set = 0; set < sets.size(); ++set) group_of_.push_back(groups_of(set));
  }

  // The finest groups' values of one statistic.
  std::vector<Int128> solve(std::size_t statistic) {
    weights_.clear();
    Numbers wanted(leaves(), 0);
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      weights_.push_back(1 / variance_of(*plan_.noises[set].statistics[statistic].noise));
      Numbers released;
      for (const ReleasedGroup& group : sets_[set]) {
        released.push_back(static_cast<double>(group.values[statistic]));
      }
      spread(set, released, wanted);
    }
    Numbers start;
    for (const ReleasedGroup& group : sets_[finest_]) {
      start.push_back(static_cast<double>(group.values[statistic]));
    }
    std::vector<Int128> rounded;
    for (const double value : conjugate_gradients(wanted, std::move(start))) {
      rounded.push_back(static_cast<Int128>(std::nearbyint(value)));
    }
    return rounded;
  }

  // Each group's total of the finest ones.
  std::vector<Int128> totals(std::size_t set, const std::vector<Int128>& values) const {
    std::vector<Int128> sums(sets_[set].size(), 0);
    for (std::size_t leaf = 0; leaf < values.size(); ++leaf) {
      sums[group_of_[set][leaf]] += values[leaf];
    }
    return sums;
  }

 private:
  std::size_t leaves() const { return sets_[finest_].size(); }

  // For each finest group, which group of the set it is a part of.
  std::vector<std::size_t> groups_of(std::size_t set) const {
    std::map<catalog::Key, std::size_t> found;
    for (std::size_t i = 0; i < sets_[set].size(); ++i) found.emplace(sets_[set][i].key, i);
    const std::vector<std::size_t>& keys = plan_.groupings[set].keys;
    const std::vector<std::size_t>& all = plan_.groupings[finest_].keys;
    std::vector<std::size_t> groups;
    for (const ReleasedGroup& leaf : sets_[finest_]) {
      catalog::Key key;
      for (const std::size_t one : keys) {
        const auto at = std::find(all.begin(), all.end(), one) - all.begin();
        key.push_back(leaf.key[static_cast<std::size_t>(at)]);
      }
      groups.push_back(found.at(key));
    }
    return groups;
  }

  // Adds a set's weighted values to those of all their parts.
  void spread(std::size_t set, const Numbers& values, Numbers& into) const {
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
      into[leaf] += weights_[set] * values[group_of_[set][leaf]];
    }
  }

  Numbers multiplied(const Numbers& values) const {
    Numbers result(leaves(), 0);
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      Numbers sums(sets_[set].size(), 0);
      for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
        sums[group_of_[set][leaf]] += values[leaf];
      }
      spread(set, sums, result);
    }
    return result;
  }

  // The equations have as many different eigenvalues as there are sets of keys, or few more, and
  // so many rounds solve them.
  Numbers conjugate_gradients(const Numbers& wanted, Numbers values) const {
    Numbers residual = multiplied(values);
    for (std::size_t i = 0; i < leaves(); ++i) residual[i] = wanted[i] - residual[i];
    Numbers direction = residual;
    double size = dot(residual, residual);
    const double enough = kSmallResidual * kSmallResidual * dot(wanted, wanted);
    for (int round = 0; round < kMaxRounds && size > enough; ++round) {
      const Numbers moved = multiplied(direction);
      const double step = size / dot(direction, moved);
      for (std::size_t i = 0; i < leaves(); ++i) {
        values[i] += step * direction[i];
        residual[i] -= step * moved[i];
      }
      const double next = dot(residual, residual);
      for (std::size_t i = 0; i < leaves(); ++i) {
        direction[i] = residual[i] + next / size * direction[i];
      }
      size = next;
    }
    return values;
  }

  const Plan& plan_;
  const Sets& sets_;
  std::size_t finest_;
  std::vector<std::vector<std::size_t>> group_of_;
  Numbers weights_;
};

}  // namespace

std::optional<std::size_t> finest_grouping(const std::vector<PlannedGrouping>& groupings) {
  for (std::size_t i = 0; i < groupings.size(); ++i) {
    const auto within = [&](const PlannedGrouping& other) {
      return std::includes(groupings[i].keys.begin(), groupings[i].keys.end(), other.keys.begin(),
                           other.keys.end());
    };
    if (std::all_of(groupings.begin(), groupings.end(), within)) return i;
  }
  return std::nullopt;
}

void make_consistent(const Plan& plan, std::vector<std::vector<catalog::ReleasedGroup>>& sets) {
  const auto finest = finest_grouping(plan.groupings);
  SHOAL_CHECK(finest && sets.size() == plan.groupings.size());
  LeastSquares squares(plan, sets, *finest);
  std::vector<std::vector<std::vector<Int128>>> made(sets.size());
  const std::size_t statistics = plan.noises.front().statistics.size();
  for (std::size_t i = 0; i < statistics; ++i) {
    const bool linear = adds_up(plan, plan.statistics[i]);
    const std::vector<Int128> values = linear ? squares.solve(i) : std::vector<Int128>();
    for (std::size_t set = 0; set < sets.size(); ++set) {
      made[set].push_back(linear ? squares.totals(set, values) : std::vector<Int128>());
    }
  }
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (std::size_t group = 0; group < sets[set].size(); ++group) {
      ReleasedGroup& one = sets[set][group];
      one.consistent = one.values;
      for (std::size_t i = 0; i < statistics; ++i) {
        if (!made[set][i].empty()) one.consistent[i] = made[set][i][group];
      }
    }
  }
}

}  // namespace shoal::plan
