#include "random/vaes_kernel.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

namespace shoal::random {
namespace {

constexpr std::size_t kRounds = 14;
constexpr std::size_t kBatch = 256;  // bytes: eight registers hide the latency of one instruction

// Each round key twice, so that one load serves both blocks of a register.
struct RoundKeys {
  alignas(32) __m256i round[kRounds + 1];
};

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i twice(__m128i block) {
  return _mm256_broadcastsi128_si256(block);
}

// Word i of the result is the xor of words 0 to i and of `rotated`: one step of the key schedule.
[[gnu::target("avx2"), gnu::always_inline]] inline __m128i chain(__m128i words, __m128i rotated) {
  words = _mm_xor_si128(words, _mm_slli_si128(words, 4));
  words = _mm_xor_si128(words, _mm_slli_si128(words, 8));
  return _mm_xor_si128(words, rotated);
}

// Rounds 2i and 2i + 1 of FIPS 197, figure 11; the last odd one is not used.
template <std::size_t i>
[[gnu::target("aes,avx2"), gnu::always_inline]] inline void expand(__m128i& even, __m128i& odd,
                                                                   RoundKeys& keys) {
  const __m128i turned = _mm_aeskeygenassist_si128(odd, 1 << (i - 1));
  even = chain(even, _mm_shuffle_epi32(turned, 0xff));
  keys.round[2 * i] = twice(even);
  if constexpr (2 * i < kRounds) {
    const __m128i substituted = _mm_aeskeygenassist_si128(even, 0);
    odd = chain(odd, _mm_shuffle_epi32(substituted, 0xaa));
    keys.round[2 * i + 1] = twice(odd);
  }
}

[[gnu::target("aes,avx2"), gnu::noinline]] void expand_key(const unsigned char* key,
                                                           RoundKeys& keys) {
  __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key));
  __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key + 16));
  keys.round[0] = twice(even);
  keys.round[1] = twice(odd);
  expand<1>(even, odd, keys);
  expand<2>(even, odd, keys);
  expand<3>(even, odd, keys);
  expand<4>(even, odd, keys);
  expand<5>(even, odd, keys);
  expand<6>(even, odd, keys);
  expand<7>(even, odd, keys);
  _mm256_zeroall();
}

// Low and high half of the first two counter blocks.
using CounterStart = std::array<std::uint64_t, 4>;

// The counter in the processor's own byte order, two consecutive blocks to a register.
struct Counter {
  __m256i blocks;

  [[gnu::target("avx2"), gnu::always_inline]] __m256i next() {
    const __m256i reversed = _mm256_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                                              15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i big_endian = _mm256_shuffle_epi8(blocks, reversed);
    blocks = _mm256_add_epi64(blocks, _mm256_setr_epi64x(2, 0, 2, 0));
    return big_endian;
  }
};

[[gnu::target("avx2"), gnu::always_inline]] inline void store(unsigned char* out, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
}

// Sixteen blocks. Written out, since the registers must be named for every compiler and level of
// optimisation to keep them; the keys are read from memory, so that no copy of them is spilled.
[[gnu::target("vaes,avx2"), gnu::always_inline]] inline void write_batch(const RoundKeys& keys,
                                                                         Counter& counter,
                                                                         unsigned char* out) {
  const __m256i first = keys.round[0];
  __m256i a = _mm256_xor_si256(counter.next(), first);
  __m256i b = _mm256_xor_si256(counter.next(), first);
  __m256i c = _mm256_xor_si256(counter.next(), first);
  __m256i d = _mm256_xor_si256(counter.next(), first);
  __m256i e = _mm256_xor_si256(counter.next(), first);
  __m256i f = _mm256_xor_si256(counter.next(), first);
  __m256i g = _mm256_xor_si256(counter.next(), first);
  __m256i h = _mm256_xor_si256(counter.next(), first);
  for (std::size_t i = 1; i < kRounds; ++i) {
    const __m256i key = keys.round[i];
    a = _mm256_aesenc_epi128(a, key);
    b = _mm256_aesenc_epi128(b, key);
    c = _mm256_aesenc_epi128(c, key);
    d = _mm256_aesenc_epi128(d, key);
    e = _mm256_aesenc_epi128(e, key);
    f = _mm256_aesenc_epi128(f, key);
    g = _mm256_aesenc_epi128(g, key);
    h = _mm256_aesenc_epi128(h, key);
  }
  const __m256i last = keys.round[kRounds];
  store(out, _mm256_aesenclast_epi128(a, last));
  store(out + 32, _mm256_aesenclast_epi128(b, last));
  store(out + 64, _mm256_aesenclast_epi128(c, last));
  store(out + 96, _mm256_aesenclast_epi128(d, last));
  store(out + 128, _mm256_aesenclast_epi128(e, last));
  store(out + 160, _mm256_aesenclast_epi128(f, last));
  store(out + 192, _mm256_aesenclast_epi128(g, last));
  store(out + 224, _mm256_aesenclast_epi128(h, last));
}

std::uint64_t read_big_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

// The first batch and what is left at the end go through `rest`; all between straight to `bytes`.
// Not inlined: where the compiler sees that the keys are not written meanwhile, it keeps copies of
// them in places that nobody zeroes.
[[gnu::target("vaes,avx2"), gnu::noinline]] void write_stream(
    const RoundKeys& keys, const CounterStart& start, std::span<unsigned char, kBatch> rest,
    std::span<unsigned char, kKeySize> key, std::span<unsigned char> bytes) {
  Counter counter{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(start.data()))};
  write_batch(keys, counter, rest.data());
  std::memcpy(key.data(), rest.data(), kKeySize);
  const std::size_t head = std::min(bytes.size(), kBatch - kKeySize);
  if (head != 0) std::memcpy(bytes.data(), rest.data() + kKeySize, head);
  unsigned char* out = bytes.data() + head;
  std::size_t left = bytes.size() - head;
  for (; left >= kBatch; left -= kBatch, out += kBatch) write_batch(keys, counter, out);
  if (left != 0) {
    write_batch(keys, counter, rest.data());
    std::memcpy(out, rest.data(), left);
  }
  _mm256_zeroall();
}

}  // namespace

bool has_vaes() {
  // __builtin_cpu_supports knows "vaes" in GCC only; its "avx2" includes the operating system's
  // consent to the wide registers.
  static const bool has = [] {
    constexpr unsigned int kVaes = 1U << 9;
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("aes") != 0 &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kVaes) != 0;
  }();
  return has;
}

bool run_vaes(std::span<unsigned char, kKeySize> key, const StreamStart& start,
              std::span<unsigned char> bytes) {
  if (!has_vaes()) return false;
  const std::uint64_t low = read_big_endian(start.data() + 8);
  SHOAL_CHECK((bytes.size() + kKeySize) / 16 < ~std::uint64_t{0} - low);
  const std::uint64_t high = read_big_endian(start.data());
  RoundKeys keys;
  alignas(32) std::array<unsigned char, kBatch> rest;
  expand_key(key.data(), keys);
  write_stream(keys, {low, high, low + 1, high}, rest, key, bytes);
  ::explicit_bzero(rest.data(), rest.size());
  ::explicit_bzero(&keys, sizeof keys);
  return true;
}

}  // namespace shoal::random

#else

namespace shoal::random {

bool has_vaes() { return false; }

bool run_vaes(std::span<unsigned char, kKeySize>, const StreamStart&, std::span<unsigned char>) {
  return false;
}

}  // namespace shoal::random

#endif
