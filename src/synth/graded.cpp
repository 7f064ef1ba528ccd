#include "synth/adaptive_rounds.hpp"

#include <shoal/synth/graded.hpp>

#include <array>

namespace shoal::synth {
namespace {

constexpr std::array<double, 3> kShrinkage = {0.0003, 0.01, 0.3};

}  // namespace

Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options) {
  MethodOptions mine = options;
  mine.final_fit.shrinkage = kShrinkage;
  return adaptive_rounds(curator, workload, mine, {});
}

}  // namespace shoal::synth
