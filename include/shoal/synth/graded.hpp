// Our own method: the rounds of AIM, with an estimate that shrinks what noise drowns. Main effects
// hardly, interactions of pairs more, those of three columns most: each in units of its own noise
// (graphical_model.hpp). Large tables so cost little where they tell nothing new, and the same
// measurements give a lower error. The weights are constants, chosen once on public data; nothing
// private sets them.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

// Throws as aim does. The shrinkage of `options` is not looked at.
Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options);

}  // namespace shoal::synth
