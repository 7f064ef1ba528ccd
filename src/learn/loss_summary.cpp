#include <shoal/base/error.hpp>
#include <shoal/learn/loss_summary.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::learn {

LossRange loss_range(const Loss& loss, double prediction_bound, double label_bound) {
  if (const auto* softmax = std::get_if<Softmax>(&loss))
    return {0, 2 * prediction_bound + std::log(static_cast<double>(softmax->classes))};
  const auto* poisson = std::get_if<Poisson>(&loss);
  LossRange range;
  // Convex in the prediction, and in the label linear or convex: largest at a corner.
  const double least_label = poisson ? 0 : -label_bound;
  for (const double z : {-prediction_bound, prediction_bound}) {
    for (const double y : {least_label, label_bound}) {
      range.most = std::max(range.most, value(loss, z, y));
      range.least = std::min(range.least, value(loss, z, y));
    }
  }
  // e^z - y z is least at z = ln y, or at the end of the line that continues it.
  if (poisson && label_bound > 1)
    range.least = std::min(range.least, label_bound * (1 - std::log(label_bound)));
  return range;
}

void LossSummary::add(double loss) {
  ++rows_;
  sum_ += loss;
  squares_ += static_cast<long double>(loss) * loss;
}

RiskEstimate LossSummary::population_risk(double confidence) const {
  if (!(confidence > 0 && confidence < 1)) {
    throw Error(ErrorCode::invalid_argument,
                "the confidence of a risk must be above 0 and below 1, such as 0.95");
  }
  RiskEstimate estimate{rows_, 0, range_.least, range_.most};
  if (rows_ == 0) return estimate;
  const double n = static_cast<double>(rows_);
  estimate.mean = static_cast<double>(sum_ / n);
  const double spread = range_.most - range_.least;
  // Each of the two bounds misses with half of what the confidence leaves, on either side a
  // quarter.
  const double log = std::log(4 / (1 - confidence));
  double width = spread * std::sqrt(log / (2 * n));
  if (rows_ > 1) {
    const long double about = squares_ - sum_ * sum_ / n;
    const double variance = std::fmax(0, static_cast<double>(about / (n - 1)));
    const double bernstein = std::log(8 / (1 - confidence));
    width = std::min(
        width, std::sqrt(2 * variance * bernstein / n) + 7 * spread * bernstein / (3 * (n - 1)));
  }
  estimate.lower = std::max(range_.least, estimate.mean - width);
  estimate.upper = std::min(range_.most, estimate.mean + width);
  return estimate;
}

}  // namespace shoal::learn
