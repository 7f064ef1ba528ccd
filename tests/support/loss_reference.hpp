// References for the laws of the privacy loss, in long double and by the plainest way there is:
// tails of normals, sums over a fine grid, convolution term by term. They share no code with the
// engines.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace shoal::test {

using Long = long double;

inline Long normal_upper(Long x) { return erfcl(x / std::numbers::sqrt2_v<Long>) / 2; }

// P = sum with[j] N(j mu, 1) against Q = sum without[j] N(-j mu, 1).
struct NormalPair {
  Long mu;
  std::vector<double> with;
  std::vector<double> without;

  Long with_above(Long x) const {
    Long sum = 0;
    for (std::size_t j = 0; j < with.size(); ++j) sum += with[j] * normal_upper(x - Long(j) * mu);
    return sum;
  }
  Long without_above(Long x) const {
    Long sum = 0;
    for (std::size_t j = 0; j < without.size(); ++j) {
      sum += without[j] * normal_upper(x + Long(j) * mu);
    }
    return sum;
  }

  // ln dP/dQ at x.
  Long loss(Long x) const { return ratio(with, x) - ratio(without, -x); }

  // The x at which the loss is this, by bisection; beyond +-60 if there is none.
  Long place(Long target) const {
    Long low = -60;
    Long high = 60 + 4 * mu;
    for (int turn = 0; turn < 120; ++turn) {
      const Long middle = (low + high) / 2;
      (loss(middle) < target ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  // P(x..) - e^epsilon Q(x..) at the best x.
  Long delta(Long epsilon) const {
    const Long x = place(epsilon);
    return std::max(Long(0), with_above(x) - expl(epsilon) * without_above(x));
  }

  // E_P[e^{tL} f(x)], t = tilt + i frequency, over a fine grid. The integrand is analytic and falls
  // as a normal density, so that the sum is exact but for rounding.
  template <class Factor>
  std::complex<Long> moment(Long tilt, Long frequency, Factor factor) const {
    const Long orders = Long(with.size() + without.size() - 2);
    const Long step = 1 / (24 * (1 + orders * mu));
    const Long highest = 14 + (tilt + 1) * orders * mu;
    std::complex<Long> sum = 0;
    for (Long x = -14 - orders * mu; x < highest; x += step) {
      const Long l = loss(x);
      const Long size = expl(ratio(with, x) - x * x / 2 + tilt * l) * factor(x);
      sum += std::complex<Long>(size * cosl(frequency * l), size * sinl(frequency * l));
    }
    return sum * step / sqrtl(2 * std::numbers::pi_v<Long>);
  }
  std::complex<Long> moment(Long tilt, Long frequency) const {
    return moment(tilt, frequency, [](Long) { return Long(1); });
  }

 private:
  Long ratio(const std::vector<double>& weights, Long x) const {
    Long largest = 0;
    for (std::size_t j = 1; j < weights.size(); ++j) {
      largest = std::max(largest, Long(j) * mu * (x - Long(j) * mu / 2));
    }
    Long sum = 0;
    if (largest < 1 && weights[0] > 0) {
      for (std::size_t j = 1; j < weights.size(); ++j) {
        sum += weights[j] * expm1l(Long(j) * mu * (x - Long(j) * mu / 2));
      }
      return log1pl(sum);
    }
    for (std::size_t j = 0; j < weights.size(); ++j) {
      sum += weights[j] * expl(Long(j) * mu * (x - Long(j) * mu / 2) - largest);
    }
    return largest + logl(sum);
  }
};

// Masses of P at losses, and at infinity.
struct Masses {
  std::vector<std::pair<Long, Long>> at;  // loss, mass
  Long infinite = 0;

  // E_P[(1 - e^{epsilon - L})_+].
  Long delta(Long epsilon) const {
    Long sum = infinite;
    for (const auto& [loss, mass] : at) {
      if (loss > epsilon) sum -= mass * expm1l(epsilon - loss);
    }
    return sum;
  }
  Long total() const {
    Long sum = infinite;
    for (const auto& [loss, mass] : at) sum += mass;
    return sum;
  }
};

// The masses of the sum of `count` losses on one lattice, by repeated convolution.
inline std::vector<Long> self_convolution(const std::vector<double>& mass, int count) {
  std::vector<Long> sum = {1};
  for (int turn = 0; turn < count; ++turn) {
    std::vector<Long> next(sum.size() + mass.size() - 1, 0);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t j = 0; j < mass.size(); ++j) next[i + j] += sum[i] * mass[j];
    }
    sum = std::move(next);
  }
  return sum;
}

}  // namespace shoal::test
