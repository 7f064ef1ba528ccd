// What every local randomizer must offer, as a concept: the sister of Mechanism for one person's
// value that is randomized before anybody else sees it.
//
// What is drawn is drawn without the truth, and joined to it afterwards by plain arithmetic. So
// neither the bits used nor the time can depend on the truth; and as the draws take the same time
// for every outcome, but for words of probability below 2^-61, the time does not tell whether a
// report is the truth either.
//
// Truths and reports are numbers from 0 on; each randomizer says what its reports mean. Neighbours
// are any two truths: the guarantee is about one person's whole value (replace one).
#pragma once

#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::mechanism {

// What a randomizer drew. Its meaning is the randomizer's; whoever knows it and the report knows
// the truth, so it is never kept.
struct Draw {
  std::uint64_t value = 0;
  bool operator==(const Draw&) const = default;
};

// The two truths that are easiest to tell apart. Both orders have to be looked at.
struct TruthPair {
  std::uint64_t first = 0;
  std::uint64_t second = 1;
  bool operator==(const TruthPair&) const = default;
};

// For a spec s that validate accepts (every other function throws invalid_argument for one that it
// does not):
//   validate(s)                throws invalid_argument if a parameter is out of range
//   truth_count, report_count  truths and reports are the numbers below these
//   prepare(s)                 a sampler for many draws: .sample(bits), const, shared by threads
//   sample(s, bits)            one draw, exact; throws unavailable if there are no bits
//   respond(s, truth, draw)    the report; throws invalid_argument for a truth or draw out of range
//   log_pmf(s, truth, report)  natural logarithm of P(report | truth), an approximation: for audits
//                              and tests
//   privacy_event(s)           what one report does to the person's data
//   audit_target(s)            the worst pair of truths
//   name(s), describe(s)       its name in JSON, one line for people
//   to_json(s), from_json(t, s)  {"<name>": {"<parameter>": number, ...}}; reading throws
//   parse_error
template <class Spec>
concept Randomizer = std::regular<Spec> &&
    requires(const Spec spec, Spec& target, random::BitSource& bits, std::uint64_t truth,
             std::uint64_t report, Draw draw, std::string_view text) {
  { validate(spec) } -> std::same_as<void>;
  { truth_count(spec) } -> std::same_as<std::uint64_t>;
  { report_count(spec) } -> std::same_as<std::uint64_t>;
  { prepare(spec).sample(bits) } -> std::same_as<Draw>;
  { sample(spec, bits) } -> std::same_as<Draw>;
  { respond(spec, truth, draw) } -> std::same_as<std::uint64_t>;
  { log_pmf(spec, truth, report) } -> std::same_as<double>;
  { privacy_event(spec) } -> std::same_as<privacy::Event>;
  { audit_target(spec) } -> std::same_as<TruthPair>;
  { name(spec) } -> std::same_as<std::string_view>;
  { describe(spec) } -> std::same_as<std::string>;
  { to_json(spec) } -> std::same_as<std::string>;
  { from_json(text, target) } -> std::same_as<void>;
};

}  // namespace shoal::mechanism
