// Local randomizers that are wrong on purpose, each in a way that a real one has been or could be.
// A test suite that lets one of them through is not good enough.
#pragma once

#include <shoal/mechanism/randomizer_registry.hpp>
#include <shoal/random/uniform.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace shoal::mutants {

using Responder = std::function<std::uint64_t(std::uint64_t truth, random::BitSource&)>;

struct RandomizerMutant {
  const char* name;
  mechanism::AnyRandomizer claimed;
  // Whether it breaks the privacy claim, so that the audit has to see it from samples alone. One
  // that keeps it is left to the chi-square test.
  bool breaks_privacy;
  Responder respond;
};

// Randomized response with any chance to keep the truth and any offsets 1 .. last.
inline Responder keeping(double chance, std::uint64_t first, std::uint64_t last,
                         std::uint64_t categories) {
  return [=](std::uint64_t truth, random::BitSource& bits) {
    const bool keep = static_cast<double>(bits.next_bits(53)) * 0x1p-53 < chance;
    const std::uint64_t offset = first + random::uniform_below(last - first + 1, bits);
    return keep ? truth : (truth + offset) % categories;
  };
}

inline std::vector<RandomizerMutant> randomizer_mutants() {
  using namespace mechanism;
  const RandomizedResponse claimed{1, 4};
  const double ratio = std::exp(1.0);
  const auto binary = std::make_shared<RandomizedResponseSampler>(RandomizedResponse{1, 2});
  const auto honest = std::make_shared<RandomizedResponseSampler>(claimed);
  const auto leaky =
      std::make_shared<LeakyRandomizedResponseSampler>(prepare(LeakyRandomizedResponse{1, 0.04}));
  const auto shame = std::make_shared<NameAndShameSampler>(prepare(NameAndShame{0.01}));
  return {
      {"k_instead_of_k_minus_one", claimed, false, keeping(ratio / (ratio + 4), 1, 3, 4)},
      {"k_minus_two_instead_of_k_minus_one", claimed, true, keeping(ratio / (ratio + 2), 1, 3, 4)},
      {"keeps_as_if_binary", claimed, true, keeping(ratio / (ratio + 1), 1, 3, 4)},
      {"lies_may_be_the_truth", claimed, true, keeping(ratio / (ratio + 3), 0, 3, 4)},
      {"one_category_is_never_a_lie", claimed, true, keeping(ratio / (ratio + 3), 1, 2, 4)},
      {"always_the_truth", claimed, true, keeping(1, 1, 3, 4)},
      {"truth_dependent_coin", claimed, true,
       [honest](std::uint64_t truth, random::BitSource& bits) {
         const std::uint64_t report = honest->report(truth, bits);
         // A second try for one truth, as a cache or a retry would give it.
         return truth == 0 && report != 0 ? honest->report(truth, bits) : report;
       }},
      {"ones_are_never_turned_off", RandomizedResponse{1, 2}, true,
       [binary](std::uint64_t truth, random::BitSource& bits) {
         return truth | binary->report(truth, bits);
       }},
      {"offset_of_another_report", RandomizedResponse{1, 2}, false,
       [binary](std::uint64_t, random::BitSource& bits) { return binary->report(0, bits); }},
      {"four_times_the_delta", LeakyRandomizedResponse{1, 0.01}, true,
       [leaky](std::uint64_t truth, random::BitSource& bits) {
         return respond(LeakyRandomizedResponse{1, 0.04}, truth, leaky->sample(bits));
       }},
      {"missing_delta", LeakyRandomizedResponse{1, 0}, true,
       [leaky](std::uint64_t truth, random::BitSource& bits) {
         return respond(LeakyRandomizedResponse{1, 0.04}, truth, leaky->sample(bits));
       }},
      {"name_and_shame_as_nothing", NameAndShame{0}, true,
       [shame](std::uint64_t truth, random::BitSource& bits) {
         return respond(NameAndShame{0.01}, truth, shame->sample(bits));
       }},
  };
}

}  // namespace shoal::mutants
