#include "synth/adaptive_rounds.hpp"
#include "synth/rounds.hpp"

#include <shoal/synth/graded.hpp>

#include <algorithm>

namespace shoal::synth {
namespace {

// A scale of 2.5 for logarithms of odds, the weakly informative one of Gelman et al. (2008).
constexpr double kPriorVariance = 2.5 * 2.5;

}  // namespace

Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options) {
  MethodOptions mine = options;
  mine.final_fit.prior_variance = kPriorVariance;
  // It starts from the optimum of another objective, which is far from its own.
  mine.final_fit.max_iterations = std::max(mine.final_fit.max_iterations, kLastIterations);
  return adaptive_rounds(curator, workload, mine, {});
}

}  // namespace shoal::synth
