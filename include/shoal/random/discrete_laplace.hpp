// Discrete Laplace noise, sampled exactly: P(x) = (1 - q) / (1 + q) q^|x| on the integers, q =
// e^(-1/scale), where the scale is the exact value of the double.
//
// The time a draw takes depends on the noise drawn (never on any data: a sampler sees none). Who
// could time single draws would learn something about the noise; see docs/design/known_limits.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

namespace shoal::random {

// Throws invalid_argument unless kMinScale <= scale <= kMaxScale.
//
// The result is the noise itself, never clamped, since clamping noise (unlike clamping the noisy
// sum) breaks the guarantee. 128 bits always hold it: |x| < 2^53 (v + 1), where v counts coin
// tosses of this very call in 64 bits, and no machine tosses 2^64 coins. |x| > 2^64 has probability
// below e^-16000.
Int128 sample_discrete_laplace(double scale, BitSource& bits);

}  // namespace shoal::random
