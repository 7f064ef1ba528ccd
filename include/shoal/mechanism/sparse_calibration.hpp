// How much noise a sparse vector needs: the scales for an (epsilon, delta), by the best split known
// or as textbooks have them.
//
// What is returned was priced itself and met the goal, rounded up; a search that goes wrong can
// waste accuracy but not privacy. Proof note: src/mechanism/sparse_vector.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>

namespace shoal::mechanism {

struct SparseGoal {
  Epsilon epsilon;
  Delta delta = Delta(0);
  std::int64_t hits = 1;
  ScoreSensitivity sensitivity;  // required: there is no default that is safe
  SparseNoise noise = SparseNoise::geometric;
  bool gap = false;
  double answer_share = 0;     // of epsilon, for telling the values of hits; from 0 to 0.9
  std::int64_t questions = 0;  // at most so many; 0: any number
};

// For geometric and Laplace noise: the threshold's noise drawn once, its share of epsilon the one
// that makes the comparison least noisy, 1 : (2 hits)^(2/3), or 1 : hits^(2/3) if values are
// one-sided. With a delta also `hits` runs that each draw their own, composed by the certified
// accountant; the less noisy of the two is returned. For Gaussian noise, which needs a delta and a
// number of questions: the smallest scales in the ratio 1 : (2 hits)^(1/2). Throws invalid_argument
// for an epsilon of 0 and for what is out of range.
SparseVector calibrate_sparse(const SparseGoal& goal);

// What a ledger is to be charged for the spec of a goal: its event if that is within the goal's
// epsilon without a delta; else (epsilon, delta) as a whole, which an account charges that sets its
// delta aside for failures. Throws internal if the spec does not meet the goal.
privacy::Event charged_event(const SparseVector& spec, const SparseGoal& goal);

// The standard deviation of (noise of a question) - (noise of the threshold).
double comparison_deviation(const SparseVector& spec);

// As Dwork and Roth 2014 have them (algorithms 1 to 3), with Laplace noise. For comparison: they
// are private and need more noise. Their scale for delta > 0 is sqrt(32 hits ln(1 / delta)) /
// epsilon (for answers with values, ln(2 / delta)); lecture notes lack the root. It is proven for
// epsilon up to 1: larger ones throw invalid_argument.
SparseVector textbook_above_threshold(Epsilon epsilon, Sensitivity sensitivity);
SparseVector textbook_sparse(Epsilon epsilon, Delta delta, std::int64_t hits,
                             Sensitivity sensitivity);
SparseVector textbook_numeric_sparse(Epsilon epsilon, Delta delta, std::int64_t hits,
                                     Sensitivity sensitivity);

}  // namespace shoal::mechanism
