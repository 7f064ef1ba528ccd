// Gaussian noise on the integers: the discrete law and the rounded normal.
//
// Small sigma (discrete only): |X| by comparing one word with the cumulated law, and a fair sign.
//
// Otherwise sigma = t 2^j with t in [2, 4), and |Y| = 2^j (h + lambda): h is a discrete half
// Gaussian with P(h) proportional to e^(-h^2/(2t^2)), found by comparing one word; lambda is
// uniform on [0, 1), a multiple of 2^-j for the discrete law and any real number for the normal
// one; the pair is accepted with probability e^(-lambda (2h + lambda)/(2t^2)), and gets a fair
// sign. For the discrete law minus zero is rejected; the normal variable is rounded to the nearest
// integer.
//
// The acceptance compares a word with a polynomial in double precision that is within 2^-31 of the
// probability; if the two are closer than 2^-30 the exact comparison decides. Whether a trial is
// accepted says nothing about the value that is accepted in the end. Proof:
// exact_sampling.proof.md.
#pragma once

#include "random/kernel.hpp"
#include "random/threshold.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/scale.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shoal::random {

enum class GaussianKind { discrete, rounded };

// From here on the discrete law goes by trials.
inline constexpr double kFoldedSigma = 36;
inline constexpr std::size_t kMaxRanks = 255;
inline constexpr int kTrialLevels = 5;  // t < 4 has at most 31 ranks

// Accept above this difference of probability and word, reject below minus it.
inline constexpr double kAcceptMargin = 0x1p-30;

struct GaussianTables {
  bool folded;                // small sigma: no trials
  bool wide;                  // lambda from words of 64 bits instead of 32
  bool rounded;               // minus zero is a value like any other
  int lambda_bits;            // digits of lambda in the value: j, or j + 1 to round by
  int drop;                   // digits rounded away at the end: 0, or max(1, -j)
  std::uint64_t lambda_mask;  // which of the first 52 digits lambda has: j, or all
  double half_slope;          // 1 / (2 t^2), nearest double
  std::size_t words;          // of one trial
  std::size_t count;
  std::array<std::uint32_t, kMaxRanks> ranks;
  int levels;
  alignas(32) std::array<std::int32_t, 272> packed;
};

// A trial's words: h, u, lambda (two words if wide, the pair of a lane together); the lowest bit of
// lambda's is the sign. Folded values: `groups` of one word each, and before them one register of
// signs for every 32 groups. Top bits of h's and folded words are flipped.
//
// trial_groups: values of eight trials each, with masks of what is accepted and what is too close
// to call (then value and acceptance are meaningless). Returns whether anything was.
bool folded_groups_scalar(const GaussianTables& tables, const std::uint32_t* words,
                          std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous);
bool folded_groups_avx2(const GaussianTables& tables, const std::uint32_t* words,
                        std::size_t groups, std::int64_t* values, std::uint8_t* ambiguous);
bool trial_groups_scalar(const GaussianTables& tables, const std::uint32_t* words,
                         std::size_t groups, std::int64_t* values, std::uint8_t* accepted,
                         std::uint8_t* ambiguous);
bool trial_groups_avx2(const GaussianTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous);

inline std::size_t sign_words(std::size_t groups) { return (groups + 31) / 32 * kLanes; }

class GaussianLaw {
 public:
  // Throws invalid_argument unless kMinScale <= sigma <= kMaxScale.
  GaussianLaw(double sigma, GaussianKind kind, int word_bits = kWordBits);

  void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel = best_kernel()) const;
  Int128 sample(BitSource& bits) const;

  const GaussianTables& tables() const { return tables_; }

  // The magnitude (folded) or h that a word (not flipped) begins, exactly.
  std::uint64_t resolve_rank(std::uint32_t word, BitSource& bits) const;

  // What a trial of these words (not flipped) gives, exactly; nothing if it is rejected.
  std::optional<std::int64_t> resolve_trial(std::uint32_t h, std::uint32_t u, std::uint64_t lambda,
                                            BitSource& bits) const;

  // P(rank <= 0), P(rank <= 1), ... up to one that all but equals 1.
  std::vector<numeric::Enclosure> rank_at_most(int precision) const;

  // The probability of accepting (h, lambda), for lambda = digits * 2^-bits.
  numeric::Enclosure acceptance(std::uint64_t h, const numeric::BigInt& digits, int bits,
                                int precision) const;

 private:
  void set_up_ranks(DyadicScale t);
  bool accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda, BitSource& bits) const;
  std::uint8_t resolve_group(const std::uint32_t* words, unsigned lanes, unsigned accepted,
                             std::int64_t* values, BitSource& bits) const;
  void fill_folded(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const;
  void fill_trials(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const;

  // t, or sigma if folded, is t_numerator_ / t_denominator_.
  numeric::BigInt t_numerator_;
  numeric::BigInt t_denominator_;
  double t_;
  int word_bits_;
  GaussianTables tables_{};
};

}  // namespace shoal::random
