// How much noise a guarantee needs, and how often noise may be used: the smallest parameter, or the
// largest count, whose certified bounds stay within a target.
//
// Invariants: what is returned was itself asked of the accountant and met the target by its upper
// bound, so a search that goes wrong can waste accuracy but not privacy. How much it may have
// wasted is returned too: a parameter (or count) that provably misses the target. As with every
// profile, the plan is declared in advance (profile.hpp). Proof: calibration.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace shoal::privacy {

// What is to be met. Epsilon above 0; a delta of 0 asks for pure differential privacy.
struct Target {
  Epsilon epsilon;
  Delta delta;
  Neighbors neighbors = Neighbors::add_remove;
  bool operator==(const Target&) const = default;
};

struct Calibrated {
  // Meets the target. A decimal of at most ten digits, unless it has a formula.
  double parameter = 0;
  // Provably does not, and is smaller. 0 if none was found: then nothing is known about how much
  // smaller the parameter could have been.
  double insufficient = 0;
  // Of the event, at the target's delta; the upper bound is at most the target.
  Certified epsilon;
  Event event;
};

struct CalibrationOptions {
  // How far parameter and insufficient may be apart, relatively, from 1e-8 to 0.1. They are further
  // apart where the bounds of the accountant are.
  double tolerance = 1e-6;
  // Where to start, and the range to stay in: 0 < least <= most.
  double start = 1;
  double least = 0x1p-500;
  double most = 0x1p+500;
};

// The smallest parameter whose event meets the target, for events that lose less the larger it is.
// If `least` meets it already, that is the result. Throws invalid_argument if `most` does not, or
// epsilon is 0, or an option is out of range.
Calibrated calibrate(const std::function<Event(double)>& family, const Target& target,
                     const CalibrationOptions& options = {});

enum class NoiseLaw { gaussian, laplace, discrete_gaussian, discrete_laplace };

// "gaussian", "laplace", "discrete_gaussian", "discrete_laplace": as the events are called.
std::string_view to_string(NoiseLaw law);

// Sigma for Gaussian noise, scale for Laplace noise.
constexpr bool is_gaussian(NoiseLaw law) {
  return law == NoiseLaw::gaussian || law == NoiseLaw::discrete_gaussian;
}

// Noise that is added `count` times, each time to a statistic of this sensitivity, or, with a rate,
// to that statistic of a Poisson sample of its own.
struct NoiseUse {
  NoiseLaw law = NoiseLaw::gaussian;
  double sensitivity = 1;
  std::optional<double> replace_sensitivity = {};  // as in event.hpp
  std::int64_t count = 1;
  std::optional<double> rate = {};
  bool operator==(const NoiseUse&) const = default;
};

// The largest count that is taken or found.
inline constexpr std::int64_t kMaxCalibratedCount = 1'000'000'000;

// Throws invalid_argument for a sensitivity that is not positive and finite, a count not from 1 to
// kMaxCalibratedCount, and a rate not above 0 and at most 1.
Event event_of(const NoiseUse& use, double parameter);

// The smallest sigma or scale, within the tolerance (as in CalibrationOptions; further off where
// the accountant knows less). Discrete noise, whose parameter lies in [2^-10, 2^50], has its
// sensitivity in whole steps. Throws invalid_argument for what event_of refuses, an epsilon of 0,
// Gaussian noise at a delta of 0, and a target out of reach.
Calibrated calibrate_noise(const NoiseUse& use, const Target& target, double tolerance = 1e-6);

struct LargestCount {
  std::int64_t count = 0;  // meets the target; 0: not even one does
  // The smallest count found that provably does not. Empty if kMaxCalibratedCount meets it, or
  // nothing is known.
  std::optional<std::int64_t> too_many;
  Certified epsilon;  // of `count`, at the target's delta
};

// How often noise of this parameter may be used; `use.count` is not looked at. Throws as
// calibrate_noise does.
LargestCount largest_count(const NoiseUse& use, double parameter, const Target& target);

}  // namespace shoal::privacy
