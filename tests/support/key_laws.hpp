// The exact law of what a key selection tells of a few groups, and how well it tells two tables
// apart: enumerated, independent of the accountant and of the code under test but for the pmf of
// the noise.
#pragma once

#include <shoal/mechanism/key_selection.hpp>
#include <shoal/mechanism/registry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace shoal::test {

// What is told of one group: not shown, or shown with a noisy count (0 if there is none).
inline constexpr std::int64_t kHidden = -1'000'000;
using GroupLaw = std::map<std::int64_t, double>;

template <class Noise>
GroupLaw threshold_law(const Noise& noise, std::int64_t threshold, std::int64_t min_units,
                       std::int64_t units, std::int64_t reach) {
  if (units < min_units) return {{kHidden, 1.0}};
  GroupLaw law;
  double shown = 0;
  const std::int64_t least = threshold + min_units - 1;
  for (std::int64_t y = std::max(least, units - reach); y <= units + reach; ++y) {
    shown += law[y] = std::exp(log_pmf(noise, static_cast<Int128>(y - units)));
  }
  law[kHidden] = std::max(0.0, 1 - shown);
  return law;
}

// pi by its recursion, in long doubles.
inline GroupLaw optimal_law(const mechanism::OptimalSelection& spec, std::int64_t units) {
  const long double up = std::exp(static_cast<long double>(spec.epsilon));
  const long double delta = spec.delta;
  long double pi = 0;
  for (std::int64_t n = spec.min_units; n <= units; ++n) {
    pi = std::min({up * pi + delta, 1 - (1 - pi - delta) / up, 1.0L});
  }
  return {{kHidden, static_cast<double>(1 - pi)}, {0, static_cast<double>(pi)}};
}

inline GroupLaw law_of(const mechanism::KeySelection& selection, std::int64_t units,
                       std::int64_t reach = 120) {
  struct Visitor {
    std::int64_t units, reach;
    GroupLaw operator()(const mechanism::LaplaceThreshold& spec) const {
      return threshold_law(mechanism::DiscreteLaplace{spec.scale}, spec.threshold, spec.min_units,
                           units, reach);
    }
    GroupLaw operator()(const mechanism::GaussianThreshold& spec) const {
      return threshold_law(mechanism::DiscreteGaussian{spec.sigma}, spec.threshold, spec.min_units,
                           units, reach);
    }
    GroupLaw operator()(const mechanism::OptimalSelection& spec) const {
      return optimal_law(spec, units);
    }
  };
  return std::visit(Visitor{units, reach}, selection);
}

using UnitCounts = std::vector<std::int64_t>;

// sup over sets S of P(S) - e^epsilon Q(S), for independent groups of these sizes.
inline double hockey_stick_of(const mechanism::KeySelection& selection, const UnitCounts& first,
                              const UnitCounts& second, double epsilon) {
  struct Pair {
    double p, q;
  };
  std::vector<Pair> joint = {{1, std::exp(epsilon)}};
  for (std::size_t g = 0; g < first.size(); ++g) {
    const GroupLaw p = law_of(selection, first[g]);
    const GroupLaw q = law_of(selection, second[g]);
    GroupLaw all = p;
    for (const auto& [y, mass] : q) all.try_emplace(y, 0.0);
    std::vector<Pair> next;
    next.reserve(joint.size() * all.size());
    for (const Pair& pair : joint) {
      for (const auto& entry : all) {
        const auto in_p = p.find(entry.first);
        const auto in_q = q.find(entry.first);
        next.push_back({pair.p * (in_p == p.end() ? 0 : in_p->second),
                        pair.q * (in_q == q.end() ? 0 : in_q->second)});
      }
    }
    joint = std::move(next);
  }
  double sum = 0;
  for (const Pair& pair : joint) sum += std::max(0.0, pair.p - pair.q);
  return sum;
}

}  // namespace shoal::test
