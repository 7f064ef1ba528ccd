// AIM (McKenna, Mullins, Sheldon and Miklau 2022), with the schedule that its authors published:
// marginals are chosen one after the other where the model is furthest off, in units of what a
// measurement would bring, and measured with noise that shrinks when it stops telling anything.
// Noise is discrete Gaussian and the choice is the exact exponential mechanism; the curator's
// zCDP filter pays (src/release/marginal_curator.proof.md).
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

// Throws as check_rounds does, before anything is measured.
Synthesis aim(release::MarginalCurator& curator, const Workload& workload,
              const MethodOptions& options);

}  // namespace shoal::synth
