// Our own method: the rounds of AIM, with five differences.
// - It is meant to be paid for as `gdp`: Gaussian noise, rounded, costs exactly its mu, so the same
//   epsilon and delta buy less noise than by zCDP (src/release/marginal_curator.proof.md). With a
//   `zcdp` reservation it works too.
// - A candidate's score is less by what a fit would keep of its noise, if the model is right, where
//   AIM takes the noise itself (src/synth/noise_penalty.hpp). Where rows lie in few of many cells
//   AIM may ask for no interactions at all.
// - After a round that taught nothing the next has half as much budget again, where AIM's has four
//   times as much, if there are more candidates than rounds: more rounds at more noise learn of
//   more marginals.
// - The last estimate takes every log-linear effect for normal, of mean 0 and one variance. What an
//   effect is shrunk by then follows from its noise, its cells and the number of rows: interactions
//   that noise drowns are shrunk most (graphical_model.hpp). Which variance, and whether any, the
//   measurements tell (src/synth/prior_choice.hpp). The estimates between the rounds are AIM's: if
//   they shrank too, noise would be halved too early, as a model that hardly moves looks as if
//   nothing more were to be learnt.
// - Records are refined (refine_records in records.hpp); that is up to whoever draws them.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

namespace shoal::synth {

// Throws as aim does. If `options.final_fit` has a prior, that is taken.
Synthesis graded(release::MarginalCurator& curator, const Workload& workload,
                 const MethodOptions& options);

}  // namespace shoal::synth
