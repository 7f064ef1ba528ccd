#include "synth/adaptive_rounds.hpp"

#include <shoal/synth/graded.hpp>

namespace shoal::synth {

double graded_growth(std::size_t candidates, std::size_t columns) {
  constexpr double kSmall = 1.5;
  const double planned = RoundSchedule().rounds_per_column * static_cast<double>(columns);
  return static_cast<double>(candidates) > planned ? kSmall : RoundRules().growth;
}

Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options) {
  const double growth = graded_growth(downward_closure(workload).size(), curator.sizes().size());
  return adaptive_rounds(curator, workload, options,
                         {Penalty::kept_noise, LastFit::with_prior, growth});
}

}  // namespace shoal::synth
