// Randomized response of one bit that leaks: with probability delta the truth is told, and shown to
// be the truth; else it goes through randomized response of two categories. The worst that an
// (epsilon, delta)-private mechanism can do to a pair of neighbours: every other one is a
// post-processing of it (simulation.hpp). Proof note:
// src/mechanism/leaky_randomized_response.proof.md. Contracts of the functions: randomizer.hpp.
#pragma once

#include <shoal/mechanism/randomizer.hpp>
#include <shoal/mechanism/threshold_coin.hpp>

namespace shoal::mechanism {

// What a report says: a randomized bit, or that the bit surely is 0 (U) or 1 (V).
enum class LeakyReport : std::uint64_t { zero = 0, one = 1, surely_zero = 2, surely_one = 3 };

// Doubles stand for their exact values: epsilon from 0 to kMaxEpsilon, delta from 0 to 1.
struct LeakyRandomizedResponse {
  double epsilon = 0;
  double delta = 0;
  bool operator==(const LeakyRandomizedResponse&) const = default;
};

// One spec, prepared. A draw is 0 (keep the bit), 1 (flip it) or 2 (leak it).
class LeakyRandomizedResponseSampler {
 public:
  explicit LeakyRandomizedResponseSampler(const LeakyRandomizedResponse& spec);
  Draw sample(random::BitSource& bits) const;

 private:
  ThresholdCoin leak_;
  ThresholdCoin keep_;
};

void validate(const LeakyRandomizedResponse& spec);
std::uint64_t truth_count(const LeakyRandomizedResponse& spec);
std::uint64_t report_count(const LeakyRandomizedResponse& spec);
LeakyRandomizedResponseSampler prepare(const LeakyRandomizedResponse& spec);
Draw sample(const LeakyRandomizedResponse& spec, random::BitSource& bits);
std::uint64_t respond(const LeakyRandomizedResponse& spec, std::uint64_t truth, Draw draw);
double log_pmf(const LeakyRandomizedResponse& spec, std::uint64_t truth, std::uint64_t report);
privacy::Event privacy_event(const LeakyRandomizedResponse& spec);
TruthPair audit_target(const LeakyRandomizedResponse& spec);
std::string_view name(const LeakyRandomizedResponse& spec);
std::string describe(const LeakyRandomizedResponse& spec);
std::string to_json(const LeakyRandomizedResponse& spec);
void from_json(std::string_view text, LeakyRandomizedResponse& spec);

static_assert(Randomizer<LeakyRandomizedResponse>);

}  // namespace shoal::mechanism
