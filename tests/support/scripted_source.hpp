// A source that replays given bits, counts them and throws when they run out, so that a test can
// walk every bit string and see exactly what a sampler does with it.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace shoal::test {

// Not a shoal::Error: no code under test may mistake it for one of its own.
struct ScriptExhausted {};

class ScriptedSource final : public random::BitSource {
 public:
  explicit ScriptedSource(std::vector<bool> bits) : bits_(std::move(bits)) {}

  void fill(std::span<unsigned char> bytes) override {
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(next_bits(8));
  }

  // The first bit of the script is the highest of the number.
  std::uint64_t next_bits(int count) override {
    const auto wanted = static_cast<std::size_t>(count);
    if (bits_.size() - used_ < wanted) throw ScriptExhausted{};
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < wanted; ++i) number = 2 * number + (bits_[used_ + i] ? 1 : 0);
    used_ += wanted;
    return number;
  }

  std::size_t bits_used() const { return used_; }

 private:
  std::vector<bool> bits_;
  std::size_t used_ = 0;
};

}  // namespace shoal::test
