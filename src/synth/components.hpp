// Noisy marginals, taken apart into what each says about the main effect of every column and the
// pure interaction of every group of them (the residual spaces of Xiao et al. 2023). The parts of
// one marginal have independent noise, and the same part of several marginals is merged by inverse
// variance, so nothing is measured twice and no two parts contradict each other:
//   sum over marginals of |M p - y|^2 / sigma^2 = sum over parts of precision |R p - target|^2 + c
#pragma once

#include <shoal/synth/graphical_model.hpp>

#include <span>
#include <vector>

namespace shoal::synth {

struct Component {
  data::AttributeSet set;
  double precision = 0;        // one over the variance in each cell, before centring
  std::vector<double> target;  // over the cells of the set; centred along every column
};

// One for each set, not empty, within a marginal; by descending size, then by bits.
std::vector<Component> components_of(std::span<const std::uint32_t> sizes,
                                     std::span<const NoisyMarginal> marginals);

// Takes from a table over the set its mean along each column: the projection on pure interaction.
void centre(std::span<const std::uint32_t> sizes, data::AttributeSet set, std::span<double> table);

// Those of the sets that are in no other, each once.
std::vector<data::AttributeSet> largest_of(std::span<const data::AttributeSet> sets);

}  // namespace shoal::synth
