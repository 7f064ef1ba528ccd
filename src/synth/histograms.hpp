// All histograms of a given size over a universe, one after the other, with what each answers to
// linear queries. The order: by how many rows the first element has, from none up, then the second.
#pragma once

#include <shoal/synth/linear_queries.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::synth {

class HistogramWalk {
 public:
  // Answers are given times `rows`, in steps. Keeps a reference to the queries' values: they must
  // outlive it.
  HistogramWalk(std::span<const LinearQuery> queries, std::int64_t size, std::int64_t rows);

  template <class Visitor>
  void visit(Visitor&& visitor) const {
    std::vector<std::int64_t> levels((universe_ + 1) * queries_);
    descend(0, size_, levels.data(), visitor);
  }

  // The one that is visited as number `index`.
  std::vector<std::int64_t> histogram(std::int64_t index) const;

 private:
  // Gives `left` rows to the elements from this one on; `answers` are those of the elements before.
  template <class Visitor>
  void descend(std::size_t element, std::int64_t left, std::int64_t* answers,
               Visitor& visitor) const {
    const std::int64_t* values = values_.data() + element * queries_;
    std::int64_t* next = answers + queries_;
    if (element + 1 == universe_ || left == 0) {
      for (std::size_t q = 0; q < queries_; ++q) {
        next[q] = answers[q] + (left == 0 ? 0 : left * values[q]);
      }
      visitor(std::span<const std::int64_t>(next, queries_));
      return;
    }
    for (std::size_t q = 0; q < queries_; ++q) next[q] = answers[q];
    for (std::int64_t mine = 0;; ++mine) {
      descend(element + 1, left - mine, next, visitor);
      if (mine == left) return;
      for (std::size_t q = 0; q < queries_; ++q) next[q] += values[q];
    }
  }

  std::size_t universe_;
  std::size_t queries_;
  std::int64_t size_;
  std::vector<std::int64_t> values_;  // times rows; the queries of one element together
};

}  // namespace shoal::synth
