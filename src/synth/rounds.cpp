#include "synth/rounds.hpp"

#include "synth/prior_choice.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/selection.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace shoal::synth {

using data::AttributeSet;

namespace {

std::vector<AttributeSet> sets_of(std::span<const NoisyMarginal> marginals) {
  std::vector<AttributeSet> sets;
  for (const NoisyMarginal& marginal : marginals) sets.push_back(marginal.set);
  return sets;
}

// All of them are counted and compared with the model: at 24 bytes a cell in all, three gigabytes.
constexpr std::int64_t kMaxCandidateCells = std::int64_t{1} << 27;
// The curator's limit.
constexpr std::int64_t kMaxWeight = std::int64_t{1} << 32;
// A hundred units of a charge, so that rounding up costs a hundredth at most.
constexpr double kLeastRoundRho = 1e-13;
// More tells nothing more, and Gaussian charges end a little above.
constexpr double kMaxChoiceEpsilon = 300;

// A fit on the way starts near its optimum, and the next one goes on from where it stops. So it may
// go over this many cells, but at least so often over all of them. Models of up to 447,000 cells
// have the iterations of the options.
constexpr std::int64_t kCellsOnTheWay = std::int64_t{1} << 27;
constexpr std::int64_t kIterationsOnTheWay = 60;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// What no model may hold is never asked for.
std::vector<AttributeSet> askable(std::span<const std::uint32_t> sizes,
                                  std::span<const Candidate> candidates, std::int64_t limit) {
  std::vector<AttributeSet> sets;
  for (const Candidate& candidate : candidates) {
    if (data::cell_count(sizes, candidate.set) <= limit) sets.push_back(candidate.set);
  }
  return sets;
}

// How often over a person's coming, going or being exchanged counts in a squared norm.
double moves(const release::MarginalUnit& unit) {
  const auto rows = static_cast<double>(unit.rows_per_unit);
  return rows * rows * (unit.neighbors == Neighbors::add_remove ? 1 : 2);
}

// In rho, or in mu^2 / 2.
double left_to_spend(const release::MarginalCurator& curator) {
  return curator.noise() == release::MarginalNoise::rounded_gaussian ? curator.half_square_left()
                                                                     : curator.rho_left();
}

}  // namespace

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

void check_rounds(std::span<const std::uint32_t> sizes, const Workload& workload,
                  const MethodOptions& options, double rho) {
  validate(workload, sizes);
  const std::int64_t least = model_cells(sizes, {});
  if (options.max_model_cells < least) {
    refuse("a model of at most " + std::to_string(options.max_model_cells) +
           " cells cannot hold the columns by themselves: allow " + std::to_string(least) +
           " or more");
  }
  const std::vector<Candidate> candidates = downward_closure(workload);
  std::int64_t cells = 0;
  for (const AttributeSet set : askable(sizes, candidates, options.max_model_cells)) {
    cells += data::cell_count(sizes, set);
    if (cells <= kMaxCandidateCells) continue;
    refuse("the marginals of the workload have more than " + std::to_string(kMaxCandidateCells) +
           " cells together: use fewer columns, fewer ways or wider bins");
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.weight <= kMaxWeight) continue;
    refuse("a marginal weighs " + std::to_string(candidate.weight) +
           " in all that it shares with the workload, more than " + std::to_string(kMaxWeight) +
           ": use smaller weights");
  }
  const double round =
      rho / (RoundSchedule().rounds_per_column * static_cast<double>(sizes.size()));
  if (round < kLeastRoundRho) {
    refuse("a rho of " + format_number(rho) + " leaves " + format_number(round) +
           " for a round, and the least is " + format_number(kLeastRoundRho) +
           ": use a larger epsilon or delta, or fewer columns");
  }
}

Rounds::Rounds(release::MarginalCurator& curator, const Workload& workload,
               const MethodOptions& options)
    : curator_(curator),
      options_(options),
      candidates_(downward_closure(workload)),
      model_(curator.sizes()),
      rho_(rho_left()) {
  check_rounds(curator.sizes(), workload, options, rho_);
  curator.prepare(askable(curator.sizes(), candidates_, options.max_model_cells));
}

double Rounds::rho_left() const { return left_to_spend(curator_); }

double first_noise(const release::MarginalCurator& curator) {
  return first_sigma(curator.sizes().size(), left_to_spend(curator), curator.unit());
}

double Rounds::spendable(int steps) const {
  // Each step's charge is rounded up to a unit, as is what computing its noise may have lost.
  return rho_left() * (1 - 1e-9) - 2e-15 * steps;
}

double sigma_within(double rho, const release::MarginalUnit& unit) {
  return std::sqrt(moves(unit) / (2 * rho));
}

double first_sigma(std::size_t columns, double rho, const release::MarginalUnit& unit) {
  const RoundSchedule schedule;
  return sigma_within(
      schedule.measure_share * rho / (schedule.rounds_per_column * static_cast<double>(columns)),
      unit);
}

double mst_sigma(std::size_t columns, double rho, const release::MarginalUnit& unit) {
  return sigma_within(rho / 3 / static_cast<double>(columns), unit);
}

// A choice of bounded range epsilon is as Gaussian as what is epsilon / 2-private, whose mu / 2 is
// the normal quantile of 1 / (1 + e^(-epsilon / 2)) (src/privacy/charge.proof.md).
double Rounds::choice_epsilon_for(double rho) const {
  if (curator_.noise() == release::MarginalNoise::discrete_gaussian) return std::sqrt(8 * rho);
  const double at = std::sqrt(rho) / 2;  // mu / 2, in the units of erf
  const double both = std::erf(at);
  const double rest = both < 0.5 ? std::log1p(-both) : std::log(std::erfc(at));
  return std::min(kMaxChoiceEpsilon, 2 * (std::log1p(both) - rest));
}

double Rounds::sigma_for(double rho) const { return sigma_within(rho, curator_.unit()); }

void Rounds::measure(AttributeSet set, double sigma, double choice_scale) {
  const std::vector<std::int64_t> noisy = curator_.measure(set, sigma);
  measurements_.push_back({set, sigma, {noisy.begin(), noisy.end()}});
  steps_.push_back({set, sigma, choice_scale, 0});
}

void Rounds::fit(const FitOptions& options) {
  FitOptions mine = options;
  mine.threads = options_.threads;
  model_ = GraphicalModel::fit(sizes(), measurements_, mine, &model_);
  steps_.back().fit_iterations = model_.report().iterations;
  report_progress();
}

int iterations_on_the_way(std::int64_t cells, int most) {
  const std::int64_t affordable = std::max(kIterationsOnTheWay, kCellsOnTheWay / cells);
  return static_cast<int>(std::min<std::int64_t>(most, affordable));
}

void Rounds::fit_on_the_way(const FitOptions& options) {
  FitOptions mine = options;
  mine.max_iterations =
      iterations_on_the_way(model_cells(sizes(), sets_of(measurements_)), options.max_iterations);
  fit(mine);
}

void Rounds::fit_with_prior(const FitOptions& options) {
  FitOptions mine = options;
  // It may start far from its optimum, which is that of another objective.
  mine.max_iterations = std::max(mine.max_iterations, kLastIterations);
  if (!mine.prior_variance) {
    mine.threads = options_.threads;
    mine.prior_variance = choose_prior(sizes(), measurements_, mine, model_, curator_.bits());
  }
  fit(mine);
}

void Rounds::report_progress() const {
  if (options_.progress) options_.progress(share_spent());
}

std::vector<Candidate> Rounds::that_fit(std::int64_t cells) const {
  const std::vector<AttributeSet> held = sets_of(measurements_);
  std::vector<Candidate> fitting;
  for (const Candidate& candidate : candidates_) {
    if (data::cell_count(sizes(), candidate.set) > options_.max_model_cells) continue;
    const bool inside = std::any_of(held.begin(), held.end(),
                                    [&](AttributeSet set) { return candidate.set.within(set); });
    if (!inside) {
      std::vector<AttributeSet> more = held;
      more.push_back(candidate.set);
      if (model_cells(sizes(), more) > cells) continue;
    }
    fitting.push_back(candidate);
  }
  return fitting;
}

std::size_t Rounds::choose(std::span<const Candidate> candidates,
                           std::span<const std::vector<double>> expected,
                           std::span<const double> penalties, double epsilon) {
  constexpr double kSteps = release::kExpectedSteps;
  std::vector<std::vector<std::int64_t>> steps(candidates.size());
  std::vector<release::MarginalCandidate> offered;
  std::int64_t largest = 1;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (const double count : expected[i]) steps[i].push_back(std::llround(count * kSteps));
    offered.push_back(
        {candidates[i].set, steps[i], std::llround(penalties[i] * kSteps), candidates[i].weight});
    largest = std::max(largest, candidates[i].weight);
  }
  const std::int64_t moved = curator_.unit().neighbors == Neighbors::add_remove ? 1 : 2;
  const mechanism::ScoreSensitivity sensitivity{
      Sensitivity(release::kExpectedSteps * largest * curator_.unit().rows_per_unit * moved),
      mechanism::ScoreChange::two_sided};
  last_scale_ = mechanism::selection_scale(Epsilon(epsilon), sensitivity);
  return curator_.choose(offered, last_scale_);
}

Synthesis Rounds::finish() && {
  return {std::move(model_), std::move(steps_), std::move(measurements_)};
}

}  // namespace shoal::synth
