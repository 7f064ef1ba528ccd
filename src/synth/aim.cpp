#include "synth/adaptive_rounds.hpp"
#include "synth/rounds.hpp"

#include <shoal/synth/aim.hpp>

#include <algorithm>

namespace shoal::synth {
namespace {

// Shrinkage w leaves an effect t short by w sigma^2 t rows in each cell. In the rounds that
// steadies what is chosen; the last fit has it below this part of the noise for an effect of one.
constexpr double kLastShrinkage = 0.2;

}  // namespace

Synthesis aim(release::MarginalCurator& curator, const Workload& workload,
              const MethodOptions& options) {
  MethodOptions mine = options;
  const double most = kLastShrinkage / first_noise(curator);
  for (double& weight : mine.final_fit.shrinkage) weight = std::min(weight, most);
  mine.final_fit.max_iterations = std::max(mine.final_fit.max_iterations, kLastIterations);
  return adaptive_rounds(curator, workload, mine, RoundRules());
}

}  // namespace shoal::synth
