#include "synth/histograms.hpp"

#include <shoal/base/error.hpp>
#include <shoal/synth/blr.hpp>

namespace shoal::synth {

HistogramWalk::HistogramWalk(std::span<const LinearQuery> queries, std::int64_t size,
                             std::int64_t rows)
    : universe_(queries.empty() ? 0 : queries[0].steps.size()),
      queries_(queries.size()),
      size_(size) {
  SHOAL_CHECK(universe_ > 0);
  values_.resize(universe_ * queries_);
  for (std::size_t q = 0; q < queries_; ++q) {
    for (std::size_t i = 0; i < universe_; ++i)
      values_[i * queries_ + q] = rows * queries[q].steps[i];
  }
}

std::vector<std::int64_t> HistogramWalk::histogram(std::int64_t index) const {
  std::vector<std::int64_t> result(universe_);
  std::int64_t left = size_;
  for (std::size_t element = 0; element + 1 < universe_ && left > 0; ++element) {
    const auto others = static_cast<std::int64_t>(universe_ - element - 1);
    for (std::int64_t mine = 0; mine <= left; ++mine) {
      const std::int64_t below = blr_candidates(others, left - mine);
      if (index < below) {
        result[element] = mine;
        break;
      }
      index -= below;
    }
    left -= result[element];
  }
  result[universe_ - 1] += left;
  return result;
}

}  // namespace shoal::synth
