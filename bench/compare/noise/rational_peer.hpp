// The peer: the exact samplers of Canonne, Kamath and Steinke 2020 (algorithms 1 to 3) on rational
// numbers of any length, as exact libraries have them, written from the paper on GMP. It draws from
// the same source as Shoal does, so the difference is the algorithm alone.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <gmpxx.h>

#include <span>
#include <vector>

namespace shoal::bench {

class RationalNoise {
 public:
  RationalNoise(double scale, random::BitSource& bits) : bits_(bits), scale_(scale) {
    const mpz_class whole = scale_.get_num() / scale_.get_den();
    laplace_scale_ = whole + 1;
    square_ = scale_ * scale_;
    offset_ = square_ / laplace_scale_;
    twice_square_ = 2 * square_;
  }

  // Algorithm 2, of the scale.
  long laplace() {
    laplace_fraction(scale_.get_num(), scale_.get_den());
    return noise_.get_si();
  }

  // Algorithm 3: discrete Laplace of scale floor(sigma) + 1, accepted by a coin.
  long gaussian() {
    do {
      laplace_fraction(laplace_scale_, one_);
      exponent_ = abs(noise_);
      exponent_ -= offset_;
      exponent_ *= exponent_;
      exponent_ /= twice_square_;
    } while (!exp_coin(exponent_));
    return noise_.get_si();
  }

 private:
  // Uniform below n by rejection of numbers of as many bits as n - 1 has.
  void draw_below(const mpz_class& n) {
    const mpz_class most = n - 1;
    const std::size_t size = most == 0 ? 0 : mpz_sizeinbase(most.get_mpz_t(), 2);
    bytes_.resize((size + 7) / 8);
    do {
      bits_.fill(bytes_);
      if (size % 8 != 0) bytes_[0] = static_cast<unsigned char>(bytes_[0] & ((1u << size % 8) - 1));
      mpz_import(uniform_.get_mpz_t(), bytes_.size(), 1, 1, 1, 0, bytes_.data());
    } while (uniform_ >= n);
  }

  bool coin(const mpq_class& chance) {
    draw_below(chance.get_den());
    return uniform_ < chance.get_num();
  }

  // Algorithm 1: true with probability e^-exponent, for an exponent of at most 1.
  bool exp_coin_to_one(const mpq_class& exponent) {
    unsigned long k = 1;
    chance_ = exponent;
    while (coin(chance_)) {
      ++k;
      chance_ = exponent / k;
    }
    return k % 2 == 1;
  }

  bool exp_coin(mpq_class exponent) {
    for (; exponent > 1; exponent -= 1) {
      if (!exp_coin_to_one(one_fraction_)) return false;
    }
    return exp_coin_to_one(exponent);
  }

  // P(x) proportional to e^(-|x| s / t).
  void laplace_fraction(const mpz_class& t, const mpz_class& s) {
    while (true) {
      do {
        draw_below(t);
        low_ = uniform_;
        ratio_ = mpq_class(low_, t);
        ratio_.canonicalize();
      } while (!exp_coin_to_one(ratio_));
      unsigned long high = 0;
      while (exp_coin_to_one(one_fraction_)) ++high;
      noise_ = (low_ + t * high) / s;
      unsigned char sign = 0;
      bits_.fill(std::span(&sign, 1));
      const bool negative = (sign & 1u) != 0;
      if (negative && noise_ == 0) continue;
      if (negative) noise_ = -noise_;
      return;
    }
  }

  random::BitSource& bits_;
  mpq_class scale_;
  mpz_class laplace_scale_;
  mpq_class square_;
  mpq_class offset_;
  mpq_class twice_square_;
  const mpz_class one_{1};
  const mpq_class one_fraction_{1};
  std::vector<unsigned char> bytes_;
  mpz_class uniform_;
  mpz_class low_;
  mpz_class noise_;
  mpq_class ratio_;
  mpq_class chance_;
  mpq_class exponent_;
};

}  // namespace shoal::bench
