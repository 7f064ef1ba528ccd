// A small domain with a cycle of marginals, and densities and tables over all of it, cell by cell:
// what belief propagation and its products are checked against.
#pragma once

#include "support/seeded_source.hpp"

#include <shoal/data/attribute_set.hpp>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace shoal::synth {

using data::AttributeSet;

inline const std::vector<std::uint32_t> kSizes = {2, 3, 2, 4, 1, 3};
inline const std::vector<AttributeSet> kSets = {
    AttributeSet::of({0, 1}), AttributeSet::of({1, 2, 4}), AttributeSet::of({2, 3}),
    AttributeSet::of({3, 0}), AttributeSet::of({5})};

inline double uniform(test::SeededSource& bits) {
  return std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
}

inline std::vector<std::size_t> codes_of(std::size_t cell,
                                         const std::vector<std::uint32_t>& sizes) {
  std::vector<std::size_t> codes(sizes.size());
  for (std::size_t j = sizes.size(); j-- > 0; cell /= sizes[j]) codes[j] = cell % sizes[j];
  return codes;
}

inline std::size_t project(const std::vector<std::size_t>& codes, AttributeSet set,
                           const std::vector<std::uint32_t>& sizes) {
  std::size_t cell = 0;
  for (const std::size_t j : set.members()) cell = cell * sizes[j] + codes[j];
  return cell;
}

inline std::vector<double> brute_marginal(const std::vector<double>& joint, AttributeSet set,
                                          const std::vector<std::uint32_t>& sizes) {
  std::vector<double> table(static_cast<std::size_t>(data::cell_count(sizes, set)));
  for (std::size_t cell = 0; cell < joint.size(); ++cell) {
    table[project(codes_of(cell, sizes), set, sizes)] += joint[cell];
  }
  return table;
}

struct BruteForce {
  std::vector<double> joint;
  double log_constant;
};

inline BruteForce brute_force(const std::vector<std::vector<double>>& potentials) {
  const std::size_t cells =
      std::accumulate(kSizes.begin(), kSizes.end(), std::size_t{1}, std::multiplies<>());
  BruteForce result{std::vector<double>(cells), 0};
  double total = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    for (std::size_t p = 0; p < kSets.size(); ++p) {
      sum += potentials[p][project(codes_of(cell, kSizes), kSets[p], kSizes)];
    }
    result.joint[cell] = std::exp(sum);
    total += result.joint[cell];
  }
  for (double& cell : result.joint) cell /= total;
  result.log_constant = std::log(total);
  return result;
}

inline std::vector<std::vector<double>> random_potentials(std::uint64_t seed, double width) {
  test::SeededSource bits(seed);
  std::vector<std::vector<double>> potentials;
  for (const AttributeSet set : kSets) {
    potentials.emplace_back(static_cast<std::size_t>(data::cell_count(kSizes, set)));
    for (double& cell : potentials.back()) cell = width * (uniform(bits) - 0.5);
  }
  return potentials;
}

}  // namespace shoal::synth
