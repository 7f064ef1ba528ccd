// What the mechanisms with a single scale share: reading them back and their sensitivity as a
// double.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/numeric/directed.hpp>

#include <string>

namespace shoal::mechanism {

// The sensitivity as a double, rounded up: above 2^53 not every integer is one.
inline double steps_up(Sensitivity sensitivity) {
  const auto nearest = static_cast<double>(sensitivity.steps());
  constexpr double kBeyondLongLong = 0x1p63;
  if (nearest >= kBeyondLongLong) return nearest;
  return static_cast<long long>(nearest) < sensitivity.steps() ? numeric::step_up(nearest)
                                                               : nearest;
}

// The chance left outside an interval, rounded down: the interval may be a little wide, never
// narrow.
inline double alpha_down(Confidence confidence) {
  return numeric::subtract_down(1, confidence.value());
}

// Validates a spec that was read from text: out of range is then an error of the text.
template <class Spec>
void validate_read(const Spec& spec) {
  try {
    validate(spec);
  } catch (const Error& error) {
    throw Error(ErrorCode::parse_error, std::string(name(spec)) + ": " + error.what());
  }
}

}  // namespace shoal::mechanism
