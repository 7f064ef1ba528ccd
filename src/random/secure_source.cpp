#include "random/key_stream.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <system_error>

namespace shoal::random {
namespace {

constexpr std::size_t kMappingSize = 16384;
constexpr std::size_t kLargeRequest = 4096;  // from here on a run of its own is cheaper than a copy
constexpr std::size_t kLongestRun = 65536;   // bytes of the caller under one key
constexpr std::size_t kWord = sizeof(std::uint64_t);

[[noreturn]] void fail(const char* what, const char* remedy) {
  throw Error(ErrorCode::unavailable, fmt::format("no randomness: {}; {}", what, remedy));
}

[[noreturn]] void fail_with_errno(const char* what, int error) {
  throw Error(
      ErrorCode::unavailable,
      fmt::format("no randomness: {}: {}; run on a linux kernel from 4.14 on that allows it", what,
                  std::generic_category().message(error)));
}

void take_entropy(std::span<unsigned char> bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const auto got = ::getrandom(bytes.data() + taken, bytes.size() - taken, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("getrandom failed", errno);
    if (got == 0) fail("getrandom gave no bytes", "check the operating system");
    taken += static_cast<std::size_t>(got);
  }
}

// Moves bytes out of the buffer. The zeros stay: the compiler cannot see the last use of a mapping.
template <std::size_t count>
void hand_out(unsigned char* from, void* to) {
  std::memcpy(to, from, count);
  std::memset(from, 0, count);
}

// For few bytes, fixed sizes take less time than the calls of memcpy and memset.
void hand_out(unsigned char* from, unsigned char* to, std::size_t count) {
  constexpr std::size_t kFew = 64;
  constexpr std::size_t kStep = 16;
  if (count > kFew) {
    std::memcpy(to, from, count);
    std::memset(from, 0, count);
    return;
  }
  for (; count >= kStep; count -= kStep, from += kStep, to += kStep) hand_out<kStep>(from, to);
  if (count >= kWord) {
    hand_out<kWord>(from, to);
    count -= kWord, from += kWord, to += kWord;
  }
  for (; count > 0; --count) hand_out<1>(from++, to++);
}

}  // namespace

// All zero means: not keyed, nothing buffered. That is how the mapping starts and what a child
// finds.
struct SecureSource::State {
  static constexpr std::size_t kBufferSize = kMappingSize - 64;

  std::size_t keyed;
  std::size_t available;  // bytes at the end of the buffer that were not used yet
  alignas(32) std::array<unsigned char, kKeySize> key;
  std::array<unsigned char, kBufferSize> buffer;  // begins with a cache line

  // The next bytes to hand out; from here on they are taken.
  unsigned char* take(std::size_t count) {
    unsigned char* next = buffer.data() + (kBufferSize - available);
    available -= count;
    return next;
  }
};

SecureSource::SecureSource() : SecureSource(best_key_stream()) {}

SecureSource::SecureSource(KeyStream stream) : state_(nullptr), stream_(stream) {
  static_assert(sizeof(State) == kMappingSize);
  if (!can_run(stream)) fail("the processor lacks the chosen cipher", "leave the choice open");
  void* mapping =
      ::mmap(nullptr, kMappingSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) fail_with_errno("mmap failed", errno);
  if (::madvise(mapping, kMappingSize, MADV_WIPEONFORK) != 0 ||
      ::madvise(mapping, kMappingSize, MADV_DONTDUMP) != 0) {
    const int error = errno;
    ::munmap(mapping, kMappingSize);
    fail_with_errno("memory cannot be wiped on fork", error);
  }
  state_ = ::new (mapping) State{};
}

SecureSource::~SecureSource() {
  ::explicit_bzero(state_, kMappingSize);
  ::munmap(state_, kMappingSize);
}

void SecureSource::rekey() {
  ::explicit_bzero(state_, kMappingSize);
  take_entropy(state_->key);
  state_->keyed = 1;
}

// Spends the key on these bytes. Until the run is whole there is no key, and an exception leaves
// nothing that could be used again.
void SecureSource::run(std::span<unsigned char> bytes) {
  if (state_->keyed == 0) rekey();
  state_->keyed = 0;
  try {
    run_key_stream(stream_, state_->key, StreamStart{}, bytes);
  } catch (...) {
    ::explicit_bzero(state_, kMappingSize);
    throw;
  }
  state_->keyed = 1;
}

void SecureSource::refill() {
  state_->available = 0;
  run(state_->buffer);
  state_->available = State::kBufferSize;
}

void SecureSource::fill(std::span<unsigned char> bytes) {
  if (bytes.size() >= kLargeRequest) {
    for (std::size_t done = 0; done < bytes.size(); done += kLongestRun) {
      run(bytes.subspan(done, std::min(bytes.size() - done, kLongestRun)));
    }
    return;
  }
  while (!bytes.empty()) {
    if (state_->available == 0) refill();
    const std::size_t count = std::min(bytes.size(), state_->available);
    hand_out(state_->take(count), bytes.data(), count);
    bytes = bytes.subspan(count);
  }
}

std::uint64_t SecureSource::next_bits(int count) {
  SHOAL_CHECK(count >= 0 && count <= 64);
  if (count == 0) return 0;
  if (state_->available < kWord) refill();
  std::uint64_t bits = 0;
  hand_out<kWord>(state_->take(kWord), &bits);
  return bits >> (64 - count);
}

}  // namespace shoal::random
