// Laplace noise by trials, for large scales: scale = t 2^j with t in [128, 256), and |Y| = 2^j (h +
// lambda) with h geometric of ratio e^(-1/t) and lambda uniform on [0, 1): a multiple of 2^-j for a
// discrete law, any real number for a continuous one. The pair is accepted with probability
// e^(-lambda/t); at least 0.996 of the trials are.
//
// h is floor(-t ln U). A discrete law is X = G or X = -1 - G with equal chance, where a minus is
// accepted with the probability of lambda + 2^-j, the next larger magnitude. A continuous one gets
// a fair sign and is rounded to the nearest integer. The kernels look at a trial in double
// precision (laplace_look.hpp); what is too close to call is decided here, exactly. Proof:
// exact_sampling.proof.md.
#pragma once

#include "random/laplace_look.hpp"
#include "random/noise_law.hpp"

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/lazy_uniform.hpp>
#include <shoal/random/scale.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace shoal::random {

inline constexpr std::size_t kLaplaceGroupWords = 4 * kLanes;

// Draws `groups` times eight trials from their words (laplace_look.hpp). Sets accepted[g], and bit
// j of ambiguous[g] where lane j is too close to call: its value is meaningless. Returns whether
// there was any.
bool laplace_groups_scalar(const LaplaceTables& tables, const std::uint32_t* words,
                           std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                           std::uint8_t* ambiguous);
bool laplace_groups_avx2(const LaplaceTables& tables, const std::uint32_t* words,
                         std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                         std::uint8_t* ambiguous);

class LaplaceTrials final : public NoiseLaw {
 public:
  // For scale >= 128.
  LaplaceTrials(double scale, LaplaceKind kind);

  void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const override;

  const LaplaceTables& tables() const { return tables_; }

  // What a trial gives, exactly; nothing if it is rejected. U and u are continued from `bits`, and
  // so is the lambda of a continuous law.
  std::optional<std::int64_t> resolve(LazyUniform rank, LazyUniform u, std::uint64_t place_word,
                                      BitSource& bits) const;

 private:
  LaplaceTrials(double t, int j, LaplaceKind kind);

  std::uint64_t resolve_rank(LazyUniform& rank, BitSource& bits) const;
  bool accepts(LazyUniform& u, std::uint64_t place_word, BitSource& bits) const;
  // e^(-digits 2^-bits / t).
  numeric::Enclosure power(const numeric::BigInt& digits, int bits, int precision) const;

  DyadicScale t_;
  LaplaceTables tables_;
};

}  // namespace shoal::random
