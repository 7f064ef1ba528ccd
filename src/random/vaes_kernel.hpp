// AES-256-CTR with AES instructions on 256-bit registers: the fastest key stream, and the only
// cipher of our own. Use it through key_stream.hpp.
//
// Invariants:
// - It writes what OpenSSL's AES-256-CTR writes; tests hold it to that and to the published
// vectors.
// - No branch and no address depends on key or stream.
// - Round keys lie in one array that is zeroed before returning, and so are the registers.
#pragma once

#include "random/key_stream.hpp"

namespace shoal::random {

// Whether processor and operating system allow it. False on other architectures.
bool has_vaes();

// As run_key_stream. False, with nothing written, where has_vaes() is false.
bool run_vaes(std::span<unsigned char, kKeySize> key, const StreamStart& start,
              std::span<unsigned char> bytes);

}  // namespace shoal::random
