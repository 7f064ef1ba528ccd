// How far a synthetic table may be off, from what was released alone.
//
// A marginal that lies within measured ones has a best linear estimate from them, whose noise is
// known. The synthetic table is at most as far from the truth as from that estimate, plus the
// estimate's noise: for noise of standard deviation s in each of c cells, its L1 norm exceeds
//   s (c sqrt(2 ln 2) + sqrt(2 c ln(1 / beta)))
// with probability at most beta (subgaussian tails; as in McKenna et al. 2022, theorem 5). It is a
// prediction for a marginal that was fixed beforehand: which tables were measured depends on
// earlier noise, and that is not accounted for.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

#include <optional>
#include <vector>

namespace shoal::synth {

struct PredictedError {
  data::AttributeSet set;
  // The L1 distance of the normalised tables, not halved, that is not exceeded; none if nothing
  // measured holds the marginal and it rests on the model alone.
  std::optional<double> bound;
};

// One for each marginal of the workload. Throws invalid_argument unless 0 < beta < 1.
std::vector<PredictedError> predicted_errors(const Synthesis& synthesis, const Workload& workload,
                                             double beta, int threads);

}  // namespace shoal::synth
