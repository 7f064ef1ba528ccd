#include "synth/adaptive_rounds.hpp"

#include "synth/noise_penalty.hpp"

#include <utility>

namespace shoal::synth {

using data::AttributeSet;

Synthesis adaptive_rounds(release::MarginalCurator& curator, const Workload& workload,
                          const MethodOptions& options, const RoundRules& rules) {
  const RoundSchedule schedule;
  Rounds rounds(curator, workload, options);
  const double columns = static_cast<double>(curator.sizes().size());
  const double planned = schedule.rounds_per_column * columns;
  double round = rounds.rho() / planned;  // of the budget
  double sigma = rounds.sigma_for(schedule.measure_share * round);
  for (const Candidate& candidate : rounds.candidates()) {
    if (candidate.set.size() == 1) rounds.measure(candidate.set, sigma, 0);
  }
  rounds.fit(options.fit);
  for (bool last = false; !last;) {
    if (rounds.rho_left() < 2 * round) {
      // Whatever is left goes into this round: one choice and one measurement.
      round = rounds.spendable(2);
      last = true;
    }
    sigma = rounds.sigma_for(schedule.measure_share * round);
    const double epsilon = rounds.choice_epsilon_for((1 - schedule.measure_share) * round);
    // By what is spent once this round is.
    const double share = last ? 1.0 : rounds.share_spent() + round / rounds.rho();
    const auto limit =
        static_cast<std::int64_t>(static_cast<double>(options.max_model_cells) * share);
    const std::vector<Candidate> fitting = rounds.that_fit(limit);
    std::vector<AttributeSet> sets;
    sets.reserve(fitting.size());
    for (const Candidate& candidate : fitting) sets.push_back(candidate.set);
    const auto expected = rounds.model().marginals(sets, options.threads);
    std::vector<double> penalties;
    penalties.reserve(expected.size());
    for (const std::vector<double>& table : expected) {
      penalties.push_back(rules.penalty == Penalty::noise
                              ? noise_norm(static_cast<double>(table.size()), sigma)
                              : kept_noise_norm(table, sigma));
    }
    const std::size_t chosen = rounds.choose(fitting, expected, penalties, epsilon);
    rounds.measure(sets[chosen], sigma, rounds.last_scale());
    if (last && rules.last_fit == LastFit::with_prior) {
      rounds.fit_with_prior(options.final_fit);
    } else if (last) {
      rounds.fit(options.final_fit);
    } else {
      rounds.fit_on_the_way(options.fit);
    }
    const std::vector<double> now = rounds.model().marginal(sets[chosen]);
    if (distance(now, expected[chosen]) <= penalties[chosen]) round *= rules.growth;
  }
  return std::move(rounds).finish();
}

}  // namespace shoal::synth
