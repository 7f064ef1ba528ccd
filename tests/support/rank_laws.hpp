// The law of a choice by rank, from the definition: each step's error by counting values one by
// one, its chance by exponentials of long doubles. Shares no code with the mechanism.
#pragma once

#include <shoal/mechanism/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace shoal::test {

// How many values on each step, from the lower end of the range on.
using Histogram = std::vector<std::int64_t>;

inline std::vector<mechanism::LeafCount> leaves_of(const Histogram& histogram, std::int64_t lower) {
  std::vector<mechanism::LeafCount> leaves;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    if (histogram[i] > 0) leaves.push_back({lower + static_cast<std::int64_t>(i), histogram[i]});
  }
  return leaves;
}

inline std::int64_t total_of(const Histogram& histogram) {
  std::int64_t total = 0;
  for (const std::int64_t count : histogram) total += count;
  return total;
}

// |rank of the step - target|, with all ranks of its values: 0 if the target is one of them.
inline double rank_error_of(const Histogram& histogram, std::size_t step, double target) {
  double below = 0;
  for (std::size_t i = 0; i < step; ++i) below += static_cast<double>(histogram[i]);
  const double at_or_below = below + static_cast<double>(histogram[step]);
  return std::max({0.0, below - target, target - at_or_below});
}

struct StepPair {
  std::int64_t least;
  std::int64_t most;
};

// All exact quantiles: at most r values below, at least r at or below.
inline StepPair exact_steps(const Histogram& histogram, double rank) {
  StepPair pair{-1, -1};
  for (std::size_t step = 0; step < histogram.size(); ++step) {
    if (rank_error_of(histogram, step, rank) > 1e-9) continue;
    if (pair.least < 0) pair.least = static_cast<std::int64_t>(step);
    pair.most = static_cast<std::int64_t>(step);
  }
  return pair;
}

inline std::vector<double> choice_law(const std::vector<double>& errors, double scale) {
  std::vector<long double> weights;
  long double sum = 0;
  for (const double error : errors) {
    weights.push_back(std::exp(-static_cast<long double>(error) / scale));
    sum += weights.back();
  }
  std::vector<double> law;
  for (const long double weight : weights) law.push_back(static_cast<double>(weight / sum));
  return law;
}

struct LossSpan {
  double least = 0;
  double most = 0;
  double width() const { return most - least; }
};

inline LossSpan loss_span(const std::vector<double>& p, const std::vector<double>& q) {
  LossSpan span{INFINITY, -INFINITY};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double loss = std::log(p[i]) - std::log(q[i]);
    span.least = std::min(span.least, loss);
    span.most = std::max(span.most, loss);
  }
  return span;
}

inline double hockey_stick_of_laws(const std::vector<double>& p, const std::vector<double>& q,
                                   double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  }
  return sum;
}

}  // namespace shoal::test
