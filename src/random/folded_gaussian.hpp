// The discrete Gaussian of small sigma: its magnitude from one word against the cumulated law, and
// a fair sign. Nothing is rejected.
#pragma once

#include "random/gaussian_ranks.hpp"
#include "random/noise_law.hpp"

namespace shoal::random {

// Words of `groups` groups: one register of signs for every 32 groups, then one word a value with
// its top bit flipped. Sets bit j of ambiguous[g] where a word is on a threshold, and says if any
// is.
bool folded_groups_scalar(const RankTables& tables, const std::uint32_t* words, std::size_t groups,
                          std::int64_t* values, std::uint8_t* ambiguous);
bool folded_groups_avx2(const RankTables& tables, const std::uint32_t* words, std::size_t groups,
                        std::int64_t* values, std::uint8_t* ambiguous);

inline std::size_t sign_words(std::size_t groups) { return (groups + 31) / 32 * kLanes; }

class FoldedGaussian final : public NoiseLaw {
 public:
  explicit FoldedGaussian(double sigma, int word_bits = kWordBits)
      : ranks_(sigma, GaussianRanks::Weights::twice_but_zero, word_bits) {}

  void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const override;

  const GaussianRanks& ranks() const { return ranks_; }

 private:
  void fill_groups(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const;

  GaussianRanks ranks_;
};

}  // namespace shoal::random
