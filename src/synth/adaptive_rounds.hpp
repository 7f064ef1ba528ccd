// The rounds of AIM, with its constants as parameters.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

struct RoundSchedule {
  double measure_share = 0.9;     // of each round's budget; the rest pays for the choice
  double rounds_per_column = 16;  // as many rounds would use up the budget if noise never shrank
};

Synthesis adaptive_rounds(release::MarginalCurator& curator, const Workload& workload,
                          const MethodOptions& options, const RoundSchedule& schedule);

}  // namespace shoal::synth
