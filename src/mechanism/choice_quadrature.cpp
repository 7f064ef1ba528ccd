#include "mechanism/choice_quadrature.hpp"

#include "mechanism/selection_spec.hpp"

#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace shoal::mechanism {
namespace {

using Rule = boost::math::quadrature::gauss<double, 20>;

// Scores relative to the highest, in scales: all at most 0.
std::vector<double> gaps_to_best(std::span<const Int128> scores, double scale) {
  const Int128 best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> gaps;
  gaps.reserve(scores.size());
  for (const Int128 score : scores) gaps.push_back(scaled_gap(score, best, scale));
  return gaps;
}

double laplace_cdf(double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }

}  // namespace

// The winner must pass the best score; with u = exp(-what it passes it by), and q_j = exp(gap_j),
// the chance is q_i times the integral over u in [0, 1] of the product of (1 - u q_j), j != i. The
// product falls about as exp(-u sum q_j), so the panels double in width from there.
double log_win_exponential(std::span<const Int128> scores, std::size_t winner, double scale) {
  const std::vector<double> gaps = gaps_to_best(scores, scale);
  std::vector<double> rivals;
  double sum = 1;
  for (std::size_t j = 0; j < gaps.size(); ++j) {
    const double q = std::exp(gaps[j]);
    if (j == winner || q == 0) continue;
    rivals.push_back(q);
    sum += q;
  }
  const auto product = [&](double u) {
    double value = 1;
    for (const double q : rivals) value *= 1 - u * q;
    return value;
  };
  double integral = 0;
  double low = 0;
  double high = 1 / sum;
  while (low < 1) {
    integral += Rule::integrate(product, low, high);
    low = high;
    high = std::min(1.0, 2 * high);
  }
  return gaps[winner] + std::log(integral);
}

// Over z, the winner's noisy score less the best score, in scales: its density times the chances
// that the others stay below. Between the scores of any two candidates all of that is smooth.
double log_win_laplace(std::span<const Int128> scores, std::size_t winner, double scale) {
  constexpr double kFar = 45;  // beyond, less than 10^-19 of it is left
  const std::vector<double> gaps = gaps_to_best(scores, scale);
  const double own = gaps[winner];
  if (own < -700) return -std::numeric_limits<double>::infinity();
  std::vector<double> ends = {own - kFar, kFar};
  for (const double gap : gaps) {
    if (gap > ends[0]) ends.push_back(gap);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto density = [&](double z) {
    double value = 0.5 * std::exp(-std::fabs(z - own));
    for (std::size_t j = 0; j < gaps.size(); ++j) {
      if (j != winner) value *= laplace_cdf(z - gaps[j]);
    }
    return value;
  };
  double integral = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double width = ends[i + 1] - ends[i];
    const int panels = static_cast<int>(std::ceil(width));
    for (int panel = 0; panel < panels; ++panel) {
      integral += Rule::integrate(density, ends[i] + width * panel / panels,
                                  ends[i] + width * (panel + 1) / panels);
    }
  }
  return std::log(integral);
}

}  // namespace shoal::mechanism
