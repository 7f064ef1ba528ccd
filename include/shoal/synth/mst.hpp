// MST (McKenna, Miklau and Sheldon 2021): all one-way marginals, then the pairs of a spanning tree
// that is chosen privately, edge by edge, where the model of independent columns is furthest off; a
// third of the budget each. Every table is measured with discrete Gaussian noise and edges are
// chosen by the exact exponential mechanism. Both estimates have the prior that the measurements
// speak for (src/synth/prior_choice.hpp), unless the options have one; the authors merge values
// that noise drowns instead.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

// What public facts show to be wrong. Throws as mst does.
void check_mst(std::span<const std::uint32_t> sizes, const MethodOptions& options, double rho);

// Throws invalid_argument if there are fewer than two columns or the pair of the two largest ones
// is beyond the model limit, and as check_rounds does; before anything is measured.
Synthesis mst(release::MarginalCurator& curator, const MethodOptions& options);

}  // namespace shoal::synth
