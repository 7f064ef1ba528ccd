// The exact law of the exponential mechanism from its scores, and a test of draws against a law.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/numeric/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace shoal::test {

// ln of the chance of each candidate.
inline std::vector<double> log_chances(std::span<const Int128> scores, double scale) {
  const Int128 best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> logs;
  double sum = 0;
  for (const Int128 score : scores) {
    logs.push_back(static_cast<double>(score - best) / scale);
    sum += std::exp(logs.back());
  }
  for (double& log : logs) log -= std::log(sum);
  return logs;
}

// The least and the largest of ln(P(y) / Q(y)).
struct LossSpan {
  double least = 0;
  double most = 0;
};
inline LossSpan loss_span(std::span<const Int128> first, std::span<const Int128> second,
                          double scale) {
  const std::vector<double> p = log_chances(first, scale);
  const std::vector<double> q = log_chances(second, scale);
  LossSpan span{p[0] - q[0], p[0] - q[0]};
  for (std::size_t k = 1; k < p.size(); ++k) {
    span.least = std::min(span.least, p[k] - q[k]);
    span.most = std::max(span.most, p[k] - q[k]);
  }
  return span;
}

// The chance of a chi-square statistic as large as that of the counts.
inline double fit_of(std::span<const int> counts, std::span<const double> log_chances_of) {
  double draws = 0;
  for (const int count : counts) draws += count;
  double statistic = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = draws * std::exp(log_chances_of[k]);
    statistic += (counts[k] - expected) * (counts[k] - expected) / expected;
  }
  return numeric::chi_square_tail(statistic, static_cast<int>(counts.size()) - 1);
}

}  // namespace shoal::test
