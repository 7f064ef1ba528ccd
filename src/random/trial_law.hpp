// Noise by trials, for large scales: |Y| = 2^j (h + lambda), where h is a small whole number found
// by comparing words with thresholds, and lambda is uniform on [0, 1): a multiple of 2^-j for a
// discrete law, any real number for a continuous one. The pair is accepted with the probability
// that turns steps into the curve of the law, and gets a fair sign. A discrete law rejects minus
// zero; a continuous one is rounded to the nearest integer.
//
// The acceptance compares 30 digits of a word with a polynomial in double precision
// (acceptance.hpp); if the two are next to each other the exact comparison decides. Whether a trial
// is accepted says nothing about the value that is accepted in the end, so time and bits do not
// depend on the values. Proof: exact_sampling.proof.md.
#pragma once

#include "random/noise_law.hpp"
#include "random/threshold.hpp"

#include <shoal/base/int128.hpp>
#include <shoal/random/bit_source.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace shoal::random {

// Accept above this difference of probability and word, reject below minus it.
inline constexpr double kAcceptMargin = 0x1p-30;

// -log of the acceptance: slope * lambda (2h + lambda) for the Gaussian, slope * lambda for
// Laplace.
enum class Curve { gaussian, laplace };

// A trial's words, eight lanes each: those of h (top bits flipped), u, lambda (two words if wide,
// the pair of a lane together). The lowest bit of lambda's is the sign.
struct TrialTables {
  Curve curve;
  bool wide;                      // lambda from words of 64 bits instead of 32
  bool rounded;                   // lambda is any real number; minus zero is a value like any other
  std::uint32_t sign_bit;         // 1, or 0 for noise that is never negative
  int lambda_bits;                // digits of lambda in the value: j, or j + 1 to round by
  int drop;                       // digits rounded away at the end: 0, or max(1, -j)
  std::uint64_t lambda_mask;      // which of the first 52 digits lambda has: j, or all
  double slope;                   // Gaussian: 1 / (2t^2), nearest double
  std::array<double, 5> laplace;  // laplace_coefficients(t)
  std::size_t rank_words;         // of h
  std::size_t words;              // of one trial
};

// Takes `values` as h and makes them the values of the trials; sets accepted[g], and adds to
// ambiguous[g] the lanes that are too close to call. Returns whether any lane is ambiguous.
bool judge_trials_scalar(const TrialTables& tables, const std::uint32_t* words, std::size_t groups,
                         std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous);
bool judge_trials_avx2(const TrialTables& tables, const std::uint32_t* words, std::size_t groups,
                       std::int64_t* values, std::uint8_t* accepted, std::uint8_t* ambiguous);

// Copies the accepted values to the front of `to`, which has room for all and may be `values`, and
// says how many they are. Its time depends on which trials were accepted, not on their values.
std::size_t keep_accepted_scalar(const std::int64_t* values, const std::uint8_t* accepted,
                                 std::size_t groups, std::int64_t* to);
std::size_t keep_accepted_avx2(const std::int64_t* values, const std::uint8_t* accepted,
                               std::size_t groups, std::int64_t* to);

class TrialLaw : public NoiseLaw {
 public:
  void fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const override;

  const TrialTables& trial() const { return trial_; }

  // What a trial gives, exactly; nothing if it is rejected. `rank_words` are those of h, not
  // flipped.
  std::optional<std::int64_t> resolve(const std::uint32_t* rank_words, std::uint32_t u,
                                      std::uint64_t lambda, BitSource& bits) const;

  // h from its words: with masks of what is on a threshold, or exactly (words not flipped).
  virtual void rank(const std::uint32_t* words, std::size_t groups, std::int64_t* values,
                    std::uint8_t* ambiguous, Kernel kernel) const = 0;
  virtual std::uint64_t resolve_rank(const std::uint32_t* words, BitSource& bits) const = 0;

  // The probability of accepting (h, lambda), for lambda = digits * 2^-bits.
  virtual numeric::Enclosure acceptance(std::uint64_t h, const numeric::BigInt& digits, int bits,
                                        int precision) const = 0;

 protected:
  // `t` and `j` as above.
  void set_up(Curve curve, double t, int j, bool rounded, std::size_t rank_words);
  void never_negative() { trial_.sign_bit = 0; }

 private:
  bool accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda, BitSource& bits) const;
  std::uint8_t resolve_group(const std::uint32_t* words, unsigned lanes, unsigned accepted,
                             std::int64_t* values, BitSource& bits) const;

  TrialTables trial_{};
};

}  // namespace shoal::random
