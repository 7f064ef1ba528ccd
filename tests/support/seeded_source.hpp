// A reproducible stream for tests: splitmix64 over a counter. Never in anything that is installed.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstring>

namespace shoal::test {

class SeededSource final : public random::BitSource {
 public:
  explicit SeededSource(std::uint64_t seed) : state_(seed * 0xD1342543DE82EF95u) {}

  void fill(std::span<unsigned char> bytes) override {
    while (!bytes.empty()) {
      const std::uint64_t word = next();
      const std::size_t count = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
      std::memcpy(bytes.data(), &word, count);
      bytes = bytes.subspan(count);
    }
  }

  std::uint64_t next_bits(int count) override { return count == 0 ? 0 : next() >> (64 - count); }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace shoal::test
