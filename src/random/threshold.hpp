// Thresholds: floor(p * 2^W) for a probability p, certified. A uniform word below the threshold is
// surely below p, one above it surely above; only the word that equals it leaves the question open,
// and then random::is_below goes on with more digits. That is why noise made of such comparisons
// has the mathematical law, not a rounded one (src/random/exact_sampling.proof.md).
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/numeric/interval128.hpp>
#include <shoal/random/lazy_uniform.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace shoal::random {

// The word length of release builds. Tests use shorter words, to play all of them.
inline constexpr int kWordBits = 32;

constexpr std::uint32_t largest_word(int word_bits) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << word_bits) - 1);
}

// low * 2^-64 <= p <= high * 2^-64.
struct Bounds64 {
  UInt128 low;
  UInt128 high;
};

// A probability as bounds of 64 bits.
inline Bounds64 bounds64(numeric::Interval128 p) {
  constexpr int kDrop = numeric::Interval128::kPrecision - 64;
  return {p.low >> kDrop, (p.high >> kDrop) + 1};
}

// Division by one number, many times: multiplies by its reciprocal, rounded both ways.
class Divisor {
 public:
  explicit Divisor(numeric::Interval128 divisor);
  // part / divisor, for part <= divisor, to about 2^-61.
  Bounds64 divide(numeric::Interval128 part) const;

 private:
  int shift_;
  UInt128 inverse_low_;
  UInt128 inverse_high_;
};

// floor(p * 2^word_bits) for p < 1, from enclosures of growing precision.
std::uint32_t certified_floor(const RealAtPrecision& p, int word_bits);

// The same if the bounds agree on it; else nothing.
inline std::optional<std::uint32_t> agreed_floor(Bounds64 p, int word_bits) {
  const UInt128 low = p.low >> (64 - word_bits);
  if (low >= largest_word(word_bits)) return largest_word(word_bits);  // p < 1
  if (low != p.high >> (64 - word_bits)) return std::nullopt;
  return static_cast<std::uint32_t>(low);
}

// The same from bounds of 64 bits, which all but always suffice; else from `exact(precision)`.
template <class Exact>
std::uint32_t threshold(Bounds64 p, int word_bits, const Exact& exact) {
  const std::optional<std::uint32_t> agreed = agreed_floor(p, word_bits);
  return agreed ? *agreed : certified_floor(exact, word_bits);
}

// Sorted thresholds as a perfect search tree of 2^levels - 1 nodes, laid out for eight lanes: level
// l is a table of 2^l entries, padded to whole registers; up to four entries are in both halves of
// one. Entries are shifted by 2^31, because AVX2 compares signed numbers. The last threshold, the
// largest word, is left out, because the search looks for it anyway; it also stands in for nodes
// that the tree has too many.
inline constexpr int kMaxLevels = 8;
inline constexpr std::array<std::size_t, kMaxLevels + 1> kLevelOffset = {0,  8,  16,  24, 32,
                                                                         48, 80, 144, 272};
// The least number of levels, at least one, that holds all but the last of so many thresholds.
int tree_levels(std::size_t count);

template <std::size_t Size>
void lay_out_tree(const std::uint32_t* sorted, std::size_t count, int levels,
                  std::array<std::int32_t, Size>& tree) {
  const std::size_t nodes = (std::size_t{1} << levels) - 1;
  for (int level = 0; level < levels; ++level) {
    const std::size_t entries = std::size_t{1} << level;
    const std::size_t step = (nodes + 1) >> (level + 1);
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t rank = (2 * i + 1) * step - 1;
      const std::uint32_t value = rank < count ? sorted[rank] : largest_word(kWordBits);
      const auto shifted = static_cast<std::int32_t>(value ^ 0x80000000u);
      const std::size_t place = kLevelOffset[static_cast<std::size_t>(level)] + i;
      tree[place] = shifted;
      if (entries <= 4) tree[place + 4] = shifted;
    }
  }
}

}  // namespace shoal::random
