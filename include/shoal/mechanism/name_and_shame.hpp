// Name and shame: a row is published as it is with probability delta, else nothing of it is. It is
// (0, delta)-private, and shows what a delta that is not tiny allows: of n rows, delta n are
// published. For audits and for teaching; no plan uses it. Proof note:
// src/mechanism/name_and_shame.proof.md. Contracts of the functions: randomizer.hpp.
#pragma once

#include <shoal/mechanism/randomizer.hpp>
#include <shoal/mechanism/threshold_coin.hpp>

namespace shoal::mechanism {

// delta, from 0 to 1, stands for the exact value of the double. A truth is a row's value, below
// 2^63; the report 0 says nothing and the report t + 1 says that the value is t.
struct NameAndShame {
  double delta = 0;
  bool operator==(const NameAndShame&) const = default;
};

// One spec, prepared. A draw is 0 (say nothing) or 1 (publish).
class NameAndShameSampler {
 public:
  explicit NameAndShameSampler(const NameAndShame& spec);
  Draw sample(random::BitSource& bits) const;

 private:
  ThresholdCoin publish_;
};

void validate(const NameAndShame& spec);
std::uint64_t truth_count(const NameAndShame& spec);
std::uint64_t report_count(const NameAndShame& spec);
NameAndShameSampler prepare(const NameAndShame& spec);
Draw sample(const NameAndShame& spec, random::BitSource& bits);
std::uint64_t respond(const NameAndShame& spec, std::uint64_t truth, Draw draw);
double log_pmf(const NameAndShame& spec, std::uint64_t truth, std::uint64_t report);
privacy::Event privacy_event(const NameAndShame& spec);
TruthPair audit_target(const NameAndShame& spec);
std::string_view name(const NameAndShame& spec);
std::string describe(const NameAndShame& spec);
std::string to_json(const NameAndShame& spec);
void from_json(std::string_view text, NameAndShame& spec);

static_assert(Randomizer<NameAndShame>);

}  // namespace shoal::mechanism
