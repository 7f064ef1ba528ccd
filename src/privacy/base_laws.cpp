#include "privacy/base_laws.hpp"

#include "privacy/atom_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal::privacy {
namespace {

struct PairAtom {
  double loss;
  double with;     // mass of the output with the person
  double without;  // and without
};

// `told` is what lies at infinity, with the same mass on the other side.
LawPointer make_law(const std::vector<PairAtom>& pairs, double told,
                    const std::optional<Sampling>& sampling, double mass_error = 0,
                    double uncertain = 0) {
  std::vector<Atom> atoms;
  atoms.reserve(pairs.size() + 1);
  if (!sampling) {
    for (const PairAtom& pair : pairs) atoms.push_back({pair.loss, pair.with});
    return std::make_shared<AtomLaw>(std::move(atoms), told, mass_error, 0, uncertain);
  }
  const double rate = sampling->rate;
  for (const PairAtom& pair : pairs) {
    const double loss = log_mixed(rate, pair.loss);
    if (sampling->added) {
      atoms.push_back({-loss, pair.without});
    } else {
      atoms.push_back({loss, (1 - rate) * pair.without + rate * pair.with});
    }
  }
  // What only the output without the person can show.
  const double least = std::log1p(-rate);
  if (told > 0) {
    atoms.push_back(sampling->added ? Atom{-least, told} : Atom{least, (1 - rate) * told});
  }
  const double infinite = sampling->added ? 0 : rate * told;
  return std::make_shared<AtomLaw>(std::move(atoms), infinite, mass_error + 4 * kRounding, 0,
                                   uncertain);
}

}  // namespace

LawPointer response_law(double epsilon, double categories, double delta,
                        std::optional<Sampling> sampling) {
  const double down = std::exp(-epsilon);
  const double kept = (1 - delta) / (1 + (categories - 1) * down);
  std::vector<PairAtom> pairs = {{epsilon, kept, kept * down}, {-epsilon, kept * down, kept}};
  if (epsilon == 0) pairs = {{0, 1 - delta, 1 - delta}};
  if (categories > 2 && epsilon > 0) {
    pairs.push_back({0, kept * down * (categories - 2), kept * down * (categories - 2)});
  }
  return make_law(pairs, delta, sampling);
}

LawPointer discrete_laplace_law(double scale, double steps, std::optional<Sampling> sampling) {
  const double ratio = std::exp(-1 / scale);
  const double all = 1 + ratio;
  const double point = -std::expm1(-1 / scale) / all;
  std::vector<PairAtom> pairs;
  pairs.push_back({steps / scale, 1 / all, std::exp(-steps / scale) / all});
  pairs.push_back({-steps / scale, std::exp(-steps / scale) / all, 1 / all});
  const auto between = static_cast<int>(std::ceil(steps));
  for (int count = 1; count < between; ++count) {
    const double x = count;
    pairs.push_back({(2 * x - steps) / scale, point * std::exp(-(steps - x) / scale),
                     point * std::exp(-x / scale)});
  }
  return make_law(pairs, 0, sampling, 8 * kRounding * (1 + steps / scale));
}

Component discrete_laplace_laws(double scale, double steps) {
  if (steps <= kLargestSummedSteps) {
    const LawPointer law = discrete_laplace_law(scale, steps, std::nullopt);
    return {law, law, 1};
  }
  const double ratio = std::exp(-1 / scale);
  const double all = 1 + ratio;
  if (steps / scale > 500) {
    // What lies between the ends is next to nothing, and its ratios leave the range of doubles.
    return {response_law(steps / scale, 2, 0, std::nullopt),
            std::make_shared<AtomLaw>(std::vector<Atom>{{steps / scale, 1 / all}}, 0), 1};
  }
  std::vector<Atom> upper = {{steps / scale, 1 / all},
                             {-steps / scale, std::exp(-steps / scale) / all}};
  std::vector<Atom> lower = upper;
  const double block = std::ceil(steps / kLargestSummedSteps);
  const double width = 2 * (block - 1) / scale;
  for (int index = 0; 1 + index * block < steps; ++index) {
    const double first = 1 + index * block;
    const double last = std::min(first + block - 1, steps - 1);
    const double sum = -std::expm1(-(last - first + 1) / scale) / all;
    const double with = std::exp(-(steps - last) / scale) * sum;
    const double without = std::exp(-first / scale) * sum;
    const double low = (2 * first - steps) / scale;
    const double high = (2 * last - steps) / scale;
    lower.push_back({std::log(with / without), with});
    // Spread to the first and the last loss of the block, keeping both masses.
    const double excess = with / without * std::exp(-low) - 1;
    const double share = high > low ? std::clamp(excess / std::expm1(high - low), 0.0, 1.0) : 0;
    upper.push_back({high, without * share * std::exp(high)});
    upper.push_back({low, without * (1 - share) * std::exp(low)});
  }
  const double error = kRounding * (64 + 16 * steps / scale) * (1 + (width > 0 ? 4 / width : 0));
  return {std::make_shared<AtomLaw>(std::move(upper), 0, error, kRounding * 8 * steps / scale),
          std::make_shared<AtomLaw>(std::move(lower), 0, 64 * kRounding * (1 + steps / scale),
                                    64 * kRounding * (1 + steps / scale)),
          1};
}

LawPointer discrete_gaussian_law(double sigma, double steps, std::optional<Sampling> sampling) {
  // 30 standard deviations; what is beyond, less than e^-449, is at infinity.
  constexpr double kReach = 30;
  const double last = std::ceil(kReach * sigma);
  const auto end = static_cast<std::int64_t>(last);
  const auto weight = [&](double x) { return std::exp(-x / sigma * (x / sigma) / 2); };
  double total = 1;
  for (std::int64_t x = 1; x <= end; ++x) total += 2 * weight(static_cast<double>(x));
  std::vector<PairAtom> pairs;
  for (std::int64_t index = -end; index <= end + static_cast<std::int64_t>(steps); ++index) {
    const auto x = static_cast<double>(index);
    pairs.push_back({(2 * x - steps) * steps / (2 * sigma * sigma), weight(x - steps) / total,
                     weight(x) / total});
  }
  return make_law(pairs, 0, sampling, kRounding * (8 * kReach * kReach + 4 * last + 16),
                  4 * std::exp(-kReach * kReach / 2));
}

WideNoise wide_discrete_gaussian(double sigma, double steps) {
  constexpr double kReach = 20;
  // Around the one mean, and around the other as far away as that is.
  const auto ratio = [&](double z) { return 1.1 * (z * z + 1) / (24 * sigma * sigma); };
  const double mass = ratio(kReach);
  const double both = mass + ratio(kReach + steps / sigma);
  return {mass, both, both + steps / (sigma * sigma), 8 * std::exp(-kReach * kReach / 2)};
}

LawPointer shuffled_response_law(double epsilon, double users) {
  // b(j), the chance of j ones among the other users, relative to its mode, outwards.
  const double chance = 1 / (std::exp(epsilon) + 1);
  const double others = users - 1;
  const double mode = std::floor(users * chance);
  const double reach = 30 * std::sqrt(others * chance * (1 - chance)) + 30;
  const double first = std::max(0.0, std::floor(mode - reach));
  const double last = std::min(others, std::ceil(mode + reach));
  const auto size = static_cast<std::size_t>(last - first + 1);
  const auto at_mode = static_cast<std::size_t>(std::clamp(mode, first, last) - first);
  std::vector<double> pmf(size, 0);
  pmf[at_mode] = 1;
  const double odds = chance / (1 - chance);
  for (std::size_t k = at_mode + 1; k < size; ++k) {
    const double j = first + static_cast<double>(k);
    pmf[k] = pmf[k - 1] * (others - j + 1) / j * odds;
  }
  for (std::size_t k = at_mode; k-- > 0;) {
    const double j = first + static_cast<double>(k);
    pmf[k] = pmf[k + 1] * (j + 1) / (others - j) / odds;
  }
  double total = 0;
  for (const double value : pmf) total += value;
  std::vector<Atom> atoms;
  for (std::size_t k = 0; k <= size; ++k) {
    const double here = k < size ? pmf[k] / total : 0;
    const double before = k > 0 ? pmf[k - 1] / total : 0;
    const double one = chance * here + (1 - chance) * before;
    const double zero = (1 - chance) * here + chance * before;
    if (one > 0 && zero > 0) atoms.push_back({std::log(one / zero), one});
  }
  const double error = 16 * kRounding * (static_cast<double>(size) + 16);
  return std::make_shared<AtomLaw>(std::move(atoms), 0, error + std::exp(-100), error);
}

std::vector<double> binomial_weights(double rate, int size) {
  std::vector<double> weights;
  double choose = 1;
  for (int j = 0; j <= size; ++j) {
    weights.push_back(choose * std::pow(rate, j) * std::pow(1 - rate, size - j));
    choose = choose * (size - j) / (j + 1);
  }
  return weights;
}

}  // namespace shoal::privacy
