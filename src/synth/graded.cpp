#include "synth/adaptive_rounds.hpp"

#include <shoal/synth/graded.hpp>

namespace shoal::synth {

Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options) {
  return adaptive_rounds(curator, workload, options, Penalty::kept_noise, LastFit::with_prior);
}

}  // namespace shoal::synth
