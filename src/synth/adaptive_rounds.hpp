// The rounds of AIM, as published and as we have them.
#pragma once

#include "synth/rounds.hpp"

namespace shoal::synth {

// By which a candidate's score is less for its noise, and below which a model has learnt nothing.
enum class Penalty { noise, kept_noise };  // noise_penalty.hpp

// Whether the last fit has a prior (Rounds::fit_with_prior).
enum class LastFit { without_prior, with_prior };

struct RoundRules {
  Penalty penalty = Penalty::noise;
  LastFit last_fit = LastFit::without_prior;
  // How many times the budget of a round that taught nothing the next one has: AIM's halves the
  // noise.
  double growth = 4;
};

// What graded has for it. One round that taught nothing says little of what else there is to learn:
// where there are more candidates than rounds, the next has half as much budget again, and the
// noise falls by a fifth. Where rounds outnumber candidates, most of them would teach nothing at
// that noise, and it is halved as by AIM.
double graded_growth(std::size_t candidates, std::size_t columns);

Synthesis adaptive_rounds(release::MarginalCurator& curator, const Workload& workload,
                          const MethodOptions& options, const RoundRules& rules);

}  // namespace shoal::synth
