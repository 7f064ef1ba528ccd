// Private multiplicative weights (Hardt and Rothblum 2010): a public guess of a histogram that
// answers questions for free as long as it is near enough, and learns from those where it is not.
//
// For universes that can be listed. A question is the mean of a function of the cell into [0, 1]. A
// sparse vector says whether the guess is near; only where it is not, the noisy true mean is told,
// and the guess is moved towards it. There are at most `updates` of those. All answers together
// have the privacy of that sparse vector; neighbours by replace_one, the number of rows is public.
// Proof note: src/mechanism/multiplicative_weights.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::mechanism {

struct WeightsGoal {
  std::int64_t rows;
  std::int64_t cells;      // of the universe
  std::int64_t questions;  // at most so many
  double accuracy;         // how far a guess may be off and pass, nearly; in (0, 1)
  Epsilon epsilon;
  Delta delta = Delta(0);
  std::int64_t updates = 0;  // 0: as many as the theorem may need, 4 ln(cells) / accuracy^2
};

struct WeightsPlan {
  std::int64_t rows = 0;
  std::int64_t cells = 0;
  double threshold = 0;  // of the mean
  SparseVector noise;    // in steps of the sum
  bool operator==(const WeightsPlan&) const = default;
};

// Throws invalid_argument for what is out of range.
WeightsPlan plan_weights(const WeightsGoal& goal);
privacy::Event privacy_event(const WeightsPlan& plan);

// With the stated chance every answer is within this of the mean over the rows.
double weights_error(const WeightsPlan& plan, Confidence confidence);

struct WeightsAnswer {
  double value = 0;
  bool updated = false;  // the guess was off: the value is the rows' own, with noise
};

class MultiplicativeWeights {
 public:
  // The histogram is secret and kept. Throws invalid_argument if it has not as many cells as the
  // plan, a negative count, or not as many rows.
  MultiplicativeWeights(const WeightsPlan& plan, std::vector<std::int64_t>&& histogram,
                        random::BitSource& bits);

  // The value of each cell, clamped to [0, 1]. Throws invalid_argument for another number of them;
  // budget_exceeded if updates or questions are used up.
  WeightsAnswer ask(std::span<const double> cell_values);

  // The guess: public, sums to one. What it answers costs nothing.
  std::span<const double> guess() const { return guess_; }
  bool exhausted() const { return watch_.halted(); }
  std::int64_t updates_left() const { return watch_.hits_left(); }

 private:
  void learn(std::span<const double> cell_values, double by);

  WeightsPlan plan_;
  std::vector<std::int64_t> histogram_;
  std::vector<double> guess_;
  ThresholdWatch watch_;
};

}  // namespace shoal::mechanism
