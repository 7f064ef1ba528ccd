#include "synth/adaptive_rounds.hpp"

#include <shoal/synth/aim.hpp>

namespace shoal::synth {

Synthesis aim(release::MarginalCurator& curator, const Workload& workload,
              const MethodOptions& options) {
  return adaptive_rounds(curator, workload, options, {});
}

}  // namespace shoal::synth
