// Which code draws: AVX2 instructions, or portable code. Both give the same values from the same
// bits; tests hold them to it.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::random {

enum class Kernel { scalar, avx2 };

// AVX2 where the processor has it (and fused multiply-add, which trials need).
Kernel best_kernel();

// Values are drawn in groups of this many, one lane each. What a group leaves over is dropped, so
// the bits that a call takes depend on the number of values alone.
inline constexpr std::size_t kLanes = 8;

inline constexpr std::size_t kBlockWords = 4096;

// Splits a request into whole groups and a last one of which a part is dropped.
template <class FillGroups>
void fill_whole_groups(std::span<std::int64_t> values, const FillGroups& fill_groups) {
  const std::size_t whole = values.size() / kLanes * kLanes;
  fill_groups(values.first(whole));
  if (whole == values.size()) return;
  std::array<std::int64_t, kLanes> last{};
  fill_groups(std::span<std::int64_t>(last));
  for (std::size_t i = whole; i < values.size(); ++i) values[i] = last[i - whole];
}

// Overwrites memory that held noise, in a way that no compiler leaves out.
void wipe(void* memory, std::size_t bytes);

// Random words, drawn a block at a time and wiped when the call that used them ends, however it
// ends. On the stack of that call: no other thread and no later fork() finds them.
class WordBlock {
 public:
  WordBlock() = default;
  WordBlock(const WordBlock&) = delete;
  WordBlock& operator=(const WordBlock&) = delete;
  ~WordBlock();

  // `count` fresh words, at most kBlockWords; the ones before are gone.
  const std::uint32_t* draw(std::size_t count, BitSource& bits);

 private:
  std::size_t touched_ = 0;
  alignas(64) std::array<std::uint32_t, kBlockWords> words_;
};

// The same for noise that was drawn and may not be used.
template <std::size_t Size>
class ValueBlock {
 public:
  ValueBlock() = default;
  ValueBlock(const ValueBlock&) = delete;
  ValueBlock& operator=(const ValueBlock&) = delete;
  ~ValueBlock() { wipe(values_.data(), touched_ * sizeof(std::int64_t)); }

  std::int64_t* take(std::size_t count) {
    touched_ = touched_ < count ? count : touched_;
    return values_.data();
  }

 private:
  std::size_t touched_ = 0;
  alignas(64) std::array<std::int64_t, Size> values_;
};

}  // namespace shoal::random
