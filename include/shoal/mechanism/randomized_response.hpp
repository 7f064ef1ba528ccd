// Randomized response over k categories: the truth with probability p = e^epsilon / (e^epsilon + k
// - 1), else one of the other categories, each with probability q = p e^-epsilon. A report is a
// category. Proof note: src/mechanism/randomized_response.proof.md. Contracts of the functions:
// randomizer.hpp. Frequencies from many reports: frequency.hpp.
#pragma once

#include <shoal/mechanism/randomizer.hpp>
#include <shoal/mechanism/threshold_coin.hpp>

#include <span>

namespace shoal::mechanism {

inline constexpr std::uint64_t kMaxCategories = std::uint64_t{1} << 20;

// epsilon, from 0 to kMaxEpsilon, stands for the exact value of the double. categories from 2 to
// kMaxCategories.
struct RandomizedResponse {
  double epsilon = 0;
  std::uint64_t categories = 0;  // to be set: 0 is refused
  bool operator==(const RandomizedResponse&) const = default;
};

// One spec, prepared: a draw is an offset, to be added to the truth modulo k.
class RandomizedResponseSampler {
 public:
  explicit RandomizedResponseSampler(const RandomizedResponse& spec);

  Draw sample(random::BitSource& bits) const;
  // sample and respond in one.
  std::uint64_t report(std::uint64_t truth, random::BitSource& bits) const;
  // One report a truth, each with its own draw; both of the same length, else invalid_argument. The
  // quickest way to many reports, since the bits are taken many at a time.
  void report_all(std::span<const std::uint64_t> truths, std::span<std::uint64_t> reports,
                  random::BitSource& bits) const;

 private:
  Draw draw(std::uint64_t keep_word, std::uint64_t offset_word, random::BitSource& bits) const;

  RandomizedResponse spec_;
  ThresholdCoin keep_;
  std::uint64_t others_;
  std::uint64_t surplus_;  // 2^64 mod others: so many words would make some offsets likelier
};

void validate(const RandomizedResponse& spec);
std::uint64_t truth_count(const RandomizedResponse& spec);
std::uint64_t report_count(const RandomizedResponse& spec);
RandomizedResponseSampler prepare(const RandomizedResponse& spec);
Draw sample(const RandomizedResponse& spec, random::BitSource& bits);
std::uint64_t respond(const RandomizedResponse& spec, std::uint64_t truth, Draw draw);
double log_pmf(const RandomizedResponse& spec, std::uint64_t truth, std::uint64_t report);
privacy::Event privacy_event(const RandomizedResponse& spec);
TruthPair audit_target(const RandomizedResponse& spec);
std::string_view name(const RandomizedResponse& spec);
std::string describe(const RandomizedResponse& spec);
std::string to_json(const RandomizedResponse& spec);
void from_json(std::string_view text, RandomizedResponse& spec);

static_assert(Randomizer<RandomizedResponse>);

}  // namespace shoal::mechanism
