// Keyed hashes that choose which groups and values of a unit count.
//
// No guarantee rests on how well they mix: a choice may be any function of the unit's own rows.
// They are keyed so that nobody who can write rows or ask questions can aim at a group. Units and
// keys go through SipHash-1-3; a pair of two such hashes is then mixed by one wide multiplication.
#pragma once

#include <shoal/base/int128.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal::engine {

using HashKey = std::array<std::uint64_t, 2>;

class SipHash {
 public:
  explicit SipHash(const HashKey& key)
      : v0_(key[0] ^ 0x736f6d6570736575u),
        v1_(key[1] ^ 0x646f72616e646f6du),
        v2_(key[0] ^ 0x6c7967656e657261u),
        v3_(key[1] ^ 0x7465646279746573u) {}

  void add(std::uint64_t word) {
    v3_ ^= word;
    round();
    v0_ ^= word;
  }

  std::uint64_t finish() {
    v2_ ^= 0xff;
    round();
    round();
    round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

inline std::uint64_t hash_word(const HashKey& key, std::uint64_t word) {
  SipHash hash(key);
  hash.add(word);
  hash.add(std::uint64_t{8} << 56);  // the length, as the standard form has it
  return hash.finish();
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
  return hash.finish();
}

// Of two hashes; not symmetric.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const UInt128 product =
      static_cast<UInt128>(a ^ 0x9E3779B97F4A7C15u) * (b ^ std::rotl(a, 32) ^ 0xD1342543DE82EF95u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace shoal::engine
