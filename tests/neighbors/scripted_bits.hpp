// Takes the place of the operating system's randomness in programs that link scripted_bits.cpp:
// every SecureSource of the process then replays a stream that a number decides. The linker finds
// this SecureSource before the library's, so that commands run as they are, with bits that are
// known.
#pragma once

#include <cstdint>
#include <optional>

namespace shoal::test::scripted_bits {

// From now on the sources of this process replay the streams of this seed, from their start. The
// draw number `fail_at`, counted from 0, throws: what breaks in the middle of a request.
void begin(std::uint64_t seed, std::optional<std::uint64_t> fail_at = std::nullopt);

// How many draws were made since begin().
std::uint64_t draws();

}  // namespace shoal::test::scripted_bits
