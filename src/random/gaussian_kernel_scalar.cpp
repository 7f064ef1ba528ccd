// The Gaussian kernels in portable code: every threshold is compared, whatever the words are.
#include "random/acceptance.hpp"
#include "random/gaussian_law.hpp"

namespace shoal::random {
namespace {

struct Rank {
  std::uint32_t above = 0;
  bool ambiguous = false;
};

Rank rank_of(const GaussianTables& tables, std::uint32_t flipped) {
  const std::uint32_t word = flipped ^ 0x80000000u;
  Rank rank;
  for (std::size_t k = 0; k < tables.count; ++k) {
    rank.above += static_cast<std::uint32_t>(word > tables.ranks[k]);
    rank.ambiguous |= word == tables.ranks[k];
  }
  return rank;
}

// 1 + a number given by its first 52 binary digits, less 1: exact.
double fraction(std::uint64_t digits) {
  return std::bit_cast<double>(digits | std::bit_cast<std::uint64_t>(1.0)) - 1.0;
}

}  // namespace

bool folded_groups_scalar(const GaussianTables& tables, const std::uint32_t* words,
                          std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous) {
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

bool trial_groups_scalar(const GaussianTables& tables, const std::uint32_t* words,
                         std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                         std::uint8_t* ambiguous) {
  bool any = false;
  for (std::size_t g = 0; g < groups; ++g, words += tables.words * kLanes) {
    unsigned accepted_mask = 0;
    unsigned ambiguous_mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Rank h = rank_of(tables, words[lane]);
      const std::uint32_t* lambda_word = words + 2 * kLanes + (tables.wide ? 2 : 1) * lane;
      const std::uint64_t first_digits =
          tables.wide ? (lambda_word[0] | (static_cast<std::uint64_t>(lambda_word[1]) << 32)) >> 12
                      : static_cast<std::uint64_t>(lambda_word[0]) << 20;
      const std::uint64_t digits = first_digits & tables.lambda_mask;
      const double lambda = fraction(digits);
      const double twice_h = 2.0 * h.above;
      const double y = (lambda * (twice_h + lambda)) * tables.half_slope;
      const double u = fraction(static_cast<std::uint64_t>(words[kLanes + lane]) << 20);
      const double difference = approximate_exp_minus(y) - u;
      const std::uint64_t joined = (static_cast<std::uint64_t>(h.above) << tables.lambda_bits) +
                                   (digits >> (52 - tables.lambda_bits));
      const auto magnitude = static_cast<std::int64_t>(
          (joined + ((std::uint64_t{1} << tables.drop) >> 1)) >> tables.drop);
      const auto sign = -static_cast<std::int64_t>(lambda_word[0] & 1);
      const bool minus_zero = !tables.rounded && magnitude == 0 && sign != 0;
      const bool accept = difference > kAcceptMargin && !minus_zero;
      const bool unsure =
          h.ambiguous || !(difference > kAcceptMargin || difference < -kAcceptMargin);
      values[g * kLanes + lane] = (magnitude ^ sign) - sign;
      accepted_mask |= static_cast<unsigned>(accept) << lane;
      ambiguous_mask |= static_cast<unsigned>(unsure) << lane;
    }
    accepted[g] = static_cast<std::uint8_t>(accepted_mask);
    ambiguous[g] = static_cast<std::uint8_t>(ambiguous_mask);
    any |= ambiguous_mask != 0;
  }
  return any;
}

}  // namespace shoal::random
