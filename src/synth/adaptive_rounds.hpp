// The rounds of AIM, as published and as we have them.
#pragma once

#include "synth/rounds.hpp"

namespace shoal::synth {

// By which a candidate's score is less for its noise, and below which a model has learnt nothing.
enum class Penalty { noise, kept_noise };  // noise_penalty.hpp

// Whether the last fit has a prior (Rounds::fit_with_prior).
enum class LastFit { without_prior, with_prior };

Synthesis adaptive_rounds(release::MarginalCurator& curator, const Workload& workload,
                          const MethodOptions& options, Penalty penalty, LastFit last_fit);

}  // namespace shoal::synth
