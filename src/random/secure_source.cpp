#include <shoal/base/error.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>

namespace shoal::random {
namespace {

constexpr std::size_t kKeySize = 32;
constexpr std::size_t kMappingSize = 8192;

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

struct CipherFree {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// Overwrites the bytes with the key stream of `key`. The context, which holds the expanded key
// outside the wiped mapping, lives only for this call; OpenSSL cleanses it.
void key_stream(const unsigned char* key, std::span<unsigned char> bytes) {
  const std::array<unsigned char, 16>
      counter{};  // a key is used once, so the counter may start at zero
  const std::unique_ptr<EVP_CIPHER_CTX, CipherFree> context(EVP_CIPHER_CTX_new());
  std::memset(bytes.data(), 0, bytes.size());
  int written = 0;
  const bool done =
      context &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key, counter.data()) == 1 &&
      EVP_EncryptUpdate(context.get(), bytes.data(), &written, bytes.data(),
                        static_cast<int>(bytes.size())) == 1 &&
      written == static_cast<int>(bytes.size());
  if (!done) fail("the cipher AES-256-CTR failed", "check the OpenSSL library and its providers");
}

}  // namespace

// All zero means: not keyed, nothing buffered. That is how the mapping starts and what a child
// finds.
struct SecureSource::State {
  static constexpr std::size_t kBufferSize = kMappingSize - 2 * sizeof(std::size_t);

  std::size_t keyed;
  std::size_t available;  // bytes at the end of the buffer that were not used yet
  std::array<unsigned char, kBufferSize> buffer;  // starts with the key
};

SecureSource::SecureSource() : state_(nullptr) {
  static_assert(sizeof(State) == kMappingSize);
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
  OPENSSL_cleanse(state_, kMappingSize);
  ::munmap(state_, kMappingSize);
}

void SecureSource::rekey() {
  state_->keyed = 0;
  state_->available = 0;
  take_entropy(std::span(state_->buffer).first(kKeySize));
  state_->keyed = 1;
}

void SecureSource::refill() {
  if (state_->keyed == 0) rekey();
  std::array<unsigned char, kKeySize> key{};
  std::copy_n(state_->buffer.begin(), kKeySize, key.begin());
  // Until the stream is whole there is no key: an exception below leaves nothing that could be
  // reused.
  state_->keyed = 0;
  try {
    key_stream(key.data(), state_->buffer);
  } catch (...) {
    OPENSSL_cleanse(key.data(), key.size());
    OPENSSL_cleanse(state_, kMappingSize);
    throw;
  }
  OPENSSL_cleanse(key.data(), key.size());
  state_->available = State::kBufferSize - kKeySize;
  state_->keyed = 1;
}

void SecureSource::fill(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    if (state_->available == 0) refill();
    const std::size_t count = std::min(bytes.size(), state_->available);
    unsigned char* next = state_->buffer.data() + (State::kBufferSize - state_->available);
    std::memcpy(bytes.data(), next, count);
    OPENSSL_cleanse(next, count);
    state_->available -= count;
    bytes = bytes.subspan(count);
  }
}

}  // namespace shoal::random
