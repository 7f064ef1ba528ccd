// Looking for a few bytes in text, sixteen bytes at a time where the processor can.
#pragma once

#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace shoal::engine {

// The first place in [at, end) that holds one of the bytes, or end.
template <typename... Bytes>
inline const char* find_any(const char* at, const char* end, Bytes... bytes) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    __m128i found = _mm_setzero_si128();
    ((found = _mm_or_si128(found, _mm_cmpeq_epi8(text, _mm_set1_epi8(bytes)))), ...);
    const int mask = _mm_movemask_epi8(found);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
#endif
  while (at < end && ((*at != bytes) && ...)) ++at;
  return at;
}

// Whether every byte of [at, end) is ASCII and none is NUL.
inline bool is_plain_ascii(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i zero = _mm_setzero_si128();
  __m128i odd = zero;
  for (; end - at >= 16; at += 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    odd = _mm_or_si128(odd, _mm_or_si128(text, _mm_cmpeq_epi8(text, zero)));
  }
  if (_mm_movemask_epi8(odd) != 0) return false;
#endif
  for (; at < end; ++at) {
    if (*at == '\0' || (static_cast<unsigned char>(*at) & 0x80) != 0) return false;
  }
  return true;
}

}  // namespace shoal::engine
