#include "random/exact_coin.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/numeric/interval128.hpp>
#include <shoal/random/bernoulli.hpp>
#include <shoal/random/lazy_uniform.hpp>

#include <fmt/format.h>

namespace shoal::random {
namespace {

bool is_below_exp_minus(LazyUniform& u, const numeric::BigInt& numerator,
                        const numeric::BigInt& denominator, BitSource& bits) {
  const auto chance = [&](int precision) {
    return exp_minus(numeric::enclose_ratio(numerator, denominator, precision));
  };
  return is_below(u, chance, bits);
}

}  // namespace

bool exact_bernoulli_exp_minus(std::uint64_t numerator, std::uint64_t denominator, int first_bits,
                               BitSource& bits) {
  if (numerator == 0) return true;
  const numeric::Interval128 chance = numeric::exp_minus_ratio128(numerator, denominator);
  const std::uint64_t word = bits.next_bits(first_bits);
  const int shift = numeric::Interval128::kPrecision - first_bits;
  if ((static_cast<UInt128>(word) + 1) << shift <= chance.low) return true;
  if (static_cast<UInt128>(word) << shift >= chance.high) return false;
  LazyUniform u(word, first_bits);
  return is_below_exp_minus(u, numerator, denominator, bits);
}

bool exact_bernoulli_exp_minus(const numeric::BigInt& numerator, const numeric::BigInt& denominator,
                               BitSource& bits) {
  if (numerator == 0) return true;
  LazyUniform u(bits.next_u64(), 64);
  return is_below_exp_minus(u, numerator, denominator, bits);
}

bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, BitSource& bits) {
  if (denominator == 0 || numerator > denominator) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the chance is {} / {}; it must be from 0 to 1", numerator, denominator));
  }
  return exact_bernoulli<UInt128>(numerator, denominator, bits);
}

bool bernoulli_exp_minus(std::uint64_t numerator, std::uint64_t denominator, BitSource& bits) {
  if (denominator == 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the exponent is {} / 0; give a denominator of at least 1", numerator));
  }
  return exact_bernoulli_exp_minus(numerator, denominator, 64, bits);
}

}  // namespace shoal::random
