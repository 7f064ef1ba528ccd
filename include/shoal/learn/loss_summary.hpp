// Losses on rows that had no part in training, and what they say of new rows. Not private. Where
// the bounds come from: src/learn/risk.proof.md.
#pragma once

#include <shoal/learn/loss.hpp>

#include <cstdint>

namespace shoal::learn {

// What a loss can be for predictions up to `prediction_bound` and labels up to `label_bound` in
// size.
struct LossRange {
  double least = 0;
  double most = 0;
};
LossRange loss_range(const Loss& loss, double prediction_bound, double label_bound);

// An estimate with an interval that holds with this confidence, for any law of the rows.
struct RiskEstimate {
  std::uint64_t rows = 0;
  double mean = 0;
  double lower = 0;
  double upper = 0;
};

// Losses, one by one, of rows that had no part in training.
class LossSummary {
 public:
  explicit LossSummary(LossRange range) : range_(range) {}
  void add(double loss);
  // The population risk, by the empirical Bernstein bound and Hoeffding's, cut to the range.
  // Without rows the interval is the range.
  RiskEstimate population_risk(double confidence) const;

 private:
  LossRange range_;
  std::uint64_t rows_ = 0;
  long double sum_ = 0;
  long double squares_ = 0;
};

}  // namespace shoal::learn
