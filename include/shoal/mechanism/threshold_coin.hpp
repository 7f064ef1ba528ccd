// A coin with an exact chance, prepared once for many tosses: a word of random bits is compared
// with the first digits of the chance, and only a word that falls on them asks for more.
//
// Invariant: tosses are true with exactly the chance, whatever the word's length. Comparing words
// is all that happens but once in 2^63 tosses, so neither time nor bits tell how a toss came out.
#pragma once

#include <shoal/random/bit_source.hpp>
#include <shoal/random/lazy_uniform.hpp>

#include <cstdint>

namespace shoal::mechanism {

class ThresholdCoin {
 public:
  // The chance must lie in [0, 1]. `width` is the length of a word, 1 to 64; shorter ones are for
  // tests, which then can try all of them. Throws invalid_argument otherwise.
  explicit ThresholdCoin(random::RealAtPrecision chance, int width = 64);

  bool toss(random::BitSource& bits) const { return decide(bits.next_bits(width_), bits); }

  // The toss of a word that was drawn already: uniform below 2^width, and used for nothing else.
  bool decide(std::uint64_t word, random::BitSource& bits) const {
    if (word >= undecided_from_ && word <= undecided_to_) [[unlikely]] {
      return toss_further(word, bits);
    }
    return word < undecided_from_;
  }

 private:
  bool toss_further(std::uint64_t word, random::BitSource& bits) const;

  random::RealAtPrecision chance_;
  int width_;
  // Words in between, at most two of them, may go either way.
  std::uint64_t undecided_from_ = 0;
  std::uint64_t undecided_to_ = 0;
};

}  // namespace shoal::mechanism
