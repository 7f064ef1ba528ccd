// Intervals for the units of a group that passed its threshold: a test of each n by the law of its
// noisy count given that it passed, inverted. Argument: key_selection.proof.md.
#include "mechanism/key_law.hpp"
#include "mechanism/noise_spec.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <utility>

namespace shoal::mechanism {
namespace {

// Counts are kept so far from the ends of 128 bits that no difference wraps.
constexpr Int128 kMostUnits = static_cast<Int128>(1) << 100;

struct SurvivorTest {
  // Whether n is not ruled out: counts at least as far from n as the one seen are not rarer than
  // alpha among those that pass. Rounded so that n stays in if in doubt.
  bool accepts(Int128 n) const {
    if (n == noisy) return true;
    const Int128 distance = n < noisy ? noisy - n : n - noisy;
    const Int128 pass = least - n;
    double far_up = tails.at_least_up(std::max(distance, pass));
    if (pass <= -distance) {
      // P(pass <= X <= -distance), by symmetry P(distance <= X <= -pass).
      const double left =
          numeric::subtract_up(tails.at_least_up(distance), tails.at_least_down(1 - pass));
      far_up = numeric::add_up(far_up, std::max(left, 0.0));
    }
    return far_up >= numeric::multiply_down(alpha, tails.at_least_down(pass));
  }

  const NoiseTails& tails;
  Int128 least;  // what passes
  Int128 noisy;
  double alpha;
};

// The last accepted n on the way from `from` (accepted) in that direction, not beyond `limit`:
// what is accepted is an interval.
Int128 last_accepted(const SurvivorTest& test, Int128 from, Int128 limit) {
  const Int128 sign = limit < from ? -1 : 1;
  const Int128 room = (limit - from) * sign;
  Int128 inside = 0;
  Int128 outside = room + 1;
  for (Int128 step = 1; step <= room; step *= 2) {
    if (!test.accepts(from + sign * step)) {
      outside = step;
      break;
    }
    inside = step;
  }
  while (outside - inside > 1) {
    const Int128 middle = inside + (outside - inside) / 2;
    (test.accepts(from + sign * middle) ? inside : outside) = middle;
  }
  return from + sign * inside;
}

struct Prepared {
  NoiseTails tails;
  std::int64_t threshold;
  std::int64_t min_units;
};

template <class Spec>
Prepared prepare(const Spec& spec) {
  return {NoiseTails(noise_of(spec)), spec.threshold, spec.min_units};
}

Prepared prepare(const OptimalSelection&) {
  throw Error(
      ErrorCode::unsupported,
      "optimal selection releases no count, so there is no interval for it; use a threshold");
}

}  // namespace

struct SurvivorIntervals::State {
  Prepared law;
  double alpha;
};

SurvivorIntervals::SurvivorIntervals(const KeySelection& selection, Confidence confidence) {
  validate(selection);
  const Prepared law = std::visit([](const auto& spec) { return prepare(spec); }, selection);
  state_ = std::make_shared<const State>(State{law, alpha_down(confidence)});
}

UnitInterval SurvivorIntervals::operator()(Int128 noisy_units) const {
  const Prepared& law = state_->law;
  const Int128 least = static_cast<Int128>(law.threshold) + law.min_units - 1;
  if (noisy_units < least || noisy_units > kMostUnits / 2) {
    throw Error(ErrorCode::invalid_argument,
                "a noisy count is out of range; counts of groups that are shown are at least the "
                "threshold");
  }
  const SurvivorTest test{law.tails, least, noisy_units, state_->alpha};
  return {last_accepted(test, noisy_units, law.min_units),
          last_accepted(test, noisy_units, kMostUnits)};
}

UnitInterval survivor_interval(const KeySelection& selection, Int128 noisy_units,
                               Confidence confidence) {
  return SurvivorIntervals(selection, confidence)(noisy_units);
}

}  // namespace shoal::mechanism
