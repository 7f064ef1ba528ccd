// Ranks by comparing with every threshold, whatever the words are: portable code.
#include "random/folded_gaussian.hpp"
#include "random/gaussian_ranks.hpp"

namespace shoal::random {
namespace {

struct Rank {
  std::uint32_t above = 0;
  bool ambiguous = false;
};

Rank rank_of(const RankTables& tables, std::uint32_t flipped) {
  const std::uint32_t word = flipped ^ 0x80000000u;
  Rank rank;
  for (std::size_t k = 0; k < tables.count; ++k) {
    rank.above += static_cast<std::uint32_t>(word > tables.ranks[k]);
    rank.ambiguous |= word == tables.ranks[k];
  }
  return rank;
}

}  // namespace

void rank_groups_scalar(const RankTables& tables, const std::uint32_t* words,
                        std::size_t group_words, std::size_t groups, std::int64_t* values,
                        std::uint8_t* ambiguous) {
  for (std::size_t g = 0; g < groups; ++g) {
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Rank rank = rank_of(tables, words[g * group_words + lane]);
      values[g * kLanes + lane] = static_cast<std::int64_t>(rank.above);
      mask |= static_cast<unsigned>(rank.ambiguous) << lane;
    }
    ambiguous[g] = static_cast<std::uint8_t>(mask);
  }
}

bool folded_groups_scalar(const RankTables& tables, const std::uint32_t* words, std::size_t groups,
                          std::int64_t* values, std::uint8_t* ambiguous) {
  const std::uint32_t* ranks = words + sign_words(groups);
  bool any = false;
  for (std::size_t g = 0; g < groups; ++g) {
    unsigned mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Rank rank = rank_of(tables, ranks[g * kLanes + lane]);
      const std::uint32_t sign_word = words[g / 32 * kLanes + lane];
      const auto sign = -static_cast<std::int64_t>(sign_word << (g % 32) >> 31);  // 0 or -1
      values[g * kLanes + lane] = (static_cast<std::int64_t>(rank.above) ^ sign) - sign;
      mask |= static_cast<unsigned>(rank.ambiguous) << lane;
    }
    ambiguous[g] = static_cast<std::uint8_t>(mask);
    any |= mask != 0;
  }
  return any;
}

}  // namespace shoal::random
