// The source of release builds: AES-256-CTR keyed by the operating system, with fast key erasure.
//
// Invariants:
// - Key, bytes not yet used and the count of them lie in one private mapping that is wiped in a
//   child after fork() and left out of core dumps. A child therefore reads "not keyed" and takes a
//   key of its own; no instruction is spent on it otherwise.
// - Each refill encrypts zeros, keeps the first 32 bytes as the next key and forgets the old one:
//   who reads the memory later learns nothing about bytes handed out before. Used bytes are zeroed.
// - It fails closed. Without entropy, cipher or wipe-on-fork it throws unavailable.
//
// Not for sharing between threads: make one for each.
#pragma once

#include <shoal/random/bit_source.hpp>

namespace shoal::random {

class SecureSource final : public BitSource {
 public:
  SecureSource();
  ~SecureSource() override;

  void fill(std::span<unsigned char> bytes) override;

  // Takes a fresh key from the operating system now and drops what was buffered. A copy of this
  // process that wipe-on-fork cannot see, such as a cloned virtual machine, parts ways here.
  void rekey();

 private:
  struct State;

  void refill();

  State* state_;  // owned: a mapping, so that the kernel can wipe it
};

}  // namespace shoal::random
