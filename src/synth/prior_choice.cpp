#include "synth/prior_choice.hpp"

#include <shoal/random/rounded_normal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace shoal::synth {
namespace {

// Variances of effects on logarithms: a scale of 2.5 is the weakly informative one of Gelman et al.
// (2008); the others are that, twice and halved.
constexpr std::array<double, 4> kVariances = {0.625 * 0.625, 1.25 * 1.25, 2.5 * 2.5, 5.0 * 5.0};
// The weaker they are, the longer fits take.
constexpr std::size_t kFirst = 1;

// Enough to see which is better.
constexpr int kMaxIterations = 1000;

// a of the header.
constexpr double kThinning = 0.5;

// Standard normal numbers are drawn on this grid.
constexpr double kGrid = 0x1p30;

class Contest {
 public:
  Contest(const std::vector<std::uint32_t>& sizes, std::span<const NoisyMarginal> measurements,
          const FitOptions& options, random::BitSource& bits)
      : sizes_(sizes),
        options_(options),
        fitted_(measurements.begin(), measurements.end()),
        held_(fitted_) {
    const random::RoundedNormalSampler normal(kGrid);
    for (std::size_t m = 0; m < fitted_.size(); ++m) {
      std::vector<std::int64_t> draws(fitted_[m].counts.size());
      normal.fill(draws, bits);
      const double sigma = fitted_[m].sigma;
      for (std::size_t i = 0; i < draws.size(); ++i) {
        const double z = sigma * static_cast<double>(draws[i]) / kGrid;
        fitted_[m].counts[i] += z * std::sqrt(kThinning);
        held_[m].counts[i] -= z / std::sqrt(kThinning);
      }
      fitted_[m].sigma = sigma * std::sqrt(1 + kThinning);
      sets_.push_back(fitted_[m].set);
    }
  }

  // Whether this prior is better than all before. Its fit starts from the best of them.
  bool enter(std::optional<double> variance, const GraphicalModel& start) {
    FitOptions mine = options_;
    mine.prior_variance = variance;
    GraphicalModel model = GraphicalModel::fit(sizes_, fitted_, mine, best_ ? &*best_ : &start);
    const double apart = distance_of(model);
    if (best_ && !(apart < least_)) return false;
    least_ = apart;
    variance_ = variance;
    best_.emplace(std::move(model));
    return true;
  }

  std::optional<double> best() const { return variance_; }

 private:
  double distance_of(const GraphicalModel& model) const {
    const auto expected = model.marginals(sets_, options_.threads);
    double sum = 0;
    for (std::size_t m = 0; m < held_.size(); ++m) {
      double squares = 0;
      for (std::size_t i = 0; i < expected[m].size(); ++i) {
        const double apart = held_[m].counts[i] - expected[m][i];
        squares += apart * apart;
      }
      sum += squares / (held_[m].sigma * held_[m].sigma);
    }
    return sum;
  }

  const std::vector<std::uint32_t>& sizes_;
  FitOptions options_;
  std::vector<NoisyMarginal> fitted_;
  std::vector<NoisyMarginal> held_;  // with the sigma of what was split: only ratios count
  std::vector<data::AttributeSet> sets_;
  std::optional<double> variance_;
  std::optional<GraphicalModel> best_;
  double least_ = 0;
};

}  // namespace

std::optional<double> choose_prior(const std::vector<std::uint32_t>& sizes,
                                   std::span<const NoisyMarginal> measurements,
                                   const FitOptions& options, const GraphicalModel& start,
                                   random::BitSource& bits) {
  FitOptions shorter = options;
  shorter.max_iterations = std::min(options.max_iterations, kMaxIterations);
  Contest contest(sizes, measurements, shorter, bits);
  contest.enter(kVariances[kFirst], start);
  bool stronger = false;
  for (std::size_t i = kFirst; i-- > 0 && contest.enter(kVariances[i], start);) stronger = true;
  if (!stronger) {
    for (std::size_t i = kFirst + 1; i < kVariances.size(); ++i) {
      if (!contest.enter(kVariances[i], start)) break;
    }
  }
  contest.enter(std::nullopt, start);
  return contest.best();
}

}  // namespace shoal::synth
