// What the methods that choose marginals round by round have in common.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

#include <span>
#include <vector>

namespace shoal::synth {

// The constants of AIM.
struct RoundSchedule {
  double measure_share = 0.9;     // of each round's budget; the rest pays for the choice
  double rounds_per_column = 16;  // as many rounds would use up the budget if noise never shrank
};

// Of the last fit, which is the one that counts and has objectives of its own.
inline constexpr int kLastIterations = 3000;

// The state of such a method: what was measured, and the model of it.
class Rounds {
 public:
  Rounds(release::MarginalCurator& curator, const Workload& workload, const MethodOptions& options);

  // The budget, in rho if the reserved event is `zcdp` and in mu^2 / 2 if it is `gdp`.
  double rho() const { return rho_; }
  double rho_left() const;
  // What so many more steps may cost together.
  double spendable(int steps) const;
  double share_spent() const { return 1 - rho_left() / rho_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const GraphicalModel& model() const { return model_; }
  const std::vector<std::uint32_t>& sizes() const { return curator_.sizes(); }

  // What one measurement and one choice may have for so much.
  double sigma_for(double rho) const;
  double choice_epsilon_for(double rho) const;

  void measure(data::AttributeSet set, double sigma, double choice_scale);
  void fit(const FitOptions& options);
  // Of a model that more is measured for: a large one gets fewer iterations.
  void fit_on_the_way(const FitOptions& options);
  // With the prior of the options, or if they have none with the one that the measurements speak
  // for (prior_choice.hpp).
  void fit_with_prior(const FitOptions& options);
  void report_progress() const;

  // Candidates that the model can take up without outgrowing this many cells.
  std::vector<Candidate> that_fit(std::int64_t cells) const;

  // Chooses by exp(epsilon score / (2 sensitivity)), scores as in MarginalCandidate, with the
  // penalty of each in rows. `expected` is of the model, one table a candidate.
  std::size_t choose(std::span<const Candidate> candidates,
                     std::span<const std::vector<double>> expected,
                     std::span<const double> penalties, double epsilon);
  double last_scale() const { return last_scale_; }

  Synthesis finish() &&;

 private:
  release::MarginalCurator& curator_;
  MethodOptions options_;
  std::vector<Candidate> candidates_;
  GraphicalModel model_;
  std::vector<NoisyMarginal> measurements_;
  std::vector<SynthesisStep> steps_;
  double rho_;
  double last_scale_ = 0;
};

// How many of `most` iterations a fit of a model of so many cells gets if another one follows.
int iterations_on_the_way(std::int64_t cells, int most);

// The smallest noise in every cell of one marginal that costs no more than rho.
double sigma_within(double rho, const release::MarginalUnit& unit);

// The noise of the first measurements, of what the curator has to spend.
double first_noise(const release::MarginalCurator& curator);

// The L1 norm of what two tables differ by.
double distance(std::span<const double> a, std::span<const double> b);

}  // namespace shoal::synth
