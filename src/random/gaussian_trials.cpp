#include "random/gaussian_trials.hpp"

#include <cmath>

namespace shoal::random {

using numeric::BigInt;

GaussianTrials::GaussianTrials(double sigma, GaussianKind kind, int word_bits)
    : GaussianTrials(std::ldexp(sigma, 1 - std::ilogb(sigma)), std::ilogb(sigma) - 1, kind,
                     word_bits) {}

GaussianTrials::GaussianTrials(double t, int j, GaussianKind kind, int word_bits)
    : ranks_(t, GaussianRanks::Weights::once, word_bits) {
  set_up(t, j, kind == GaussianKind::rounded, 1);
}

void GaussianTrials::rank(const std::uint32_t* words, std::size_t groups, std::int64_t* values,
                          std::uint8_t* ambiguous, Kernel kernel) const {
  const auto rank_groups = kernel == Kernel::avx2 ? rank_groups_avx2 : rank_groups_scalar;
  rank_groups(ranks_.tables(), words, trial().words * kLanes, groups, values, ambiguous);
}

std::uint64_t GaussianTrials::resolve_rank(const std::uint32_t* words, BitSource& bits) const {
  return ranks_.resolve(words[0], bits);
}

numeric::Enclosure GaussianTrials::acceptance(std::uint64_t h, const BigInt& digits, int bits,
                                              int precision) const {
  const BigInt numerator = digits * ((BigInt(h) << (bits + 1)) + digits);
  const BigInt& t = ranks_.t_numerator();
  const BigInt& unit = ranks_.t_denominator();
  return exp_minus(
      numeric::enclose_ratio(numerator * unit * unit, (t * t) << (2 * bits + 1), precision));
}

}  // namespace shoal::random
