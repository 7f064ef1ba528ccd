// What a noisy marginal is worth less than an exact one.
#pragma once

#include <span>

namespace shoal::synth {

// The expected L1 norm of noise of this sigma in so many cells, as AIM takes it.
double noise_norm(double cells, double sigma);

// The expected L1 distance from the counts that the model expects to noisy ones of which the same
// is taken, and below 0 nothing left, so that their sum is that of the counts: what a fit leaves of
// the noise, if the model is right. At most noise_norm. Of a table whose rows lie in few cells it
// is far less: most of the noise is in cells that are known to be next to empty by then.
//
// Cells of like counts are taken together, so it is good to some percent, and costs little more
// than looking at each cell.
double kept_noise_norm(std::span<const double> expected, double sigma);

}  // namespace shoal::synth
