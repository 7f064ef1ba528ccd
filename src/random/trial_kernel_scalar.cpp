// The judgement of trials in portable code.
#include "random/acceptance.hpp"
#include "random/trial_law.hpp"

namespace shoal::random {
namespace {

// 1 + a number given by its first 52 binary digits, less 1: exact.
double fraction(std::uint64_t digits) {
  return std::bit_cast<double>(digits | std::bit_cast<std::uint64_t>(1.0)) - 1.0;
}

// In units of 2^-30.
double acceptance_of(const TrialTables& tables, std::int64_t h, std::uint64_t digits) {
  const double lambda = fraction(digits);
  const double twice_h = 2.0 * static_cast<double>(h);
  return gaussian_acceptance((lambda * (twice_h + lambda)) * tables.slope);
}

}  // namespace

bool judge_trials_scalar(const TrialTables& tables, const std::uint32_t* words, std::size_t groups,
                         std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous) {
  unsigned any = 0;
  for (std::size_t g = 0; g < groups; ++g, words += tables.words * kLanes) {
    const std::uint32_t* u_words = words + tables.rank_words * kLanes;
    unsigned accepted_mask = 0;
    unsigned ambiguous_mask = ambiguous[g];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::int64_t& value = values[g * kLanes + lane];
      const std::uint32_t* lambda_word = u_words + kLanes + (tables.wide ? 2 : 1) * lane;
      const std::uint64_t first_digits =
          tables.wide ? (lambda_word[0] | (static_cast<std::uint64_t>(lambda_word[1]) << 32)) >> 12
                      : static_cast<std::uint64_t>(lambda_word[0]) << 20;
      const std::uint64_t digits = first_digits & tables.lambda_mask;
      const auto chance = static_cast<std::int32_t>(acceptance_of(tables, value, digits));
      const auto u = static_cast<std::int32_t>(u_words[lane] >> (32 - kUnitBits));
      const std::int32_t difference = chance - u;
      const std::uint64_t joined = (static_cast<std::uint64_t>(value) << tables.lambda_bits) +
                                   (digits >> (52 - tables.lambda_bits));
      const auto magnitude = static_cast<std::int64_t>(
          (joined + ((std::uint64_t{1} << tables.drop) >> 1)) >> tables.drop);
      const auto sign = -static_cast<std::int64_t>(lambda_word[0] & 1);
      const bool minus_zero = !tables.rounded && magnitude == 0 && sign != 0;
      const bool accept = difference > 1 && !minus_zero;
      const bool sure = difference > 1 || difference < -1;
      value = (magnitude ^ sign) - sign;
      accepted_mask |= static_cast<unsigned>(accept) << lane;
      ambiguous_mask |= static_cast<unsigned>(!sure) << lane;
    }
    accepted[g] = static_cast<std::uint8_t>(accepted_mask);
    ambiguous[g] = static_cast<std::uint8_t>(ambiguous_mask);
    any |= ambiguous_mask;
  }
  return any != 0;
}

std::size_t keep_accepted_scalar(const std::int64_t* values, const std::uint8_t* accepted,
                                 std::size_t groups, std::int64_t* to) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups * kLanes; ++i) {
    to[kept] = values[i];
    kept += static_cast<std::size_t>(accepted[i / kLanes] >> (i % kLanes) & 1);
  }
  return kept;
}

}  // namespace shoal::random
