// Keyed hashes that choose which groups and values of a unit count.
//
// No guarantee rests on how well they mix: a choice may be any function of the unit's own rows.
// They are keyed so that nobody who can write rows or ask questions can aim at a group. Units and
// keys go through SipHash-1-3; a pair of two such hashes is then mixed by one multiplication.
#pragma once

#include <shoal/base/int128.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

// Into functions that are compiled for another processor, too.
#define SHOAL_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace shoal::engine {

using HashKey = std::array<std::uint64_t, 2>;

// Of 64-bit words, or of several texts at a time: vectors of them.
template <typename Word>
class SipHashOf {
 public:
  SHOAL_ALWAYS_INLINE explicit SipHashOf(const HashKey& key) {
    v0_ += key[0] ^ 0x736f6d6570736575u;
    v1_ += key[1] ^ 0x646f72616e646f6du;
    v2_ += key[0] ^ 0x6c7967656e657261u;
    v3_ += key[1] ^ 0x7465646279746573u;
  }

  SHOAL_ALWAYS_INLINE void add(const Word& word) {
    v3_ ^= word;
    round();
    v0_ ^= word;
  }

  SHOAL_ALWAYS_INLINE void finish(Word& hash) {
    v2_ ^= 0xff;
    round();
    round();
    round();
    hash = v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  SHOAL_ALWAYS_INLINE static void rotate(Word& word, int bits) {
    word = (word << bits) | (word >> (64 - bits));
  }

  SHOAL_ALWAYS_INLINE void round() {
    v0_ += v1_;
    rotate(v1_, 13);
    v1_ ^= v0_;
    rotate(v0_, 32);
    v2_ += v3_;
    rotate(v3_, 16);
    v3_ ^= v2_;
    v0_ += v3_;
    rotate(v3_, 21);
    v3_ ^= v0_;
    v2_ += v1_;
    rotate(v1_, 17);
    v1_ ^= v2_;
    rotate(v2_, 32);
  }

  Word v0_ = {};
  Word v1_ = {};
  Word v2_ = {};
  Word v3_ = {};
};

using SipHash = SipHashOf<std::uint64_t>;

inline std::uint64_t hash_word(const HashKey& key, std::uint64_t word) {
  SipHash hash(key);
  hash.add(word);
  hash.add(std::uint64_t{8} << 56);  // the length, as the standard form has it
  std::uint64_t result = 0;
  hash.finish(result);
  return result;
}

inline std::uint64_t hash_text(const HashKey& key, std::string_view text) {
  SipHash hash(key);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    hash.add(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  std::memcpy(&last, text.data() + at, text.size() - at);
  hash.add(last);
  std::uint64_t result = 0;
  hash.finish(result);
  return result;
}

// hash_word of each, with vectors of words where the processor has them.
void hash_words(const HashKey& key, std::span<const std::uint64_t> words, std::uint64_t* hashes);

// Of two hashes; not symmetric.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const UInt128 product =
      static_cast<UInt128>(a ^ 0x9E3779B97F4A7C15u) * (b ^ std::rotl(a, 32) ^ 0xD1342543DE82EF95u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The hash of a group for a unit, from those of the unit and of the key: the groups with the
// smallest ones count. Of one unit, different hashes of keys give different ones. The first half is
// what vectors of 32-bit words can do.
inline std::uint64_t group_hash(std::uint64_t unit, std::uint64_t key) {
  const std::uint32_t spread =
      (static_cast<std::uint32_t>(key >> 32) ^ static_cast<std::uint32_t>(unit)) *
      (static_cast<std::uint32_t>(unit >> 32) | 1u);
  return std::uint64_t{spread} << 32 | static_cast<std::uint32_t>(key);
}

}  // namespace shoal::engine
