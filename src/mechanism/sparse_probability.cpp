// The probability of a transcript: a sum over the noise of the threshold, given which the questions
// are independent. Doubles, for audits and tests; no guarantee rests on it.
#include <shoal/base/error.hpp>
#include <shoal/mechanism/sparse_vector.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal::mechanism {
namespace {

constexpr double kLargestScale = 0x1p20;
// Beyond so many scales there is less than 10^-19 of the noise.
constexpr double kExponentialReach = 45;
constexpr double kGaussianReach = 12;

// One law of integer noise: its pmf and its upper tail, between -reach and reach.
class Law {
 public:
  Law(SparseNoise noise, double scale) : noise_(noise), scale_(scale) {
    if (scale > kLargestScale) {
      throw Error(ErrorCode::unsupported,
                  "probabilities are computed for scales up to 2^20; take a coarser grid");
    }
    const double reach = noise == SparseNoise::gaussian ? kGaussianReach : kExponentialReach;
    reach_ = static_cast<std::int64_t>(std::ceil(reach * scale)) + 2;
    if (noise == SparseNoise::gaussian) make_tables();
  }

  std::int64_t least() const { return noise_ == SparseNoise::geometric ? 0 : -reach_; }
  std::int64_t most() const { return reach_; }

  double pmf(Int128 x) const {
    if (noise_ == SparseNoise::gaussian) {
      if (x < -reach_ || x > reach_) return 0;
      return pmf_[static_cast<std::size_t>(x + reach_)];
    }
    const auto value = static_cast<double>(x);
    if (noise_ == SparseNoise::geometric) {
      return x < 0 ? 0 : -std::expm1(-1 / scale_) * std::exp(-value / scale_);
    }
    return std::tanh(0.5 / scale_) * std::exp(-std::abs(value) / scale_);
  }

  // P(noise >= x) and P(noise < x), each without cancellation.
  double at_least(Int128 x) const {
    const auto value = static_cast<double>(x);
    if (noise_ == SparseNoise::geometric) return x <= 0 ? 1 : std::exp(-value / scale_);
    if (noise_ == SparseNoise::laplace) return x <= 0 ? 1 - laplace_tail(1 - x) : laplace_tail(x);
    if (x <= -reach_) return 1;
    return x > reach_ ? 0 : tail_[static_cast<std::size_t>(x + reach_)];
  }
  double less_than(Int128 x) const {
    if (noise_ == SparseNoise::geometric) {
      return x <= 0 ? 0 : -std::expm1(-static_cast<double>(x) / scale_);
    }
    return at_least(1 - x);  // symmetric
  }

 private:
  // P(noise >= x) of discrete Laplace noise for x >= 1.
  double laplace_tail(Int128 x) const {
    return std::exp(-static_cast<double>(x) / scale_) / (1 + std::exp(-1 / scale_));
  }

  void make_tables() {
    const auto size = static_cast<std::size_t>(2 * reach_ + 1);
    pmf_.resize(size);
    tail_.resize(size);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double z = (static_cast<double>(i) - static_cast<double>(reach_)) / scale_;
      sum += pmf_[i] = std::exp(-z * z / 2);
    }
    double tail = 0;
    for (std::size_t i = size; i-- > 0;) {
      pmf_[i] /= sum;
      tail_[i] = tail += pmf_[i];
    }
  }

  SparseNoise noise_;
  double scale_;
  std::int64_t reach_ = 0;
  std::vector<double> pmf_;
  std::vector<double> tail_;
};

struct Transcript {
  std::span<const Int128> excesses;
  std::span<const Verdict> verdicts;
  std::span<const Int128> gaps;  // empty: not told
};

// Of the questions [begin, end), which share one draw of the threshold's noise.
double run_probability(const Transcript& told, std::size_t begin, std::size_t end,
                       const Law& threshold, const Law& query) {
  double sum = 0;
  for (std::int64_t z = threshold.least(); z <= threshold.most(); ++z) {
    double product = threshold.pmf(z);
    for (std::size_t i = begin; i < end && product > 0; ++i) {
      const Int128 needed = z - told.excesses[i];
      if (told.verdicts[i] == Verdict::below) {
        product *= query.less_than(needed);
      } else if (told.gaps.empty()) {
        product *= query.at_least(needed);
      } else {
        product *= query.pmf(needed + told.gaps[i]);
      }
    }
    sum += product;
  }
  return sum;
}

void check(const SparseVector& spec, const Transcript& told) {
  validate(spec);
  const auto hits = std::count(told.verdicts.begin(), told.verdicts.end(), Verdict::above);
  const bool halted =
      std::find(told.verdicts.begin(), told.verdicts.end(), Verdict::halted) != told.verdicts.end();
  if (told.excesses.size() != told.verdicts.size() ||
      (!told.gaps.empty() && told.gaps.size() != told.verdicts.size()) || halted ||
      hits > spec.hits) {
    throw Error(ErrorCode::invalid_argument,
                "a transcript has one excess for each verdict, below or above, and no more hits "
                "than are paid for");
  }
}

double log_probability_of(const SparseVector& spec, const Transcript& told) {
  check(spec, told);
  for (std::size_t i = 0; i < told.gaps.size(); ++i) {
    if (told.verdicts[i] == Verdict::above && told.gaps[i] < 0) return -HUGE_VAL;
  }
  const Law threshold(spec.noise, spec.threshold_scale);
  const Law query(spec.noise, spec.query_scale);
  if (!spec.redraw) {
    return std::log(run_probability(told, 0, told.verdicts.size(), threshold, query));
  }
  double logarithm = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < told.verdicts.size(); ++i) {
    const bool last = i + 1 == told.verdicts.size();
    if (told.verdicts[i] != Verdict::above && !last) continue;
    logarithm += std::log(run_probability(told, begin, i + 1, threshold, query));
    begin = i + 1;
  }
  return logarithm;
}

}  // namespace

double log_probability(const SparseVector& spec, std::span<const Int128> excesses,
                       std::span<const Verdict> verdicts) {
  return log_probability_of(spec, {excesses, verdicts, {}});
}

double log_probability(const SparseVector& spec, std::span<const Int128> excesses,
                       std::span<const Verdict> verdicts, std::span<const Int128> gaps) {
  return log_probability_of(spec, {excesses, verdicts, gaps});
}

}  // namespace shoal::mechanism
