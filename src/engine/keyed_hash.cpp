#include "engine/keyed_hash.hpp"

namespace shoal::engine {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kLanes = 4;
using FourWords = std::uint64_t __attribute__((vector_size(32)));

// How many were done.
__attribute__((target("avx2"))) std::size_t hash_fours(const HashKey& key,
                                                       std::span<const std::uint64_t> words,
                                                       std::uint64_t* hashes) {
  std::size_t at = 0;
  for (; at + kLanes <= words.size(); at += kLanes) {
    FourWords four;
    std::memcpy(&four, words.data() + at, sizeof four);
    SipHashOf<FourWords> hash(key);
    hash.add(four);
    hash.add(FourWords{} + (std::uint64_t{8} << 56));
    hash.finish(four);
    std::memcpy(hashes + at, &four, sizeof four);
  }
  return at;
}

}  // namespace

#endif

void hash_words(const HashKey& key, std::span<const std::uint64_t> words, std::uint64_t* hashes) {
  std::size_t done = 0;
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) done = hash_fours(key, words, hashes);
#endif
  for (; done < words.size(); ++done) hashes[done] = hash_word(key, words[done]);
}

}  // namespace shoal::engine
