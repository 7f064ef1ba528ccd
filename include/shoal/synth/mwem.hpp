// MWEM (Hardt, Ligett and McSherry 2012), for an explicit universe: in each of T rounds the query
// that the current estimate answers worst is chosen (exponential mechanism, epsilon / (2T)) and
// answered with noise (discrete Laplace, epsilon / (2T)); multiplicative weights move the estimate
// towards it. The average of the T estimates after each round is what comes out. Neighbours
// exchange one row. Proof note: src/synth/mwem.proof.md.
#pragma once

#include <shoal/release/histogram_curator.hpp>
#include <shoal/synth/linear_queries.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::synth {

inline constexpr int kMaxMwemRounds = 10'000;

struct MwemResult {
  std::vector<double> density;       // over the universe; sums to 1
  std::vector<std::size_t> queries;  // as they were chosen
};

// Throws invalid_argument for queries that do not fit, no rounds, or an epsilon that the curator
// does not have; before anything is spent.
MwemResult mwem(release::HistogramCurator& curator, std::span<const LinearQuery> queries,
                int rounds, double epsilon, const std::function<void(double)>& progress = {});

// The facts that decide what is to be expected. All public.
struct MwemProblem {
  std::int64_t universe = 0;
  std::int64_t queries = 0;
  std::int64_t rows = 0;
  double epsilon = 0;
};

// Except with probability beta every query is within this of the truth, as a share of the rows (of
// no use from 1 up). Of mwem as it is here, not as published: see the proof note.
double mwem_error_bound(const MwemProblem& problem, int rounds, double beta);
// The T for which that is least.
int mwem_best_rounds(const MwemProblem& problem, double beta);

}  // namespace shoal::synth
