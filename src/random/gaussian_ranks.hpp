// Ranks k = 0, 1, 2, ... with P(k) proportional to e^(-k^2/(2t^2)), or with the magnitudes of a
// discrete Gaussian, where every rank but 0 counts twice: found by comparing one word with the
// cumulated law.
#pragma once

#include "random/kernel.hpp"
#include "random/threshold.hpp"

#include <shoal/random/bit_source.hpp>
#include <shoal/random/scale.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace shoal::random {

inline constexpr std::size_t kMaxRanks = 255;
inline constexpr int kTrialLevels = 5;  // t < 4 has at most 31 ranks

// Thresholds in order, and packed for AVX2.
struct RankTables {
  std::size_t count;
  std::array<std::uint32_t, kMaxRanks> ranks;
  int levels;
  alignas(32) std::array<std::int32_t, 272> packed;
};

// The ranks that words begin (eight lanes a group, groups `group_words` apart, top bits flipped),
// with masks of those on a threshold. The AVX2 one is for tables of kTrialLevels.
void rank_groups_scalar(const RankTables& tables, const std::uint32_t* words,
                        std::size_t group_words, std::size_t groups, std::int64_t* values,
                        std::uint8_t* ambiguous);
void rank_groups_avx2(const RankTables& tables, const std::uint32_t* words, std::size_t group_words,
                      std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous);

class GaussianRanks {
 public:
  enum class Weights { once, twice_but_zero };

  // For t at most kFoldedSigma; below 4 if `once`.
  GaussianRanks(double t, Weights weights, int word_bits);

  const RankTables& tables() const { return tables_; }
  const numeric::BigInt& t_numerator() const { return t_numerator_; }
  const numeric::BigInt& t_denominator() const { return t_denominator_; }

  // The rank that a word (not flipped) begins, exactly.
  std::uint64_t resolve(std::uint32_t word, BitSource& bits) const;

  // P(rank <= 0), P(rank <= 1), ... up to one that all but equals 1.
  std::vector<numeric::Enclosure> at_most(int precision) const;

 private:
  void set_up(DyadicScale t);

  double t_;
  unsigned multiplicity_;
  int word_bits_;
  numeric::BigInt t_numerator_;
  numeric::BigInt t_denominator_;
  RankTables tables_{};
};

}  // namespace shoal::random
