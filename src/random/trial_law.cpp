#include "random/trial_law.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>

namespace shoal::random {

void TrialLaw::set_up(double t, int j, bool rounded, std::size_t rank_words) {
  constexpr int kMantissaBits = 52;
  trial_.rounded = rounded;
  trial_.lambda_bits = rounded ? std::max(j + 1, 0) : j;
  trial_.drop = rounded ? std::max(1, -j) : 0;
  // The lowest bit of lambda's words is the sign, so a narrow word has at most 31 digits.
  trial_.wide = rounded || j > 31;
  trial_.lambda_mask = (std::uint64_t{1} << kMantissaBits) - 1;
  if (!rounded) trial_.lambda_mask &= ~((std::uint64_t{1} << (kMantissaBits - j)) - 1);
  trial_.slope = 1 / (2 * t * t);
  trial_.rank_words = rank_words;
  trial_.words = rank_words + (trial_.wide ? 3 : 2);
}

// U < e^-y(lambda).
bool TrialLaw::accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda,
                       BitSource& bits) const {
  LazyUniform uniform(u, kWordBits);
  if (trial_.rounded) {
    LazyUniform position(lambda >> 1, 63);
    return is_below_falling(
        uniform, position,
        [&](const numeric::BigInt& digits, int count, int p) {
          return acceptance(h, digits, count, p);
        },
        bits);
  }
  const int width = trial_.wide ? 64 : 32;
  const std::uint64_t digits = lambda >> (width - trial_.lambda_bits);
  if (digits == 0) return true;
  return is_below(
      uniform, [&](int p) { return acceptance(h, digits, trial_.lambda_bits, p); }, bits);
}

std::optional<std::int64_t> TrialLaw::resolve(const std::uint32_t* rank_words, std::uint32_t u,
                                              std::uint64_t lambda, BitSource& bits) const {
  const std::uint64_t h = resolve_rank(rank_words, bits);
  if (!accepts(h, u, lambda, bits)) return std::nullopt;
  const int width = trial_.wide ? 64 : 32;
  const int digits = trial_.lambda_bits;
  Int128 value = static_cast<Int128>(h) << digits;
  if (digits > 0) value += static_cast<Int128>(lambda >> (width - digits));
  value = (value + ((Int128{1} << trial_.drop) >> 1)) >> trial_.drop;
  const bool negative = (lambda & 1) != 0;
  if (negative && value == 0 && !trial_.rounded) return std::nullopt;
  // Beyond 64 bits with probability below e^-4096.
  SHOAL_CHECK(value == static_cast<std::int64_t>(value));
  return static_cast<std::int64_t>(negative ? -value : value);
}

std::optional<std::int64_t> TrialLaw::resolve_lane(const std::uint32_t* words, std::size_t lane,
                                                   BitSource& bits) const {
  std::array<std::uint32_t, 2> rank_words{};
  for (std::size_t i = 0; i < trial_.rank_words; ++i) {
    rank_words.at(i) = words[i * kLanes + lane] ^ 0x80000000u;
  }
  const std::uint32_t* rest = words + trial_.rank_words * kLanes;
  const std::uint32_t* lambda = rest + kLanes + (trial_.wide ? 2 : 1) * lane;
  const std::uint64_t digits =
      trial_.wide ? lambda[0] | (static_cast<std::uint64_t>(lambda[1]) << 32) : lambda[0];
  return resolve(rank_words.data(), rest[lane], digits, bits);
}

void TrialLaw::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  const auto judge = kernel == Kernel::avx2 ? judge_trials_avx2 : judge_trials_scalar;
  constexpr std::size_t kMaxWords = 5;
  constexpr std::size_t kGroups = kBlockWords / kLanes / kMaxWords;
  fill_by_trials<kGroups>(
      values, bits, kernel, trial_.words * kLanes,
      // At least 0.83 of the trials are accepted, so this seldom falls short by more than a few.
      [&](std::size_t count) { return std::min(kGroups, count / 7 + 1); },
      [&](const std::uint32_t* words, std::size_t groups, std::int64_t* trials,
          std::uint8_t* accepted, std::uint8_t* ambiguous) {
        rank(words, groups, trials, ambiguous, kernel);
        return judge(trial_, words, groups, trials, accepted, ambiguous);
      },
      [&](const std::uint32_t* words, std::size_t lane) {
        return resolve_lane(words, lane, bits);
      });
}

}  // namespace shoal::random
