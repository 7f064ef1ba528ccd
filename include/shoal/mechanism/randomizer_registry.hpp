// The registry of local randomizers: one variant of every one there is. Its members are
// constrained, so one that lacks its privacy or its audit does not compile; tests/contract runs
// over all of them.
//
// The functions below dispatch to the member's own; contracts: randomizer.hpp.
#pragma once

#include <shoal/mechanism/leaky_randomized_response.hpp>
#include <shoal/mechanism/name_and_shame.hpp>
#include <shoal/mechanism/randomized_response.hpp>
#include <shoal/mechanism/randomizer.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

template <Randomizer... Specs>
using RandomizerRegistry = std::variant<Specs...>;

using AnyRandomizer = RandomizerRegistry<RandomizedResponse, LeakyRandomizedResponse, NameAndShame>;

void validate(const AnyRandomizer& spec);
std::uint64_t truth_count(const AnyRandomizer& spec);
std::uint64_t report_count(const AnyRandomizer& spec);
Draw sample(const AnyRandomizer& spec, random::BitSource& bits);
std::uint64_t respond(const AnyRandomizer& spec, std::uint64_t truth, Draw draw);
double log_pmf(const AnyRandomizer& spec, std::uint64_t truth, std::uint64_t report);
privacy::Event privacy_event(const AnyRandomizer& spec);
TruthPair audit_target(const AnyRandomizer& spec);
std::string_view name(const AnyRandomizer& spec);
std::string describe(const AnyRandomizer& spec);
std::string to_json(const AnyRandomizer& spec);

// Throws parse_error for text that is no JSON and for an unknown or malformed randomizer.
AnyRandomizer randomizer_from_json(std::string_view text);

}  // namespace shoal::mechanism
