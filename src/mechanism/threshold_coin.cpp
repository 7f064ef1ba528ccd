#include <shoal/base/error.hpp>
#include <shoal/mechanism/threshold_coin.hpp>

#include <fmt/format.h>

#include <utility>

namespace shoal::mechanism {

ThresholdCoin::ThresholdCoin(random::RealAtPrecision chance, int width)
    : chance_(std::move(chance)), width_(width) {
  if (width < 1 || width > 64) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a coin with words of {} bits; give 1 to 64", width));
  }
  // Far more digits than a word has: the enclosure then touches one word, or two if the chance lies
  // next to where they meet.
  constexpr int kGuard = 64;
  const numeric::Enclosure enclosure = chance_(width + kGuard);
  const numeric::BigInt one = numeric::BigInt(1) << enclosure.precision;
  if (enclosure.low > one) {
    throw Error(ErrorCode::invalid_argument, "the chance of a coin is above 1; give 0 to 1");
  }
  const numeric::BigInt last = (numeric::BigInt(1) << width) - 1;
  const auto word_of = [&](const numeric::BigInt& digits) {
    const numeric::BigInt word = digits >> (enclosure.precision - width);
    return static_cast<std::uint64_t>(word > last ? last : word);
  };
  undecided_from_ = word_of(enclosure.low);
  undecided_to_ = word_of(enclosure.high);
}

bool ThresholdCoin::toss_further(std::uint64_t word, random::BitSource& bits) const {
  random::LazyUniform uniform(word, width_);
  return random::is_below(uniform, chance_, bits);
}

}  // namespace shoal::mechanism
