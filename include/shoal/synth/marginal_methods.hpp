// Methods that measure marginals and fit a graphical model to them: what they take, and what they
// leave behind for the report. MST and AIM follow their publications; see mst.hpp, aim.hpp and
// graded.hpp.
#pragma once

#include <shoal/release/marginal_curator.hpp>
#include <shoal/synth/graphical_model.hpp>
#include <shoal/synth/measured_error.hpp>
#include <shoal/synth/workload.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shoal::synth {

// One step that was paid for, in order.
struct SynthesisStep {
  data::AttributeSet set;
  double sigma = 0;         // of the noise in each cell
  double choice_scale = 0;  // 0: it was not chosen, but measured by plan
  int fit_iterations = 0;
  // Of mwem: the cell that was counted, or the first and the last of a range of them.
  std::optional<std::int64_t> cell = {};
  std::optional<std::int64_t> last_cell = {};
};

// Called after each step with the share of the budget that is spent: for progress bars.
using Progress = std::function<void(double share)>;

struct MethodOptions {
  // Of the cells of all cliques: 131,072 are one megabyte.
  std::int64_t max_model_cells = 131'072;
  FitOptions fit;
  FitOptions final_fit;  // of the last model, which is the one that counts
  int threads = 2;
  Progress progress;
};

// What public facts show to be wrong with a request of aim or graded, of this rho. Throws
// invalid_argument for a workload that does not fit the columns, a model limit below the cells of
// all one-way marginals, more candidates than memory and a budget that rounding would eat up.
// What passes does not fail later, whatever the rows are.
void check_rounds(std::span<const std::uint32_t> sizes, const Workload& workload,
                  const MethodOptions& options, double rho);

// The noise of the first measurements, which is known before: of aim and graded, and of mst.
double first_sigma(std::size_t columns, double rho, const release::MarginalUnit& unit);
double mst_sigma(std::size_t columns, double rho, const release::MarginalUnit& unit);

struct Synthesis {
  GraphicalModel model;
  std::vector<SynthesisStep> steps;
  std::vector<NoisyMarginal> measurements;
  std::optional<MeasuredErrors> errors = {};  // if they were paid for
};

}  // namespace shoal::synth
