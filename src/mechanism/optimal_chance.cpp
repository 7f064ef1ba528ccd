#include "mechanism/optimal_chance.hpp"

#include "mechanism/exact_chance.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

using numeric::BigInt;
using numeric::Enclosure;

Enclosure one_at(int bits) { return numeric::enclose_dyadic(1, 0, bits); }

Enclosure smaller(const Enclosure& a, const Enclosure& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high), a.precision};
}

// value * 2^-precision; what is shifted out is dropped.
double scaled(const BigInt& value, int precision, bool up) {
  if (value == 0) return 0;
  const int drop = std::max(static_cast<int>(msb(value)) - 52, 0);
  const BigInt kept = value >> drop;
  const double nearest = std::ldexp(static_cast<double>(kept), drop - precision);
  if (!up) return nearest;
  return (kept << drop) == value ? nearest : numeric::step_up(nearest);
}

}  // namespace

double low_down(const Enclosure& enclosure) {
  return scaled(enclosure.low, enclosure.precision, false);
}

double high_up(const Enclosure& enclosure) {
  return scaled(enclosure.high, enclosure.precision, true);
}

// n1 = 1 + floor(ln(1 + tanh(epsilon / 2) (1 / delta - 1)) / epsilon), with epsilon times n1 below
// 250 or n1 = 1: doubles know it to within one.
OptimalChance::OptimalChance(double epsilon, double delta)
    : epsilon_(exact_chance(epsilon)), delta_(exact_chance(delta)) {
  using namespace numeric;
  SHOAL_CHECK(epsilon >= 0x1p-31 && epsilon <= 1000 && delta >= 0x1p-301 && delta < 1);
  const double odds_down = std::max(subtract_down(divide_down(1, delta), 1), 0.0);
  const double odds_up = subtract_up(divide_up(1, delta), 1);
  const double log_down = log1p_down(multiply_down(tanh_down(epsilon / 2), odds_down));
  const double log_up = log1p_up(multiply_up(tanh_up(epsilon / 2), odds_up));
  switch_down_ = 1 + static_cast<std::int64_t>(std::max(divide_down(log_down, epsilon), 0.0));
  switch_up_ = 1 + static_cast<std::int64_t>(divide_up(log_up, epsilon));
  // 1 - e^-epsilon and e^(-n1 epsilon) are divided by, epsilon is multiplied by n1, and e^(-i
  // epsilon) has to be told from delta e^-epsilon.
  extra_bits_ = 128 - std::min(std::ilogb(epsilon), 0) - 2 * std::ilogb(delta) +
                static_cast<int>(1.5 * epsilon);
  // Seen from 1 downwards pi rises as it does from 0 upwards: it is there after as many steps and
  // one or two.
  certain_from_ = 2 * switch_up_ + 2;
  const Enclosure last = at(certain_from_, 64);
  SHOAL_CHECK(last.low == BigInt(1) << last.precision);
}

Enclosure OptimalChance::decay(std::int64_t n, int bits) const {
  return numeric::exp_minus(numeric::multiply(epsilon_(bits), BigInt(n)));
}

// A(n) = delta e^((n - 1) epsilon) (1 - e^(-n epsilon)) / (1 - e^-epsilon).
Enclosure OptimalChance::rising(std::int64_t n, int bits) const {
  const Enclosure one = one_at(bits);
  const Enclosure terms = numeric::divide(
      numeric::subtract(one, decay(n, bits)),
      numeric::multiply(decay(n - 1, bits), numeric::subtract(one, decay(1, bits))));
  return numeric::multiply(delta_(bits), terms);
}

Enclosure OptimalChance::settling(std::int64_t start, std::int64_t steps, int bits) const {
  const Enclosure one = one_at(bits);
  const Enclosure once = decay(1, bits);
  const Enclosure all = decay(steps, bits);
  const Enclosure left = numeric::multiply(all, numeric::subtract(one, rising(start, bits)));
  const Enclosure sum = numeric::divide(numeric::multiply(once, numeric::subtract(one, all)),
                                        numeric::subtract(one, once));
  return numeric::subtract(one, numeric::subtract(left, numeric::multiply(delta_(bits), sum)));
}

Enclosure OptimalChance::at(std::int64_t n, int precision) const {
  const int bits = precision + extra_bits_;
  if (n == 0) return {0, 0, bits};
  Enclosure least = one_at(bits);
  for (std::int64_t j = switch_down_; j <= switch_up_; ++j) {
    least = smaller(least, n <= j ? rising(n, bits) : settling(j, n - j, bits));
  }
  return least;
}

}  // namespace shoal::mechanism
