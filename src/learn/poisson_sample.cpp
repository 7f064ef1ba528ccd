#include "learn/poisson_sample.hpp"

#include <shoal/random/uniform.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace shoal::learn {

std::vector<std::uint64_t> poisson_sample(std::uint64_t rows, std::uint64_t units,
                                          random::BitSource& bits) {
  constexpr std::uint64_t kWords = 1024;
  std::array<std::uint32_t, kWords> words;
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t first = 0; first < rows; first += kWords) {
    const std::uint64_t count = std::min(kWords, rows - first);
    std::array<unsigned char, kWords * sizeof(std::uint32_t)> bytes;
    const auto part = std::span(bytes).first(count * sizeof(std::uint32_t));
    bits.fill(part);
    std::memcpy(words.data(), part.data(), part.size());
    for (std::uint64_t i = 0; i < count; ++i)
      if (words[i] < units) chosen.push_back(first + i);
  }
  return chosen;
}

std::vector<std::vector<std::uint64_t>> random_parts(std::uint64_t rows, std::uint64_t parts,
                                                     random::BitSource& bits) {
  std::vector<std::vector<std::uint64_t>> made(parts);
  for (std::uint64_t i = 0; i < rows; ++i) made[random::uniform_below(parts, bits)].push_back(i);
  return made;
}

}  // namespace shoal::learn
