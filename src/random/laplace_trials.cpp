#include "random/laplace_trials.hpp"

#include "random/trial_law.hpp"

#include <shoal/base/error.hpp>

#include <cmath>

namespace shoal::random {
namespace {

int exponent_of(double scale) { return std::ilogb(scale) - std::ilogb(kLeastLaplaceT); }

// The digits of lambda, the first of them on top.
std::uint64_t place_digits(std::uint64_t place_word, int count) {
  return count == 0 ? 0 : (place_word << 1) >> (64 - count);
}

// Blocks of one size, so that no small one is left for the end. Nearly all trials are accepted, and
// these few more make up for the others.
std::size_t groups_for(std::size_t values, std::size_t most) {
  const std::size_t wanted = values / kLanes + (values < 64 ? 1 : 2);
  const std::size_t blocks = (wanted + most - 1) / most;
  return (wanted + blocks - 1) / blocks;
}

}  // namespace

LaplaceTrials::LaplaceTrials(double scale, LaplaceKind kind)
    : LaplaceTrials(std::ldexp(scale, -exponent_of(scale)), exponent_of(scale), kind) {}

LaplaceTrials::LaplaceTrials(double t, int j, LaplaceKind kind)
    : t_(exact_scale(t, "scale")), tables_(laplace_tables(t, j, kind)) {}

numeric::Enclosure LaplaceTrials::power(const numeric::BigInt& digits, int bits,
                                        int precision) const {
  return exp_minus(numeric::enclose_ratio(digits * t_.denominator,
                                          numeric::BigInt(t_.numerator) << bits, precision));
}

// How many k >= 1 there are with U < e^(-k/t). The guess only saves time.
std::uint64_t LaplaceTrials::resolve_rank(LazyUniform& rank, BitSource& bits) const {
  const auto reaches = [&](std::uint64_t k) {
    return is_below(
        rank, [&](int p) { return power(k, 0, p); }, bits);
  };
  const double t = static_cast<double>(t_.numerator) / static_cast<double>(t_.denominator);
  const double middle = (static_cast<double>(rank.digits()) + 0.5) * std::ldexp(1.0, -rank.bits());
  auto h = static_cast<std::uint64_t>(-t * std::log(middle));
  while (reaches(h + 1)) ++h;
  while (h > 0 && !reaches(h)) --h;
  return h;
}

bool LaplaceTrials::accepts(LazyUniform& u, std::uint64_t place_word, BitSource& bits) const {
  if (tables_.kind == LaplaceKind::rounded) {
    LazyUniform lambda(place_digits(place_word, kPlaceBits), kPlaceBits);
    return is_below_falling(
        u, lambda,
        [this](const numeric::BigInt& digits, int count, int p) { return power(digits, count, p); },
        bits);
  }
  const bool minus = tables_.kind == LaplaceKind::discrete && place_word >> 63 != 0;
  const std::uint64_t steps =
      place_digits(place_word, tables_.lambda_bits) + static_cast<std::uint64_t>(minus);
  if (steps == 0) return true;
  return is_below(
      u, [&](int p) { return power(steps, tables_.lambda_bits, p); }, bits);
}

std::optional<std::int64_t> LaplaceTrials::resolve(LazyUniform rank, LazyUniform u,
                                                   std::uint64_t place_word,
                                                   BitSource& bits) const {
  const std::uint64_t h = resolve_rank(rank, bits);
  if (!accepts(u, place_word, bits)) return std::nullopt;
  Int128 value = static_cast<Int128>(h) << tables_.lambda_bits;
  value += static_cast<Int128>(place_digits(place_word, tables_.lambda_bits));
  value = (value + tables_.drop) >> tables_.drop;
  if (tables_.kind != LaplaceKind::geometric && place_word >> 63 != 0) {
    value = tables_.kind == LaplaceKind::discrete ? -1 - value : -value;
  }
  // Beyond 64 bits with probability below e^-4096.
  SHOAL_CHECK(value == static_cast<std::int64_t>(value));
  return static_cast<std::int64_t>(value);
}

void LaplaceTrials::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  constexpr std::size_t kGroups = kBlockWords / kLaplaceGroupWords;
  const auto draw = kernel == Kernel::avx2 ? laplace_groups_avx2 : laplace_groups_scalar;
  fill_by_trials<kGroups>(
      values, bits, kernel, kLaplaceGroupWords,
      [](std::size_t count) { return groups_for(count, kGroups); },
      [&](const std::uint32_t* words, std::size_t groups, std::int64_t* trials,
          std::uint8_t* accepted, std::uint8_t* ambiguous) {
        return draw(tables_, words, groups, trials, accepted, ambiguous);
      },
      [&](const std::uint32_t* words, std::size_t lane) {
        const std::uint64_t rank_word = word64(words, lane);
        const std::uint64_t place_word = word64(words + 2 * kLanes, lane);
        return resolve(LazyUniform(rank_word >> 16, kRankBits),
                       LazyUniform(accept_digits(rank_word, place_word), kUnitBits), place_word,
                       bits);
      });
}

}  // namespace shoal::random
