// Choices of the generators, reproducible from a number.
#pragma once

#include "support/seeded_source.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace shoal::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}

  // From 0 to limit - 1.
  std::size_t below(std::size_t limit) { return bits_.next_bits(48) % limit; }
  // One time in so many.
  bool one_in(std::size_t times) { return below(times) == 0; }

  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  std::string pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + below(choices.size()));
  }

 private:
  SeededSource bits_;
};

}  // namespace shoal::test
