#include "random/exact_coin.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/random/bernoulli.hpp>

#include <fmt/format.h>

namespace shoal::random {

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
  return exact_bernoulli_exp_minus<UInt128>(numerator, denominator, bits);
}

}  // namespace shoal::random
