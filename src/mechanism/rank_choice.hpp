// The exponential mechanism over the steps of a range, with chances proportional to exp(-error /
// scale), where the error of a step is how far its ranks are from a target rank.
//
// Steps without values between two that have some share their error: they are one run, whose weight
// is its length times that of a step. A run is drawn by comparing a lazily drawn uniform number
// with running sums of the weights, enclosed in integers: first with 100 binary digits, and in the
// rare case that these do not decide, with as many as it takes. Then a step of the run, uniformly.
// So every step has exactly its chance, and no floating point takes part.
#pragma once

#include <shoal/mechanism/quantile.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::mechanism {

// A target rank, rank / denominator, among the values and so many more that are put on the ends of
// the range. It must lie between 0 and the number of all of them.
struct TargetRank {
  Int128 rank;
  std::int64_t denominator;
  std::int64_t more_at_lower = 0;
  std::int64_t more_at_upper = 0;
};

struct RankRun {
  std::int64_t first;
  std::int64_t length;
  UInt128 error;  // in units of 1 / denominator
};

// The steps of a range, in order: so many before that are further than some reach off, the runs
// that are near, so many after. Errors fall by whole ranks to the last before 0, are 0 for at least
// one run, and then rise by whole ranks.
struct RankRuns {
  std::vector<RankRun> near;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

// Runs with errors of up to `reach` are near.
RankRuns rank_runs(std::span<const LeafCount> leaves, const StepRange& range,
                   const TargetRank& target, UInt128 reach = ~static_cast<UInt128>(0));

// Chances proportional to length exp(-error / (denominator scale)), among runs that are all near.
// The first look at the uniform number takes `first_bits` bits, 1 to 64; fewer make no difference
// to the law and are for tests.
RankRun choose_run(const RankRuns& runs, std::int64_t denominator, double scale,
                   random::BitSource& bits, int first_bits = 64);

// A step with chance proportional to exp(-error / scale).
std::int64_t choose_step(std::span<const LeafCount> leaves, const StepRange& range,
                         const TargetRank& target, double scale, random::BitSource& bits);

}  // namespace shoal::mechanism
