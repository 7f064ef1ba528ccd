#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/simulation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace shoal::mechanism {
namespace {

using numeric::BigInt;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// As a fraction, unless that is too long to read, and as a decimal.
std::string shown(const Rational& value) {
  constexpr std::size_t kLongest = 60;
  const std::string fraction = value.str();
  if (denominator(value) == 1 && fraction.size() <= kLongest) return fraction;
  const std::string decimal = format_rounded(value.convert_to<double>(), 6);
  return fraction.size() > kLongest ? "about " + decimal
                                    : fmt::format("{} (about {})", fraction, decimal);
}

void check_parameters(const Rational& alpha, const Rational& delta) {
  if (alpha < 1) {
    refuse(
        fmt::format("alpha is {}; it stands for e^epsilon and must be at least 1", shown(alpha)));
  }
  if (delta < 0 || delta > 1) {
    refuse(fmt::format("delta is {}; it must be from 0 to 1", shown(delta)));
  }
}

void check_distribution(std::span<const Rational> chances) {
  if (chances.empty()) refuse("a distribution over no outcomes; give at least one chance");
  Rational sum = 0;
  for (const Rational& chance : chances) {
    if (chance < 0) {
      refuse(fmt::format("a chance is {}; it must not be negative", shown(chance)));
    }
    sum += chance;
  }
  if (sum != 1)
    refuse(fmt::format("the chances sum to {}; they must sum to exactly 1", shown(sum)));
}

void check_pair(std::span<const Rational> first, std::span<const Rational> second) {
  if (first.size() != second.size()) {
    refuse(fmt::format("distributions over {} and {} outcomes; give both the same outcomes",
                       first.size(), second.size()));
  }
  check_distribution(first);
  check_distribution(second);
}

using Chances = std::vector<Rational>;

Chances to_vector(std::span<const Rational> chances) { return {chances.begin(), chances.end()}; }

// min(first, alpha * second) at every outcome: what of `first` the other one covers.
Chances covered(std::span<const Rational> first, std::span<const Rational> second,
                const Rational& alpha) {
  Chances result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Rational cap = alpha * second[i];
    result.push_back(first[i] < cap ? first[i] : cap);
  }
  return result;
}

Rational mass_of(const Chances& chances) {
  Rational sum = 0;
  for (const Rational& chance : chances) sum += chance;
  return sum;
}

// Moves the heavier one towards lighter / alpha until it has the lighter one's mass. On the way it
// stays between the two, so neither ratio passes alpha.
void lighten(Chances& heavy, const Chances& light, const Rational& alpha) {
  const Rational heavy_mass = mass_of(heavy);
  const Rational light_mass = mass_of(light);
  const Rational share =
      Rational(heavy_mass - light_mass) / Rational(heavy_mass - light_mass / alpha);
  for (std::size_t i = 0; i < heavy.size(); ++i) {
    heavy[i] += share * Rational(light[i] / alpha - heavy[i]);
  }
}

void scale(Chances& chances, const Rational& mass) {
  const Rational factor = mass / mass_of(chances);
  for (Rational& chance : chances) chance *= factor;
}

// (a * first - b * second) / c
Chances combination(const Rational& a, std::span<const Rational> first, const Rational& b,
                    std::span<const Rational> second, const Rational& c) {
  Chances result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    result.push_back(Rational(a * first[i] - b * second[i]) / c);
  }
  return result;
}

void check_claim(std::span<const Rational> first, std::span<const Rational> second,
                 const Rational& alpha, const Rational& delta) {
  const Rational least = least_delta(first, second, alpha);
  if (least <= delta) return;
  refuse(
      fmt::format("the pair is not this private: at alpha {} the two differ by {} more than "
                  "delta {} allows; the least delta that works is {}",
                  shown(alpha), shown(least - delta), shown(delta), shown(least)));
}

BigInt uniform_below(const BigInt& bound, random::BitSource& bits) {
  const BigInt last = bound - 1;
  const int width = last == 0 ? 0 : static_cast<int>(msb(last)) + 1;
  while (true) {
    BigInt candidate = 0;
    for (int left = width; left > 0; left -= 64) {
      const int taken = std::min(left, 64);
      candidate = (candidate << taken) | bits.next_bits(taken);
    }
    if (candidate < bound) return candidate;
  }
}

}  // namespace

LeakyPmf leaky_pmf(const Rational& alpha, const Rational& delta, int truth) {
  check_parameters(alpha, delta);
  if (truth != 0 && truth != 1) refuse(fmt::format("the truth is {}; give 0 or 1", truth));
  const Rational likely = (1 - delta) * alpha / (1 + alpha);
  const Rational unlikely = (1 - delta) / (1 + alpha);
  if (truth == 0) return {likely, unlikely, delta, 0};
  return {unlikely, likely, 0, delta};
}

Rational hockey_stick(std::span<const Rational> first, std::span<const Rational> second,
                      const Rational& alpha) {
  check_pair(first, second);
  check_parameters(alpha, 0);
  return 1 - mass_of(covered(first, second, alpha));
}

Rational least_delta(std::span<const Rational> first, std::span<const Rational> second,
                     const Rational& alpha) {
  return std::max(hockey_stick(first, second, alpha), hockey_stick(second, first, alpha));
}

Simulation::Simulation(std::array<std::vector<Rational>, kLeakyReports> rows)
    : rows_(std::move(rows)) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].size() != rows_.front().size())
      refuse("rows of different lengths; give one length");
    check_distribution(rows_[i]);
    Weights& weights = weights_[i];
    weights.denominator = 1;
    for (const Rational& chance : rows_[i]) {
      weights.denominator = lcm(weights.denominator, denominator(chance));
    }
    BigInt sum = 0;
    for (const Rational& chance : rows_[i]) {
      sum += numerator(chance) * BigInt(weights.denominator / denominator(chance));
      weights.cumulative.push_back(sum);
    }
  }
}

const std::vector<Rational>& Simulation::row(LeakyReport report) const {
  const auto index = static_cast<std::size_t>(report);
  if (index >= kLeakyReports) refuse(fmt::format("report {}; give 0 to 3", index));
  return rows_[index];
}

std::vector<Rational> Simulation::apply(const LeakyPmf& report_chances) const {
  check_distribution(report_chances);
  Chances result(outcomes(), Rational(0));
  for (std::size_t i = 0; i < kLeakyReports; ++i) {
    for (std::size_t j = 0; j < result.size(); ++j) result[j] += report_chances[i] * rows_[i][j];
  }
  return result;
}

std::size_t Simulation::sample(LeakyReport report, random::BitSource& bits) const {
  row(report);
  const Weights& weights = weights_[static_cast<std::size_t>(report)];
  const BigInt number = uniform_below(weights.denominator, bits);
  const auto found = std::upper_bound(weights.cumulative.begin(), weights.cumulative.end(), number);
  return static_cast<std::size_t>(found - weights.cumulative.begin());
}

Simulation simulate(std::span<const Rational> first, std::span<const Rational> second,
                    const Rational& alpha, const Rational& delta) {
  check_pair(first, second);
  check_parameters(alpha, delta);
  check_claim(first, second, alpha, delta);
  // Reports that never come may do anything.
  if (delta == 1) {
    return Simulation({to_vector(first), to_vector(second), to_vector(first), to_vector(second)});
  }
  Chances from_zero = covered(first, second, alpha);
  Chances from_one = covered(second, first, alpha);
  const Rational zero_mass = mass_of(from_zero);
  const Rational one_mass = mass_of(from_one);
  if (zero_mass > one_mass) lighten(from_zero, from_one, alpha);
  if (one_mass > zero_mass) lighten(from_one, from_zero, alpha);
  const Rational kept = 1 - delta;
  scale(from_zero, kept);
  scale(from_one, kept);
  const Rational gap = kept * Rational(alpha - 1);
  const bool equal = alpha == 1;  // then both parts are the same
  Chances zero = equal ? combination(1, from_zero, 0, from_one, kept)
                       : combination(alpha, from_zero, 1, from_one, gap);
  Chances one = equal ? combination(1, from_one, 0, from_zero, kept)
                      : combination(alpha, from_one, 1, from_zero, gap);
  if (delta == 0) {
    return Simulation({std::move(zero), std::move(one), to_vector(first), to_vector(second)});
  }
  return Simulation({std::move(zero), std::move(one), combination(1, first, 1, from_zero, delta),
                     combination(1, second, 1, from_one, delta)});
}

}  // namespace shoal::mechanism
