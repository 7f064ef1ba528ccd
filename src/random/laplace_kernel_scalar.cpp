// Trials of Laplace noise in portable code.
#include "random/laplace_trials.hpp"

namespace shoal::random {

bool laplace_groups_scalar(const LaplaceTables& tables, const std::uint32_t* words,
                           std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                           std::uint8_t* ambiguous) {
  const std::uint64_t signs = tables.kind == LaplaceKind::geometric ? 0 : 1;
  const std::uint64_t carry = tables.kind == LaplaceKind::rounded ? 1 : 0;
  const auto drop = static_cast<std::uint64_t>(tables.drop);
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g, words += kLaplaceGroupWords) {
    unsigned accepted_mask = 0;
    unsigned ambiguous_mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t rank_word = word64(words, lane);
      const std::uint64_t place_word = word64(words + 2 * kLanes, lane);
      const RankLook look = look_at_rank(tables, rank_word);
      const std::uint64_t h = rank_of(look.low);
      const std::uint64_t minus = 0 - (place_word >> 63 & signs);  // all ones, or none
      const std::uint64_t digits = (place_word >> 11) & tables.lambda_mask.lane[0];
      const std::int32_t difference =
          look_at_acceptance(tables, digits, minus) -
          static_cast<std::int32_t>(accept_digits(rank_word, place_word));
      const bool accept = difference > 1;
      const bool close = difference == 0 || difference == 1;
      const std::uint64_t joined =
          (h << tables.lambda_bits) + (digits >> (52 - tables.lambda_bits)) + drop;
      values[g * kLanes + lane] =
          static_cast<std::int64_t>(((joined >> drop) ^ minus) + (minus & carry));
      accepted_mask |= static_cast<unsigned>(accept) << lane;
      ambiguous_mask |= static_cast<unsigned>(close || h != rank_of(look.high)) << lane;
    }
    accepted[g] = static_cast<std::uint8_t>(accepted_mask);
    ambiguous[g] = static_cast<std::uint8_t>(ambiguous_mask);
    any |= ambiguous_mask;
  }
  return any != 0;
}

}  // namespace shoal::random
