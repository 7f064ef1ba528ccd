// The hockey-stick divergence of a mechanism's worst pair, computed from its pmf: the delta that
// the noise has at a given epsilon. A falsifier beside the accountant, independent of any bound it
// uses.
//
// An estimate from below: the far tails are left out and nothing is rounded upwards. It can show
// that a claim is wrong; it cannot show that one is right.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/registry.hpp>

#include <functional>

namespace shoal::audit {

// Both orders of the pair: a release that is larger by the shift, seen from the smaller, and the
// reverse.
struct HockeyStick {
  double forward;
  double backward;
  double worst() const { return forward > backward ? forward : backward; }
};

using LogPmf = std::function<double(Int128)>;

// Sums over noise of magnitude at most `radius`. Requires shift > 0 and radius >= 0; throws
// unsupported if there are more than kMaxSummands values to sum. epsilon may be negative.
HockeyStick hockey_stick(const LogPmf& log_pmf, Int128 shift, Int128 radius, double epsilon);

// For the mechanism's own worst pair, with a radius beyond which less than 10^-20 of the noise
// lies.
HockeyStick hockey_stick(const mechanism::AnyMechanism& spec, Sensitivity sensitivity,
                         double epsilon);

inline constexpr long long kMaxSummands = 50'000'000;

}  // namespace shoal::audit
