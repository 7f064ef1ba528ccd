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

class SurvivorTest {
 public:
  SurvivorTest(NoiseTails tails, Int128 least, Int128 noisy, double alpha)
      : tails_(std::move(tails)), least_(least), noisy_(noisy), alpha_(alpha) {}

  // Whether n is not ruled out: counts at least as far from n as the one seen are not rarer than
  // alpha among those that pass. Rounded so that n stays in if in doubt.
  bool accepts(Int128 n) const {
    if (n == noisy_) return true;
    const Int128 distance = n < noisy_ ? noisy_ - n : n - noisy_;
    const Int128 pass = least_ - n;
    double far_up = tails_.at_least_up(std::max(distance, pass));
    if (pass <= -distance) {
      // P(pass <= X <= -distance), by symmetry P(distance <= X <= -pass).
      const double left =
          numeric::subtract_up(tails_.at_least_up(distance), tails_.at_least_down(1 - pass));
      far_up = numeric::add_up(far_up, std::max(left, 0.0));
    }
    return far_up >= numeric::multiply_down(alpha_, tails_.at_least_down(pass));
  }

 private:
  NoiseTails tails_;
  Int128 least_;  // what passes
  Int128 noisy_;
  double alpha_;
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

template <class Spec>
UnitInterval invert(const Spec& spec, Int128 noisy, Confidence confidence) {
  const Int128 least = static_cast<Int128>(spec.threshold) + spec.min_units - 1;
  if (noisy < least || noisy > kMostUnits / 2) {
    throw Error(ErrorCode::invalid_argument,
                "a noisy count is out of range; counts of groups that are shown are at least the "
                "threshold");
  }
  const SurvivorTest test(NoiseTails(noise_of(spec)), least, noisy, alpha_down(confidence));
  return {last_accepted(test, noisy, spec.min_units), last_accepted(test, noisy, kMostUnits)};
}

UnitInterval invert(const OptimalSelection&, Int128, Confidence) {
  throw Error(
      ErrorCode::unsupported,
      "optimal selection releases no count, so there is no interval for it; use a threshold");
}

}  // namespace

UnitInterval survivor_interval(const KeySelection& selection, Int128 noisy_units,
                               Confidence confidence) {
  validate(selection);
  return std::visit([&](const auto& spec) { return invert(spec, noisy_units, confidence); },
                    selection);
}

}  // namespace shoal::mechanism
