#include "random/trial_law.hpp"

#include "random/acceptance.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>

namespace shoal::random {

void TrialLaw::set_up(Curve curve, double t, int j, bool rounded, std::size_t rank_words) {
  constexpr int kMantissaBits = 52;
  trial_.curve = curve;
  trial_.rounded = rounded;
  trial_.sign_bit = 1;
  trial_.lambda_bits = rounded ? std::max(j + 1, 0) : j;
  trial_.drop = rounded ? std::max(1, -j) : 0;
  // The lowest bit of lambda's words is the sign, so a narrow word has at most 31 digits.
  trial_.wide = rounded || j > 31;
  trial_.lambda_mask = (std::uint64_t{1} << kMantissaBits) - 1;
  if (!rounded) trial_.lambda_mask &= ~((std::uint64_t{1} << (kMantissaBits - j)) - 1);
  trial_.slope = 1 / (2 * t * t);
  trial_.laplace = laplace_coefficients(t);
  trial_.rank_words = rank_words;
  trial_.words = rank_words + (trial_.wide ? 3 : 2);
}

// U < e^-y(lambda). For a rounded law lambda is known to some digits only: the probability falls
// with lambda, so its two ends decide, or both numbers get more digits.
bool TrialLaw::accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda,
                       BitSource& bits) const {
  LazyUniform uniform(u, kWordBits);
  if (!trial_.rounded) {
    const int width = trial_.wide ? 64 : 32;
    const std::uint64_t digits = lambda >> (width - trial_.lambda_bits);
    if (digits == 0) return true;
    return is_below(
        uniform, [&](int p) { return acceptance(h, digits, trial_.lambda_bits, p); }, bits);
  }
  LazyUniform position(lambda >> 1, 63);
  while (true) {
    const int precision = std::max(uniform.bits(), position.bits()) + 64;
    const numeric::Enclosure most = acceptance(h, position.digits(), position.bits(), precision);
    const numeric::Enclosure least =
        acceptance(h, position.digits() + 1, position.bits(), precision);
    const int shift = precision - uniform.bits();
    if (least.low >= (uniform.digits() + 1) << shift) return true;
    if (most.high <= uniform.digits() << shift) return false;
    uniform.extend(bits);
    position.extend(bits);
  }
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
  const bool negative = (lambda & trial_.sign_bit) != 0;
  if (negative && value == 0 && !trial_.rounded) return std::nullopt;
  // Beyond 64 bits with probability below e^-4096.
  SHOAL_CHECK(value == static_cast<std::int64_t>(value));
  return static_cast<std::int64_t>(negative ? -value : value);
}

std::uint8_t TrialLaw::resolve_group(const std::uint32_t* words, unsigned lanes, unsigned accepted,
                                     std::int64_t* values, BitSource& bits) const {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::array<std::uint32_t, 2> rank_words{};
    for (std::size_t i = 0; i < trial_.rank_words; ++i) {
      rank_words.at(i) = words[i * kLanes + lane] ^ 0x80000000u;
    }
    const std::uint32_t* rest = words + trial_.rank_words * kLanes;
    const std::uint32_t* lambda = rest + kLanes + (trial_.wide ? 2 : 1) * lane;
    const std::uint64_t digits =
        trial_.wide ? lambda[0] | (static_cast<std::uint64_t>(lambda[1]) << 32) : lambda[0];
    const auto value = resolve(rank_words.data(), rest[lane], digits, bits);
    accepted &= ~(1u << lane);
    if (!value) continue;
    accepted |= 1u << lane;
    values[lane] = *value;
  }
  return static_cast<std::uint8_t>(accepted);
}

void TrialLaw::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  const auto judge = kernel == Kernel::avx2 ? judge_trials_avx2 : judge_trials_scalar;
  const auto keep = kernel == Kernel::avx2 ? keep_accepted_avx2 : keep_accepted_scalar;
  constexpr std::size_t kMaxWords = 5;
  constexpr std::size_t kGroups = kBlockWords / kLanes / kMaxWords;
  const std::size_t group_words = trial_.words * kLanes;
  WordBlock block;
  ValueBlock<kGroups * kLanes> drawn;
  std::array<std::uint8_t, kGroups> accepted;
  std::array<std::uint8_t, kGroups> ambiguous;
  while (!values.empty()) {
    // At least 0.83 of the trials are accepted, so this seldom falls short by more than a few.
    const std::size_t groups = std::min(kGroups, values.size() / 7 + 1);
    const std::uint32_t* words = block.draw(groups * group_words, bits);
    std::int64_t* trials = drawn.take(groups * kLanes);
    rank(words, groups, trials, ambiguous.data(), kernel);
    if (judge(trial_, words, groups, trials, accepted.data(), ambiguous.data())) {
      for (std::size_t g = 0; g < groups; ++g) {
        if (ambiguous[g] == 0) continue;
        accepted[g] = resolve_group(words + g * group_words, ambiguous[g], accepted[g],
                                    trials + g * kLanes, bits);
      }
    }
    const bool fits = values.size() >= groups * kLanes;
    std::size_t kept = keep(trials, accepted.data(), groups, fits ? values.data() : trials);
    if (!fits) {
      kept = std::min(kept, values.size());
      std::copy_n(trials, kept, values.begin());
    }
    values = values.subspan(kept);
  }
}

}  // namespace shoal::random
