#include "synth/components.hpp"

#include "synth/table_projection.hpp"

#include <algorithm>
#include <map>

namespace shoal::synth {

using data::AttributeSet;

void centre(std::span<const std::uint32_t> sizes, AttributeSet set, std::span<double> table) {
  std::size_t inner = table.size();
  for (const std::size_t column : set.members()) {
    const std::size_t size = sizes[column];
    inner /= size;
    const double share = 1.0 / static_cast<double>(size);
    for (std::size_t block = 0; block < table.size(); block += size * inner) {
      double* from = table.data() + block;
      if (inner == 1) {
        double mean = 0;
        for (std::size_t v = 0; v < size; ++v) mean += from[v];
        mean *= share;
        for (std::size_t v = 0; v < size; ++v) from[v] -= mean;
        continue;
      }
      for (std::size_t i = 0; i < inner; ++i) {
        double mean = 0;
        for (std::size_t v = 0; v < size; ++v) mean += from[v * inner + i];
        mean *= share;
        for (std::size_t v = 0; v < size; ++v) from[v * inner + i] -= mean;
      }
    }
  }
}

std::vector<Component> components_of(std::span<const std::uint32_t> sizes,
                                     std::span<const NoisyMarginal> marginals) {
  std::map<AttributeSet, Component> parts;
  for (const NoisyMarginal& marginal : marginals) {
    const std::uint64_t all = marginal.set.bits();
    for (std::uint64_t bits = all; bits != 0; bits = (bits - 1) & all) {
      const AttributeSet set(bits);
      const TableProjection projection(sizes, marginal.set, set);
      std::vector<double> sums(projection.small_cells());
      projection.add_up(marginal.counts, sums);
      const std::size_t added = marginal.counts.size() / sums.size();
      const double precision = 1 / (marginal.sigma * marginal.sigma * static_cast<double>(added));
      Component& part = parts[set];
      part.set = set;
      part.target.resize(sums.size());
      part.precision += precision;
      for (std::size_t i = 0; i < sums.size(); ++i) part.target[i] += precision * sums[i];
    }
  }
  std::vector<Component> result;
  for (auto& [set, part] : parts) {
    for (double& value : part.target) value /= part.precision;
    centre(sizes, set, part.target);
    result.push_back(std::move(part));
  }
  std::stable_sort(result.begin(), result.end(), [](const Component& a, const Component& b) {
    return a.set.size() > b.set.size();
  });
  return result;
}

std::vector<AttributeSet> largest_of(std::span<const AttributeSet> sets) {
  std::vector<AttributeSet> largest;
  for (const AttributeSet set : sets) {
    const bool covered = std::any_of(sets.begin(), sets.end(), [&](AttributeSet other) {
      return other != set && set.within(other);
    });
    if (!covered && std::find(largest.begin(), largest.end(), set) == largest.end()) {
      largest.push_back(set);
    }
  }
  return largest;
}

}  // namespace shoal::synth
