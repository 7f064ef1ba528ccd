#include <shoal/base/error.hpp>
#include <shoal/random/lazy_exponential.hpp>
#include <shoal/random/lazy_uniform.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::random {
namespace {

// A word of 64 bits: low digits, and the beginning of their coin.
constexpr int kMaxLowBits = 24;
constexpr int kCoinBits = 40;
constexpr std::size_t kBlock = 256;

int checked(int first_bits, int high_bits) {
  if (first_bits < 0 || first_bits > ExponentialSampler::kFirstBits || high_bits < 1 ||
      first_bits - high_bits > kMaxLowBits) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} first bits, {} of them high; an exponential number takes from 0 to "
                            "{}, at most {} of them low",
                            first_bits, high_bits, ExponentialSampler::kFirstBits, kMaxLowBits));
  }
  return first_bits;
}

// Whether the coin is below exp(-v 2^-unit_bits).
bool is_kept(std::uint64_t v, int unit_bits, LazyUniform& coin, BitSource& bits) {
  const auto chance = [&](int precision) {
    return exp_minus(numeric::enclose_ratio(v, numeric::BigInt(1) << unit_bits, precision));
  };
  return is_below(coin, chance, bits);
}

}  // namespace

// Within the cell the density falls as exp(-f 2^-bits) for f in [0, 1). So the next 64 digits are v
// with probability proportional to exp(-v 2^-(bits + 64)): uniform, and kept with that chance.
void LazyExponential::extend(BitSource& bits) {
  const int next_bits = bits_ + 64;
  while (true) {
    const std::uint64_t next = bits.next_u64();
    LazyUniform coin(bits.next_u64(), 64);
    if (!is_kept(next, next_bits, coin, bits)) continue;
    digits_ = (digits_ << 64) + next;
    bits_ = next_bits;
    return;
  }
}

ExponentialSampler::ExponentialSampler(int first_bits, int high_bits)
    : first_bits_(checked(first_bits, high_bits)),
      high_bits_(high_bits),
      low_bits_(std::max(first_bits - high_bits, 0)),
      high_(std::ldexp(1.0, first_bits - low_bits_)) {}

// The high digits are geometric; the low ones are drawn as in extend, uniform v below 2^low_bits
// kept with probability exp(-v 2^-first_bits). That is above 1 - 2^-high_bits, so a coin whose
// first high_bits digits are not all zero keeps them without further ado.
void ExponentialSampler::fill(std::span<std::int64_t> digits, BitSource& bits) const {
  high_.fill(digits, bits);
  if (low_bits_ == 0) return;
  std::array<std::uint64_t, kBlock> words;
  for (std::size_t start = 0; start < digits.size(); start += kBlock) {
    const std::span block = digits.subspan(start, std::min(kBlock, digits.size() - start));
    bits.fill({reinterpret_cast<unsigned char*>(words.data()), block.size() * sizeof(words[0])});
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::uint64_t low = low_digits(words[i], bits);
      SHOAL_CHECK(block[i] >> (63 - low_bits_) == 0);
      block[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(block[i]) << low_bits_ | low);
    }
  }
}

// The lowest digits of a word are v, the kCoinBits highest begin a coin.
std::uint64_t ExponentialSampler::low_digits(std::uint64_t word, BitSource& bits) const {
  const std::uint64_t mask = (std::uint64_t{1} << low_bits_) - 1;
  while (word >> (64 - high_bits_) == 0) {
    const std::uint64_t v = word & mask;
    // Turned over, so that a coin that begins with zeros is near one, where the question is.
    LazyUniform coin(~word >> (64 - kCoinBits), kCoinBits);
    if (is_kept(v, first_bits_, coin, bits)) return v;
    word = bits.next_u64();
  }
  return word & mask;
}

LazyExponential ExponentialSampler::sample(BitSource& bits) const {
  std::int64_t digits = 0;
  fill({&digits, 1}, bits);
  return {static_cast<std::uint64_t>(digits), first_bits_};
}

}  // namespace shoal::random
