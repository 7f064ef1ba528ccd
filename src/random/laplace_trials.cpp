#include "random/laplace_trials.hpp"

#include <cmath>

namespace shoal::random {
namespace {

constexpr double kLeastT = 22;

int exponent_of(double scale) {
  const int j = std::ilogb(scale) - 5;  // scale 2^-j is in [32, 64)
  return std::ldexp(scale, -j) < 2 * kLeastT ? j : j + 1;
}

}  // namespace

LaplaceTrials::LaplaceTrials(double scale, LaplaceKind kind, int word_bits)
    : LaplaceTrials(std::ldexp(scale, -exponent_of(scale)), exponent_of(scale), kind, word_bits) {}

LaplaceTrials::LaplaceTrials(double t, int j, LaplaceKind kind, int word_bits)
    : t_(exact_scale(t, "scale")), digits_(t, LaplaceKind::geometric, word_bits, 1) {
  set_up(Curve::laplace, t, j, kind == LaplaceKind::rounded, digits_.tables().words);
  if (kind == LaplaceKind::geometric) never_negative();
}

void LaplaceTrials::rank(const std::uint32_t* words, std::size_t groups, std::int64_t* values,
                         std::uint8_t* ambiguous, Kernel kernel) const {
  const auto draw = kernel == Kernel::avx2 ? digit_groups_avx2 : digit_groups_scalar;
  draw(digits_.tables(), words, trial().words * kLanes, groups, values, ambiguous);
}

std::uint64_t LaplaceTrials::resolve_rank(const std::uint32_t* words, BitSource& bits) const {
  return static_cast<std::uint64_t>(digits_.resolve(words, 1, bits));
}

numeric::Enclosure LaplaceTrials::acceptance(std::uint64_t, const numeric::BigInt& digits, int bits,
                                             int precision) const {
  return exp_minus(numeric::enclose_ratio(digits * t_.denominator,
                                          numeric::BigInt(t_.numerator) << bits, precision));
}

}  // namespace shoal::random
