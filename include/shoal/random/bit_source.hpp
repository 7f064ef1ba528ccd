// Where all randomness comes from: a stream of independent fair bits, behind one seam.
//
// A source is owned by one thread and never copied: two copies would give the same noise twice, and
// equal noises cancel. It keeps no bits aside in this base class, so what a derived class does to
// be safe across fork() is the whole story. Every function throws unavailable if there are no good
// bits to be had: a caller gets randomness or an exception, never something weaker.
#pragma once

#include <cstdint>
#include <span>

namespace shoal::random {

class BitSource {
 public:
  BitSource() = default;
  BitSource(const BitSource&) = delete;
  BitSource& operator=(const BitSource&) = delete;
  virtual ~BitSource() = default;

  // Fills with independent uniform bytes.
  virtual void fill(std::span<unsigned char> bytes) = 0;

  // A uniform number below 2^count, for count from 0 to 64. This takes whole bytes and drops what
  // is left over; a source that counts or scripts bits takes exactly `count`.
  virtual std::uint64_t next_bits(int count);

  std::uint64_t next_u64() { return next_bits(64); }
  bool next_bit() { return next_bits(1) != 0; }
};

}  // namespace shoal::random
