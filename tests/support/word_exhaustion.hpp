// Plays every tuple of short words: what a sampler that compares words with thresholds makes of
// them, as exact probabilities. No sampling error, so no false alarms.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace shoal::test {

struct WordMass {
  std::map<std::int64_t, double> decided;  // exact: multiples of one power of two
  double undecided = 0;

  // Whether no value got more than its probability, or could not reach it with what is undecided. A
  // sampler that decides only what is certain always brackets its law; a wrong threshold does not.
  bool brackets(const std::function<double(std::int64_t)>& pmf, std::int64_t radius) const {
    for (const auto& [x, mass] : decided) {
      if (mass > pmf(x) * (1 + 1e-12) + 1e-15) return false;
    }
    for (std::int64_t x = -radius; x <= radius; ++x) {
      const auto found = decided.find(x);
      const double mass = found == decided.end() ? 0 : found->second;
      if (mass + undecided < pmf(x) - 1e-15) return false;
    }
    return true;
  }
};

using DecideWords = std::function<std::optional<std::int64_t>(const std::vector<std::uint32_t>&)>;

inline WordMass exhaust_words(std::size_t words, int word_bits, const DecideWords& decide) {
  WordMass result;
  const std::uint64_t tuples = std::uint64_t{1} << (words * static_cast<unsigned>(word_bits));
  const double weight = 1 / static_cast<double>(tuples);
  std::vector<std::uint32_t> tuple(words);
  for (std::uint64_t t = 0; t < tuples; ++t) {
    for (std::size_t i = 0; i < words; ++i) {
      const auto shift = i * static_cast<unsigned>(word_bits);
      tuple[i] = static_cast<std::uint32_t>((t >> shift) & ((std::uint64_t{1} << word_bits) - 1));
    }
    const std::optional<std::int64_t> value = decide(tuple);
    if (value) {
      result.decided[*value] += weight;
    } else {
      result.undecided += weight;
    }
  }
  return result;
}

}  // namespace shoal::test
