// The digit kernel in portable code: every threshold is compared, whatever the words are.
#include "random/digit_law.hpp"

namespace shoal::random {
namespace {

struct Rank {
  std::uint32_t above = 0;
  std::uint32_t ambiguous = 0;
};

Rank rank_among(const std::uint32_t* thresholds, std::size_t count, std::uint32_t word) {
  Rank rank;
  for (std::size_t k = 0; k < count; ++k) {
    rank.above += static_cast<std::uint32_t>(word > thresholds[k]);
    rank.ambiguous |= static_cast<std::uint32_t>(word == thresholds[k]);
  }
  return rank;
}

std::int64_t with_sign(const DigitTables& tables, std::int64_t magnitude, std::uint32_t above) {
  const auto positive = -static_cast<std::int64_t>(above > 0);  // all ones, or none
  if (tables.kind == LaplaceKind::discrete) return magnitude ^ ~positive;
  const auto zero = -static_cast<std::int64_t>(above > 1);
  return ((magnitude ^ ~positive) - positive) & ~zero;
}

}  // namespace

bool digit_groups_scalar(const DigitTables& tables, const std::uint32_t* words,
                         std::size_t group_words, std::size_t groups, std::int64_t* values,
                         std::uint8_t* ambiguous) {
  std::uint32_t any = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint32_t mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t* word = words + g * group_words + lane;
      std::int64_t magnitude = 0;
      std::uint32_t on_threshold = 0;
      for (std::size_t i = 0; i < tables.digits; ++i, word += kLanes) {
        const Rank digit = rank_among(tables.digit[i].data(), kRadix - 1, *word ^ 0x80000000u);
        magnitude |= static_cast<std::int64_t>(digit.above) << (kDigitBits * static_cast<int>(i));
        on_threshold |= digit.ambiguous;
      }
      const Rank top = rank_among(tables.top.data(), tables.top_count, *word ^ 0x80000000u);
      magnitude += static_cast<std::int64_t>(top.above)
                   << (kDigitBits * static_cast<int>(tables.digits));
      on_threshold |= top.ambiguous;
      if (tables.kind != LaplaceKind::geometric) {
        word += kLanes;
        const std::size_t count = tables.kind == LaplaceKind::rounded ? 2 : 1;
        const Rank sign = rank_among(tables.sign.data(), count, *word ^ 0x80000000u);
        magnitude = with_sign(tables, magnitude, sign.above);
        on_threshold |= sign.ambiguous;
      }
      values[g * kLanes + lane] = magnitude;
      mask |= on_threshold << lane;
    }
    ambiguous[g] = static_cast<std::uint8_t>(mask);
    any |= mask;
  }
  return any != 0;
}

}  // namespace shoal::random
