// A private estimate of how well a model does: a quarter of the rows, by a coin for each, is not
// trained on but counted, right and wrong, with noise. One reservation pays for training and
// counts. Proof: src/learn/held_out.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/learn/fit.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/privacy/event.hpp>

namespace shoal::learn {

// Each row set aside gives kScoreSteps (private_selection.hpp) steps to wrong and right: to wrong
// all of them for a wrong label, or the share of its squared error in 4, at most all.
struct HeldOutCounts {
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 0;
  double scale = 0;  // of the discrete Laplace noise of each of the two sums, in steps
  bool operator==(const HeldOutCounts&) const = default;
};

// Throws invalid_argument for an epsilon of 0 or out of range.
HeldOutCounts calibrate_held_out(Neighbors neighbors, Epsilon epsilon);

void validate(const HeldOutCounts& counts);

// pure{epsilon}.
privacy::Event privacy_event(const HeldOutCounts& counts);

// compose of the method's event and that of the counts.
privacy::Event privacy_event(const Method& method, const HeldOutCounts& counts,
                             const Problem& problem);

// The share of wrong among the rows set aside, with an interval for the noise at 95 %; for numbers
// the mean squared error over 4, of labels in [-1, 1].
struct HeldOutEstimate {
  double wrong = 0;
  double lower = 0;
  double upper = 1;
  double rows = 0;  // about how many they were
  double epsilon = 0;
  bool operator==(const HeldOutEstimate&) const = default;
};

struct FittedAndCounted {
  Fitted fitted;
  HeldOutEstimate estimate;  // if there are weights
};

// As fit() does, for the composed event. Throws unsupported for softmax.
FittedAndCounted fit_and_count(const Problem& problem, const Method& method,
                               const HeldOutCounts& counts, TrainingRows&& rows,
                               privacy::Reservation&& reservation, random::BitSource& bits,
                               const FitOptions& options = {});

}  // namespace shoal::learn
