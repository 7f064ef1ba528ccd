// Laplace noise by trials: scale = t 2^j with t in [22, 44), h geometric with ratio e^(-1/t), as
// one digit and what is above it, and acceptance e^(-lambda/t). At least 0.97 of the trials are
// accepted.
#pragma once

#include "random/digit_law.hpp"
#include "random/trial_law.hpp"

namespace shoal::random {

class LaplaceTrials final : public TrialLaw {
 public:
  // A discrete or geometric law needs scale >= 44.
  LaplaceTrials(double scale, LaplaceKind kind, int word_bits = kWordBits);

  void rank(const std::uint32_t* words, std::size_t groups, std::int64_t* values,
            std::uint8_t* ambiguous, Kernel kernel) const override;
  std::uint64_t resolve_rank(const std::uint32_t* words, BitSource& bits) const override;
  numeric::Enclosure acceptance(std::uint64_t h, const numeric::BigInt& digits, int bits,
                                int precision) const override;

  const DigitLaw& digits() const { return digits_; }

 private:
  LaplaceTrials(double t, int j, LaplaceKind kind, int word_bits);

  DyadicScale t_;
  DigitLaw digits_;
};

}  // namespace shoal::random
