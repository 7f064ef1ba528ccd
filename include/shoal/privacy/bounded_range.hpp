// Mechanisms of bounded range: for every pair of neighbours the privacy losses of all outputs lie
// in an interval of length epsilon, wherever it lies. The exponential mechanism is one, and its
// composition is much better than that of epsilon-differential privacy alone (Dong, Durfee and
// Rogers 2020).
//
// Every such pair is dominated by a generalised randomized response: losses t and t - epsilon for
// some t in [0, epsilon]. What is here is the worst case over t, with bounds on both sides.
// `epsilon` below is that of the mechanism, in [0, kMaxEpsilon]; doubles stand for their exact
// values; other arguments throw invalid_argument. Proofs: bounded_range.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstdint>

namespace shoal::privacy {

// Beyond this many steps: exponential events as zCDP, epsilon^2 / 8 each.
inline constexpr std::int64_t kMaxBoundedRangeCount = 100'000;

// The smallest delta at `at` of `count` mechanisms, all declared in advance: NON-ADAPTIVE. With
// mechanisms chosen on the way more can leak, and this must not be used. Any finite `at`. The
// time grows as the count: about 0.1 s at 100,000.
Bounds bounded_range_delta(Epsilon epsilon, std::int64_t count, double at);

// The smallest epsilon >= 0 for which they are (epsilon, delta)-private, again non-adaptive.
Bounds bounded_range_epsilon(Epsilon epsilon, std::int64_t count, Delta delta);

// One step: (1 - e^((at - epsilon) / 2))^2 / (1 - e^-epsilon) for |at| <= epsilon, the supremum
// over t at each `at`. As a whole curve it belongs to no single t, and it may be composed with
// anything, adaptively: it dominates every pair of the class.
Bounds bounded_range_profile(Epsilon epsilon, double at);

// The largest Renyi divergence of an order >= 1 in the class, rounded up: a supremum over t in
// closed form, and never above order epsilon^2 / 8. Renyi divergences of chosen mechanisms add.
// Order infinity gives epsilon.
double bounded_range_renyi_up(Epsilon epsilon, double order);

}  // namespace shoal::privacy
