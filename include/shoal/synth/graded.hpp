// Our own method: the rounds of AIM as they are, and a last estimate that shrinks what noise
// drowns. Main effects hardly, interactions of pairs more, those of three columns most: each in
// units of its own noise (graphical_model.hpp). The estimates between the rounds are AIM's: if they
// shrank too, noise would be halved too early, as a model that hardly moves looks as if nothing
// more were to be learnt. The weights are constants, chosen once on public data; nothing private
// sets them. On other tables the error was below AIM's and above it (docs/performance.md).
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

// Throws as aim does. The shrinkage of `options.final_fit` is not looked at.
Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options);

}  // namespace shoal::synth
