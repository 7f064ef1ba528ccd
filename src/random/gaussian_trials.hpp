// Gaussian noise by trials: sigma = t 2^j with t in [2, 4), P(h) proportional to e^(-h^2/(2t^2)),
// and acceptance e^(-lambda (2h + lambda)/(2t^2)). From 0.83 to 0.91 of the trials are accepted.
#pragma once

#include "random/gaussian_ranks.hpp"
#include "random/trial_law.hpp"

namespace shoal::random {

class GaussianTrials final : public TrialLaw {
 public:
  // A discrete law needs sigma >= 4.
  GaussianTrials(double sigma, GaussianKind kind, int word_bits = kWordBits);

  void rank(const std::uint32_t* words, std::size_t groups, std::int64_t* values,
            std::uint8_t* ambiguous, Kernel kernel) const override;
  std::uint64_t resolve_rank(const std::uint32_t* words, BitSource& bits) const override;
  numeric::Enclosure acceptance(std::uint64_t h, const numeric::BigInt& digits, int bits,
                                int precision) const override;

  const GaussianRanks& ranks() const { return ranks_; }

 private:
  GaussianTrials(double t, int j, GaussianKind kind, int word_bits);

  GaussianRanks ranks_;
};

}  // namespace shoal::random
