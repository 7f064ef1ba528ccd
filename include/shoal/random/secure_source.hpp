// The source of release builds: a cipher keyed by the operating system, with fast key erasure.
// AES-256-CTR where the processor has instructions for AES, else ChaCha20.
//
// Invariants:
// - Key, bytes not yet used and the count of them lie in one private mapping that is wiped in a
//   child after fork() and left out of core dumps. A child therefore reads "not keyed" and takes a
//   key of its own; no instruction is spent on it otherwise.
// - Each run of the cipher keeps its first 32 bytes as the next key and forgets the old one: who
//   reads the memory later learns nothing about bytes handed out before. Used bytes are zeroed.
// - It fails closed. Without entropy, cipher or wipe-on-fork it throws unavailable, and then holds
//   neither key nor bytes: the next draw starts from fresh entropy.
//
// Small requests are served from the buffer. Large ones get runs of their own, straight into the
// caller's memory, and leave the buffer as it is for small requests to come.
//
// Not for sharing between threads: make one for each. A signal handler that interrupts a draw must
// neither draw from the same source nor fork.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstdint>

namespace shoal::random {

enum class KeyStream : unsigned char;  // internal: the cipher that the bytes come from

class SecureSource final : public BitSource {
 public:
  SecureSource();  // on the fastest cipher of this machine

  // On a given cipher, for tests and benchmarks. Throws unavailable if the machine cannot run it.
  explicit SecureSource(KeyStream stream);

  ~SecureSource() override;

  void fill(std::span<unsigned char> bytes) override;

  // Takes eight bytes whatever the count: they cost less than keeping the rest.
  std::uint64_t next_bits(int count) override;

  // Takes a fresh key from the operating system now and drops what was buffered. A copy of this
  // process that wipe-on-fork cannot see, such as a cloned virtual machine, parts ways here.
  void rekey();

 private:
  struct State;

  void run(std::span<unsigned char> bytes);
  void refill();

  State* state_;  // owned: a mapping, so that the kernel can wipe it
  KeyStream stream_;
};

}  // namespace shoal::random
