#include "privacy/lattice_sum.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/fft.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>

namespace shoal::privacy {
namespace {

// Exponentials along the lattice are running products, started afresh so often.
constexpr std::size_t kFresh = 64;
constexpr std::size_t kBlock = 512;

// Transforms of a size keep their tables: the same sizes come again and again.
numeric::RealFft& transform_of(std::size_t size) {
  thread_local std::map<std::size_t, numeric::RealFft> transforms;
  constexpr std::size_t kKept = 8;
  if (transforms.size() > kKept) transforms.clear();
  return transforms.try_emplace(size, size).first->second;
}

struct TiltedLaw {
  std::vector<double> weight;  // normalised
  double log_moment = 0;
  double mean = 0;      // of the index
  double variance = 0;  // in steps squared
  double error = 0;     // relative, of the weights and of the moment
};

TiltedLaw tilt_law(const LatticeLaw& law, double tilt) {
  TiltedLaw result;
  result.weight.resize(law.mass.size());
  // The largest exponent first, so that nothing overflows.
  double largest = -HUGE_VAL;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    SHOAL_CHECK(!std::isnan(law.mass[i]));
    if (law.mass[i] > 0) {
      largest = std::max(largest, std::log(law.mass[i]) + tilt * law.loss(static_cast<double>(i)));
    }
  }
  if (largest == -HUGE_VAL) {
    result.log_moment = -HUGE_VAL;
    return result;
  }
  // In blocks, so that few roundings follow one another.
  double sum = 0;
  double block = 0;
  double mean = 0;
  double exponent_error = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (i % kBlock == 0) {
      sum += block;
      block = 0;
    }
    const double exponent = tilt * law.loss(static_cast<double>(i)) - largest;
    const double weight = law.mass[i] > 0 ? law.mass[i] * std::exp(exponent) : 0;
    result.weight[i] = weight;
    block += weight;
    mean += weight * static_cast<double>(i);
    exponent_error += weight * std::abs(exponent);
  }
  sum += block;
  mean /= sum;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    result.weight[i] /= sum;
    const double offset = static_cast<double>(i) - mean;
    result.variance += result.weight[i] * offset * offset;
  }
  result.mean = mean;
  result.log_moment = largest + std::log(sum);
  const std::size_t additions = law.mass.size() / kBlock + kBlock;  // into one sum
  result.error = kRounding * (16 + 4 * exponent_error / sum + 4 * std::abs(largest) +
                              static_cast<double>(additions) + 64);
  return result;
}

// No steeper than this, so that a power that vanishes at the start of a block is nothing at its end
// either.
constexpr double kSteepest = 7;

// ln E[e^{rise * (index - mean)}] under the tilted law, a little above. |rise| <= kSteepest.
double log_rise(const TiltedLaw& law, double rise) {
  double sum = 0;
  double power = 0;
  const double factor = std::exp(rise);
  for (std::size_t i = 0; i < law.weight.size(); ++i) {
    if (i % kFresh == 0) power = std::exp(rise * (static_cast<double>(i) - law.mean));
    if (law.weight[i] > 0) sum += law.weight[i] * power;
    power *= factor;
  }
  return std::log(sum) + 1e-9;
}

// Where all of a sum of few parts is no longer than this, finding out which part of it would do
// costs more than it saves.
constexpr double kFewParts = 8;
constexpr double kSmallReach = 1 << 14;

// How far from the mean the tilted sum reaches, but for `tail`, by Chernoff's bound.
double reach(const std::vector<TiltedLaw>& laws, const std::vector<LatticePart>& parts,
             double direction, double tail, double limit, double& left_over) {
  double variance = 0;
  double farthest = 1;
  double count = 0;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    count += parts[k].count;
    const double last = static_cast<double>(laws[k].weight.size() - 1);
    variance += parts[k].count * laws[k].variance;
    farthest += parts[k].count * (direction > 0 ? last - laws[k].mean : laws[k].mean);
  }
  left_over = 0;
  if (count <= kFewParts && farthest <= std::min(kSmallReach, limit)) return farthest;
  // The width at which the bound with this rise is the tail; it has one minimum in the rise.
  const double wanted = -std::log(tail);
  const auto width_at = [&](double rise) {
    double sum = wanted;
    for (std::size_t k = 0; k < laws.size(); ++k) {
      sum += parts[k].count * log_rise(laws[k], direction * rise);
    }
    return sum / rise + 1;
  };
  // The best rise for a normal sum first; skewed ones need far smaller ones.
  double rise = std::min(kSteepest / 2, std::sqrt(2 * wanted / std::max(variance, 1e-6)));
  double width = width_at(rise);
  for (int halving = 0; halving < 60; ++halving) {
    const double next = width_at(rise / 2);
    if (std::isfinite(width) && !(next < width)) break;
    rise /= 2;
    width = next;
  }
  for (const double factor : {1.4, 0.7}) width = std::min(width, width_at(factor * rise));
  if (!(width < farthest)) return farthest;
  left_over = tail;
  return width;
}

}  // namespace

std::optional<LatticeSum> LatticeSum::compose(const std::vector<LatticePart>& parts, double tilt,
                                              Side side, std::size_t largest, double tail) {
  LatticeSum sum;
  sum.side_ = side;
  sum.tilt_ = tilt;
  sum.step_ = parts.front().law->step;
  std::vector<TiltedLaw> laws;
  double base_index_mean = 0;  // of the sum, relative to the integers below
  double base = 0;
  double count_total = 0;
  double variance = 0;
  double kept = 0;  // ln of the chance that nothing is infinite
  std::vector<double> centre;
  for (const LatticePart& part : parts) {
    laws.push_back(tilt_law(*part.law, tilt));
    const TiltedLaw& law = laws.back();
    if (law.log_moment == -HUGE_VAL) return std::nullopt;
    centre.push_back(std::round(law.mean));
    base += part.count * part.law->loss(centre.back());
    base_index_mean += part.count * (law.mean - centre.back());
    sum.log_moment_ += part.count * law.log_moment;
    sum.relative_error_ += part.count * law.error;
    sum.loss_error_ += part.count * (part.law->loss_error +
                                     4 * kRounding * std::abs(part.law->loss(centre.back())));
    variance += part.count * law.variance;
    count_total += part.count;
    kept += part.count * std::log1p(-std::min(part.law->infinite, 1 - 0x1p-53));
  }
  sum.infinite_ =
      side == Side::upper ? -std::expm1(kept) * (1 + 1e-12) : -std::expm1(kept) * (1 - 1e-12);

  const double limit = static_cast<double>(largest);
  const double above = reach(laws, parts, 1, tail, limit, sum.outside_high_);
  const double below = reach(laws, parts, -1, tail, limit, sum.outside_low_);
  const double wanted = above + below + 4;
  if (!(wanted <= limit)) return std::nullopt;
  const std::size_t size =
      std::max<std::size_t>(8, std::bit_ceil(static_cast<std::size_t>(wanted)));
  const double first = std::round(base_index_mean) - std::floor(below) - 2;

  numeric::RealFft& fft = transform_of(size);
  const double root = std::sqrt(static_cast<double>(size));
  const double transform_error = numeric::kFftErrorPerLevel * fft.levels();
  std::vector<std::complex<double>> product;
  double product_error = 0;
  std::vector<double> values;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    values.assign(size, 0);
    double square = 0;
    for (std::size_t i = 0; i < laws[k].weight.size(); ++i) {
      const auto index = static_cast<std::int64_t>(static_cast<double>(i) - centre[k]);
      values[static_cast<std::size_t>(index) & (size - 1)] += laws[k].weight[i];
    }
    for (const double value : values) square += value * value;
    product_error += parts[k].count * transform_error * root * std::sqrt(square);
    const auto spectrum = fft.forward(values);
    const double count = parts[k].count;
    if (product.empty()) product.assign(spectrum.size(), 1.0);
    for (std::size_t j = 0; j < spectrum.size(); ++j) {
      if (count == 1) {
        product[j] *= spectrum[j];
        continue;
      }
      const double square_size = std::norm(spectrum[j]);
      if (square_size == 0) {
        product[j] = 0;
        continue;
      }
      const double log_power = count * std::log(square_size) / 2;
      if (log_power < -100) {  // nothing next to the rounding error
        product[j] = 0;
        continue;
      }
      const double size_power = std::exp(log_power);
      const double angle = std::remainder(count * std::arg(spectrum[j]), 2 * std::numbers::pi);
      product[j] *= std::polar(size_power, angle);
    }
  }
  std::vector<double> circular = fft.inverse(product);
  double norm = 0;
  for (const double value : circular) norm += value * value;
  norm = std::sqrt(norm);
  sum.norm_error_ = product_error * std::exp(std::min(product_error, 50.0)) / root +
                    (24 * kRounding * count_total + transform_error) * norm;
  sum.value_.resize(size);
  for (std::size_t n = 0; n < size; ++n) {
    const auto index = static_cast<std::int64_t>(first) + static_cast<std::int64_t>(n);
    sum.value_[n] = circular[static_cast<std::size_t>(index) & (size - 1)];
  }
  sum.base_ = base + sum.step_ * first;
  return sum;
}

double LatticeSum::log_delta(double epsilon) const {
  const double target = side_ == Side::upper ? epsilon - loss_error_ : epsilon + loss_error_;
  const double scale = log_moment_ - tilt_ * target;
  const double position = (target - base_) / step_;
  if (position >= static_cast<double>(value_.size() - 1)) {
    // Everything over epsilon is outside of the window.
    if (side_ == Side::lower) return -HUGE_VAL;
    return scale + std::log(outside_high_) + relative_error_;
  }
  const auto start = static_cast<std::size_t>(std::max(0.0, std::floor(position) + 1));
  double sum = 0;
  double square = 0;
  const double tilt_factor = std::exp(-tilt_ * step_);
  const double loss_factor = std::exp(-step_);
  const double loss_rest = -std::expm1(-step_);
  double weight = 0;
  double stick = 0;
  for (std::size_t n = start; n < value_.size(); ++n) {
    if ((n - start) % kFresh == 0) {
      const double excess = loss(n) - target;
      if (tilt_ * excess > 80) break;  // left out: see below
      weight = std::exp(-tilt_ * excess);
      stick = -std::expm1(-excess);
    }
    const double part = weight * stick;
    sum += value_[n] * part;
    square += part * part;
    weight *= tilt_factor;
    stick = stick * loss_factor + loss_rest;
  }
  // What is left out, and what wraps around, is at most e^-80 and the outside of the whole.
  // The relative error is one of the whole tilted law, whose mass is 1.
  const double slack = norm_error_ * std::sqrt(square) + 1e-34 + 1e-12 * std::abs(sum) +
                       std::expm1(std::min(relative_error_, 50.0));
  if (side_ == Side::upper) {
    // Under the window lies what wrapped away from it.
    const double missing = position < 0 ? outside_low_ : 0;
    return scale + std::log(std::max(0.0, sum) + slack + outside_high_ + missing);
  }
  const double least = sum - slack - outside_low_ - outside_high_;
  return least > 0 ? scale + std::log(least) : -HUGE_VAL;
}

}  // namespace shoal::privacy
