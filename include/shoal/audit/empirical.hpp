// What samples alone say about epsilon: a lower confidence bound that needs no knowledge of the
// noise's law, so it also catches a sampler that does not draw what its pmf claims.
//
// Each sample is cut in two halves. The first chooses the event that tells the neighbours apart
// best (values up to a threshold, from a threshold on, or one single value; for either order of the
// pair). The second, which had no part in the choice, tests it with Clopper-Pearson bounds. The
// bound therefore holds with the stated confidence, whatever was chosen.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/random/bit_source.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace shoal::audit {

enum class EventShape { at_most, at_least, equal };

struct EmpiricalBound {
  double epsilon;  // with the stated confidence, no smaller epsilon holds at this delta; 0 says
                   // nothing
  double confidence;
  EventShape shape;      // the event that was tested ...
  Int128 threshold;      // ... and its threshold
  bool first_is_likely;  // whether the first sample shows the event more often
};

// Requires at least 4 values in each sample; throws invalid_argument otherwise. Values must be
// independent draws.
EmpiricalBound empirical_epsilon(std::span<const Int128> first, std::span<const Int128> second,
                                 Delta delta, Confidence confidence);

using NoiseSampler = std::function<Int128(random::BitSource&)>;

// Draws `count` releases of each of two neighbours `shift` apart and bounds epsilon from them.
EmpiricalBound audit_sampler(const NoiseSampler& sampler, Int128 shift, int count, Delta delta,
                             Confidence confidence, random::BitSource& bits);

// One line for people, such as "epsilon >= 0.93 at confidence 0.99, from x <= 0".
std::string describe(const EmpiricalBound& bound);

}  // namespace shoal::audit
