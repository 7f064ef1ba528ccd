// MWEM (Hardt, Ligett and McSherry 2012), for an explicit universe: in each of T rounds the query
// that the current estimate answers worst is chosen (exponential mechanism, epsilon / (2T)) and
// answered with noise (discrete Laplace, epsilon / (2T)); multiplicative weights move the estimate
// towards it. The average of all estimates is what comes out. Neighbours exchange one row.
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

// The published bound of the largest error over the queries, as a share of the rows:
// 2 sqrt(ln|X| / T) + 10 T ln|Q| / (epsilon n).
double mwem_error_bound(std::int64_t universe, std::int64_t queries, std::int64_t rows, int rounds,
                        double epsilon);
// The T for which that is least.
int mwem_best_rounds(std::int64_t universe, std::int64_t queries, std::int64_t rows,
                     double epsilon);

}  // namespace shoal::synth
