#include "synth/adaptive_rounds.hpp"

#include <shoal/synth/graded.hpp>

#include <algorithm>
#include <array>

namespace shoal::synth {
namespace {

constexpr std::array<double, 3> kShrinkage = {0.0003, 0.01, 0.3};
constexpr int kIterations = 3000;

}  // namespace

Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options) {
  MethodOptions mine = options;
  mine.final_fit.shrinkage = kShrinkage;
  // It starts from the optimum of another objective, which is far from its own.
  mine.final_fit.max_iterations = std::max(mine.final_fit.max_iterations, kIterations);
  return adaptive_rounds(curator, workload, mine, {});
}

}  // namespace shoal::synth
