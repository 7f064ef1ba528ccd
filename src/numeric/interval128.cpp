#include <shoal/base/error.hpp>
#include <shoal/numeric/interval128.hpp>

#include <array>

namespace shoal::numeric {
namespace {

constexpr int kPrecision = Interval128::kPrecision;
constexpr UInt128 kOne = Interval128::kOne;

constexpr UInt128 make128(std::uint64_t high, std::uint64_t low) {
  return (static_cast<UInt128>(high) << 64) | low;
}

// e^-(2^k) for k = -4 .. 6, rounded down to units of 2^-120.
constexpr std::array<UInt128, 11> kPowers = {
    make128(0x00f07d5fde38151e, 0x72f18ff03049ac5d),  // e^-2^-4
    make128(0x00e1eb51276c110c, 0x3c3eb1269f2f5d4a),  // e^-2^-3
    make128(0x00c75f7cf5641057, 0x43415cbc9d6368f3),  // e^-2^-2
    make128(0x009b4597e37cb04f, 0xf3d675a35530cdd7),  // e^-2^-1
    make128(0x005e2d58d8b3bcdf, 0x1abadec7829054f9),  // e^-2^0
    make128(0x0022a555477f0397, 0x3fb6edd5c25a052a),  // e^-2^1
    make128(0x0004b0556e084f3d, 0x1dfa2bc04cb0ab88),  // e^-2^2
    make128(0x000015fc21041027, 0xacbbfcd46780fee7),  // e^-2^3
    make128(0x00000001e355bbae, 0xe85cada65f73f32e),  // e^-2^4
    make128(0x0000000000000390, 0x8c9eec2c8d03c533),  // e^-2^5
    make128(0x0000000000000000, 0x000000000cb4ea39),  // e^-2^6
};
constexpr int kLowestPower = -4;

// 1/k!, rounded down.
constexpr std::array<UInt128, 20> kInverseFactorials = {
    make128(0x0100000000000000, 0x0000000000000000),  // 1/0!
    make128(0x0100000000000000, 0x0000000000000000),  // 1/1!
    make128(0x0080000000000000, 0x0000000000000000),  // 1/2!
    make128(0x002aaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa),  // 1/3!
    make128(0x000aaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa),  // 1/4!
    make128(0x0002222222222222, 0x2222222222222222),  // 1/5!
    make128(0x00005b05b05b05b0, 0x5b05b05b05b05b05),  // 1/6!
    make128(0x00000d00d00d00d0, 0x0d00d00d00d00d00),  // 1/7!
    make128(0x000001a01a01a01a, 0x01a01a01a01a01a0),  // 1/8!
    make128(0x0000002e3bc74aad, 0x8e671f5583911ca0),  // 1/9!
    make128(0x000000049f93edde, 0x27d71cbbc05b4fa9),  // 1/10!
    make128(0x000000006b99159f, 0xd5138e3f9d1f92e0),  // 1/11!
    make128(0x0000000008f76c77, 0xfc6c4bdaa26d4c3d),  // 1/12!
    make128(0x0000000000b09230, 0x9d43684be51c198e),  // 1/13!
    make128(0x00000000000c9cba, 0x54603e4e905d6f8a),  // 1/14!
    make128(0x000000000000d73f, 0x9f399dc0f88ec32b),  // 1/15!
    make128(0x0000000000000d73, 0xf9f399dc0f88ec32),  // 1/16!
    make128(0x00000000000000ca, 0x963b81856a535930),  // 1/17!
    make128(0x000000000000000b, 0x413c31dcbecbbdd8),  // 1/18!
    make128(0x0000000000000000, 0x97a4da340a0ab926),  // 1/19!
};

// e^-x for an exact x, to within kExpError units on either side.
//
// e^-x is the product of kPowers over the binary digits of x down to 2^-4, times the series for
// what remains. Every step is taken whatever the digits are, so the time does not depend on x.
// Errors, in units of 2^-120: each factor of the product and each multiplication loses at most one,
// so at most 22; the series, a Horner scheme in a number below 1/16, has less than 3; its terms
// from the 20th on sum to less than 2^-140; the last multiplication loses one.
constexpr UInt128 kExpError = 32;

UInt128 exp_minus_exact(UInt128 x) {
  UInt128 product = kOne;
  for (std::size_t i = 0; i < kPowers.size(); ++i) {
    const int position = kPrecision + kLowestPower + static_cast<int>(i);
    const auto digit = (x >> position) & 1;
    const UInt128 mask = ~(digit - 1);  // all ones if the digit is set
    product = multiply_down(product, (kPowers[i] & mask) | (kOne & ~mask));
  }
  const UInt128 rest = x & ((kOne >> -kLowestPower) - 1);
  UInt128 series = kInverseFactorials.back();
  for (std::size_t i = kInverseFactorials.size() - 1; i-- > 0;) {
    series = kInverseFactorials[i] - multiply_down(rest, series);
  }
  return multiply_down(product, series);
}

}  // namespace

Interval128 enclose_ratio128(UInt128 numerator, UInt128 denominator) {
  if (denominator == 0 || numerator / denominator >= 256) {
    throw Error(ErrorCode::invalid_argument,
                "interval: the ratio must be below 256, with a denominator of at least 1");
  }
  UInt128 quotient = numerator / denominator;
  UInt128 rest = numerator % denominator;
  const auto narrow = denominator <= ~std::uint64_t{0};
  if (narrow) {
    // Two digits of 60 bits each; the rest is below 2^64, so the shift does not overflow.
    for (int i = 0; i < 2; ++i) {
      const UInt128 shifted = rest << 60;
      quotient = (quotient << 60) | (shifted / denominator);
      rest = shifted % denominator;
    }
  } else {
    for (int i = 0; i < kPrecision; ++i) {
      // rest < denominator, so doubling it exceeds 128 bits only if it then exceeds the
      // denominator.
      const bool carry = (rest >> 127) != 0;
      rest <<= 1;
      const bool digit = carry || rest >= denominator;
      if (digit) rest -= denominator;
      quotient = (quotient << 1) | (digit ? 1u : 0u);
    }
  }
  return {quotient, quotient + (rest != 0 ? 1 : 0)};
}

// One evaluation, at the upper end of x: the slope of e^-x is at most one, so the width of x, added
// to the upper end, covers the rest.
Interval128 exp_minus(Interval128 x) {
  if (x.low >= 84 * kOne) return {0, 1};  // e^-84 < 2^-121
  // Beyond 128 there are no more digits to look at, and e^-128 is below the error anyway.
  const UInt128 last = 128 * kOne - 1;
  const UInt128 value = exp_minus_exact(x.high < last ? x.high : last);
  const UInt128 high = value + kExpError + (x.high - x.low);
  return {value > kExpError ? value - kExpError : 0, high < kOne ? high : kOne};
}

Interval128 exp_minus_ratio128(UInt128 numerator, UInt128 denominator) {
  if (denominator != 0 && numerator / denominator >= 84) return {0, 1};
  return exp_minus(enclose_ratio128(numerator, denominator));
}

}  // namespace shoal::numeric
