// Private choice of hyper-parameters (Liu and Talwar 2019; Papernot and Steinke 2022): candidates
// are drawn and trained a random number of times, each result is scored with noise on rows that
// were set aside, and the best is released. However many candidates and runs there are, it costs
// twice the epsilon of one run, and its delta times the mean number of runs. Proof:
// src/learn/private_selection.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/fit.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <vector>

namespace shoal::learn {

struct PrivateSelection {
  std::vector<Method> candidates = {};
  double epsilon = 0;  // of the whole
  double delta = 0;
  double score_scale =
      0;                 // of the discrete Laplace noise of a score, in steps of kScoreSteps a row
  double run_scale = 0;  // runs K: P(K = k) ~ e^(-k / run_scale) / k
  bool operator==(const PrivateSelection&) const = default;
};

// A row adds from 0 to this many steps to a score: all of it for a wrong label, or for a squared
// error of 4 and more.
inline constexpr std::int64_t kScoreSteps = std::int64_t{1} << 20;
// A row is set aside for scoring with a chance of one in 2^kHeldOutBits.
inline constexpr int kHeldOutBits = 2;

// The run_scale with this many runs in the mean, or a few more. Throws invalid_argument unless they
// are from 1.01 to 10,000.
double run_scale_of(double runs);

// How many runs there are in the mean, rounded up.
double mean_runs_up(double run_scale);

// What a candidate may cost: half of epsilon, and delta over the mean number of runs.
struct CandidateCost {
  double epsilon = 0;
  double delta = 0;
};
CandidateCost candidate_cost(Epsilon epsilon, Delta delta, double run_scale);

// Candidates that cost no more than that. Throws invalid_argument if one does.
PrivateSelection calibrate_selection(const Problem& problem, std::vector<Method> candidates,
                                     Epsilon epsilon, Delta delta, double run_scale);

void validate(const PrivateSelection& selection, const Problem& problem);

// pure{epsilon}, or epsilon_delta: twice the larger of what a training and a score cost.
privacy::Event privacy_event(const PrivateSelection& selection, const Problem& problem);

struct FittedBest {
  Fitted fitted;
  std::size_t chosen = 0;  // which candidate; public with the weights
};

// As fit() does, for the whole selection. The number of runs is secret: it is neither told nor
// shown as progress.
FittedBest fit_best(const Problem& problem, const PrivateSelection& selection, TrainingRows&& rows,
                    privacy::Reservation&& reservation, random::BitSource& bits,
                    const FitOptions& options = {});

}  // namespace shoal::learn
