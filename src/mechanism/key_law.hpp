// What the files of key selection share: the noise of a threshold, and the chance of an optimal
// selection at the doubles it is taken at.
#pragma once

#include "mechanism/noise_tails.hpp"
#include "mechanism/optimal_chance.hpp"

#include <shoal/mechanism/key_selection.hpp>
#include <shoal/numeric/directed.hpp>

namespace shoal::mechanism {

inline DiscreteLaplace noise_of(const LaplaceThreshold& spec) { return {spec.scale}; }
inline DiscreteGaussian noise_of(const GaussianThreshold& spec) { return {spec.sigma}; }

inline OptimalChance chance_of(const OptimalSelection& spec) {
  return OptimalChance(numeric::step_down(spec.epsilon), numeric::step_down(spec.delta));
}

// n - (min_units - 1), or 0 for a group that is never shown. Throws invalid_argument if n < 0.
std::int64_t counted_units(std::int64_t units, std::int64_t min_units);

}  // namespace shoal::mechanism
