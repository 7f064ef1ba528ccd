// How strong a prior a last fit takes: what a strong one gains where noise drowns effects, it loses
// where rows lie in few cells. The measurements themselves tell which is the case, so it is free.
//
// Each count y with normal noise of deviation s is split in two with independent noise, by a draw z
// of s times a standard normal number: y + z sqrt(a), with s sqrt(1 + a), and y - z / sqrt(a), with
// s sqrt(1 + 1 / a). (Their covariance is s^2 - s^2 = 0.) Models of several priors are fitted to
// the first of the two, and the one that is nearest to the second, in squares by inverse variance,
// tells the prior: the expected distance is the expected error, and a constant.
#pragma once

#include <shoal/random/bit_source.hpp>
#include <shoal/synth/graphical_model.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shoal::synth {

// The variance that a fit with these options should have; none: shrinkage as they have it. Their
// own prior is not looked at. `start` as in GraphicalModel::fit. No model comes out: one that was
// fitted to the split counts keeps something of their noise when it starts the next fit.
std::optional<double> choose_prior(const std::vector<std::uint32_t>& sizes,
                                   std::span<const NoisyMarginal> measurements,
                                   const FitOptions& options, const GraphicalModel& start,
                                   random::BitSource& bits);

}  // namespace shoal::synth
