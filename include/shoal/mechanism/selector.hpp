// Private selection, carried out: candidates are offered one after the other, each with its score,
// and the winners are named at the end. One pass, memory for the winners only, so candidates may be
// streamed and need not be kept.
//
// The order of two noisy scores is always the mathematical one. A first look with 64 digits of each
// decides all but about 2^-46 of the comparisons; the others draw more digits until they are
// decided. No floating point takes part.
#pragma once

#include <shoal/mechanism/selection.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace shoal::mechanism {

class Selector {
 public:
  // Keeps a reference to `bits`. Throws invalid_argument if the scale or the count is out of range.
  Selector(const SelectionNoise& noise, random::BitSource& bits);
  // As above, with fewer digits at the first look. The law is the same; only tests have a use for
  // it.
  Selector(const SelectionNoise& noise, random::BitSource& bits, int first_bits);
  // Not to be copied: two copies would use the same noise twice.
  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;
  ~Selector();

  // Candidates are numbered from 0 in the order in which they are offered. Throws invalid_argument
  // if the score is out of range (without naming it: scores are secret), and then forgets nothing.
  void offer(Int128 score);
  void offer(std::span<const Int128> scores);
  std::size_t offered() const;

  // Who won so far, the highest first. Only the last call, when all candidates have been offered,
  // may be published: what is known earlier is not private. Throws invalid_argument if there are
  // fewer candidates than shall be chosen, and unavailable if the source failed on the way.
  std::vector<std::size_t> result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A selector for a spec, and a selection from candidates that are all there.
template <class Spec>
Selector make_selector(const Spec& spec, random::BitSource& bits) {
  return Selector(selection_noise(spec), bits);
}

template <class Spec>
std::vector<std::size_t> select(const Spec& spec, std::span<const Int128> scores,
                                random::BitSource& bits) {
  Selector selector = make_selector(spec, bits);
  selector.offer(scores);
  return selector.result();
}

}  // namespace shoal::mechanism
