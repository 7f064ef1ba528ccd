// The key streams that the secure source can run on, and which of them suits this machine.
//
// Invariants:
// - A run spends its key: when run_key_stream returns, the key has been replaced by the first bytes
//   of the stream; when it throws, nothing of the stream is left. No key gives the same bytes
//   twice.
// - Expanded keys live for one run only and are zeroed at its end.
// - vaes and openssl_aes are one stream, AES-256-CTR with a big-endian counter, byte for byte.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace shoal::random {

inline constexpr std::size_t kKeySize = 32;

enum class KeyStream : unsigned char {
  vaes,              // AES-256-CTR by our own kernel: AES instructions on 256-bit registers
  openssl_aes,       // AES-256-CTR by OpenSSL: with 128-bit AES instructions, or other processors
  openssl_chacha20,  // ChaCha20 by OpenSSL: where AES would have to be done without instructions
};

// Where a stream starts. AES: the counter block. ChaCha20: four bytes of block count, the least
// significant first, then the nonce. A fresh key may always start at zero.
using StreamStart = std::array<unsigned char, 16>;

// Whether this machine can run it.
bool can_run(KeyStream stream);

// The fastest that resists timing attacks here. Looked up once.
KeyStream best_key_stream();

// Runs the stream of `key` from `start`: its first 32 bytes become the new key, the following ones
// are written to `bytes`. Throws unavailable if the cipher fails or the machine cannot run it. A
// run that would carry into the upper half of AES's counter block is an internal error.
void run_key_stream(KeyStream stream, std::span<unsigned char, kKeySize> key,
                    const StreamStart& start, std::span<unsigned char> bytes);

}  // namespace shoal::random
