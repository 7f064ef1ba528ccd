// Noise by trials, for large scales: |Y| = 2^j (h + lambda), where h is a small whole number found
// by comparing words with thresholds, and lambda is uniform on [0, 1): a multiple of 2^-j for a
// discrete law, any real number for a continuous one. The pair is accepted with the probability
// that turns steps into the curve of the law, and gets a fair sign. A discrete law rejects minus
// zero; a continuous one is rounded to the nearest integer. Laplace noise has trials of its own
// (laplace_trials.hpp), which share what is at the end of this file.
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

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace shoal::random {

// A trial's words, eight lanes each: those of h (top bits flipped), u, lambda (two words if wide,
// the pair of a lane together). The lowest bit of lambda's is the sign.
struct TrialTables {
  bool wide;                  // lambda from words of 64 bits instead of 32
  bool rounded;               // lambda is any real number; minus zero is a value like any other
  int lambda_bits;            // digits of lambda in the value: j, or j + 1 to round by
  int drop;                   // digits rounded away at the end: 0, or max(1, -j)
  std::uint64_t lambda_mask;  // which of the first 52 digits lambda has: j, or all
  double slope;               // -log of the acceptance is slope * lambda (2h + lambda)
  std::size_t rank_words;     // of h
  std::size_t words;          // of one trial
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
  void set_up(double t, int j, bool rounded, std::size_t rank_words);

 private:
  bool accepts(std::uint64_t h, std::uint32_t u, std::uint64_t lambda, BitSource& bits) const;
  std::optional<std::int64_t> resolve_lane(const std::uint32_t* words, std::size_t lane,
                                           BitSource& bits) const;

  TrialTables trial_{};
};

// Whether U < p(lambda) for a p that falls with lambda and encloses as p(digits, bits, precision),
// lambda = digits 2^-bits. Lambda is known to some digits only: its two ends decide, or both
// numbers get more digits.
template <class Probability>
bool is_below_falling(LazyUniform& u, LazyUniform& lambda, const Probability& p, BitSource& bits) {
  while (true) {
    const int precision = std::max(u.bits(), lambda.bits()) + 64;
    const numeric::Enclosure most = p(lambda.digits(), lambda.bits(), precision);
    const numeric::Enclosure least = p(lambda.digits() + 1, lambda.bits(), precision);
    const int shift = precision - u.bits();
    if (least.low >= (u.digits() + 1) << shift) return true;
    if (most.high <= u.digits() << shift) return false;
    u.extend(bits);
    lambda.extend(bits);
  }
}

// Draws until `values` is full, at most MaxGroups groups of trials at a time: as many as
// groups_for(values missing) says, by draw(words, groups, trials, accepted, ambiguous); ambiguous
// lanes by resolve(words of the group, lane).
template <std::size_t MaxGroups, class GroupsFor, class Draw, class Resolve>
void fill_by_trials(std::span<std::int64_t> values, BitSource& bits, Kernel kernel,
                    std::size_t group_words, const GroupsFor& groups_for, const Draw& draw,
                    const Resolve& resolve) {
  const auto keep = kernel == Kernel::avx2 ? keep_accepted_avx2 : keep_accepted_scalar;
  WordBlock block;
  ValueBlock<MaxGroups * kLanes> drawn;
  std::array<std::uint8_t, MaxGroups> accepted;
  std::array<std::uint8_t, MaxGroups> ambiguous;
  while (!values.empty()) {
    const std::size_t groups = groups_for(values.size());
    const std::uint32_t* words = block.draw(groups * group_words, bits);
    std::int64_t* trials = drawn.take(groups * kLanes);
    if (draw(words, groups, trials, accepted.data(), ambiguous.data())) {
      for (std::size_t i = 0; i < groups * kLanes; ++i) {
        const unsigned lane = 1u << (i % kLanes);
        std::uint8_t& mask = accepted[i / kLanes];
        if ((ambiguous[i / kLanes] & lane) == 0) continue;
        const std::optional<std::int64_t> value =
            resolve(words + i / kLanes * group_words, i % kLanes);
        mask = static_cast<std::uint8_t>(value ? mask | lane : mask & ~lane);
        trials[i] = value.value_or(0);
      }
    }
    const bool fits = values.size() >= groups * kLanes;
    std::size_t kept = keep(trials, accepted.data(), groups, fits ? values.data() : trials);
    if (!fits) {
      kept = std::min(kept, values.size());
      std::copy_n(trials, kept, values.begin());
    }
    values = values.subspan(kept);
  }
}

}  // namespace shoal::random
