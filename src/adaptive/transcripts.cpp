#include "adaptive/transcripts.hpp"

#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::adaptive {

double log_choose_up(std::int64_t n, std::int64_t k) {
  if (k <= 0 || k >= n) return 0;
  const auto top = static_cast<double>(n);
  const auto part = static_cast<double>(std::min(k, n - k));
  // lgamma has an error of a few units in the last place of its largest term.
  const double value = std::lgamma(top + 1) - std::lgamma(part + 1) - std::lgamma(top - part + 1);
  return value + 1e-12 * std::lgamma(top + 1) + 1e-12;
}

double transcript_width(const TranscriptCount& count, std::int64_t question, std::int64_t told) {
  using namespace numeric;
  // Equal parts of the chance for every (question, told); within one, for every transcript.
  const auto parts = static_cast<double>(count.questions) * static_cast<double>(count.tells + 1);
  double logarithm = log_up(divide_up(2 * parts, count.miss));
  logarithm = add_up(logarithm, log_choose_up(question - 1, told));
  logarithm = add_up(logarithm, multiply_up(static_cast<double>(told), log_up(count.values)));
  return sqrt_up(divide_up(logarithm, 2 * static_cast<double>(count.rows)));
}

}  // namespace shoal::adaptive
