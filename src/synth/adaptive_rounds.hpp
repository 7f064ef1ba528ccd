// The rounds of AIM, with its constants as parameters.
#pragma once

#include "synth/rounds.hpp"

namespace shoal::synth {

Synthesis adaptive_rounds(release::MarginalCurator& curator, const Workload& workload,
                          const MethodOptions& options, const RoundSchedule& schedule);

}  // namespace shoal::synth
