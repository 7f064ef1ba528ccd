#include "random/key_stream.hpp"

#include "random/vaes_kernel.hpp"

#include <shoal/base/error.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace shoal::random {
namespace {

struct ContextFree {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextFree>;

// OpenSSL 3 looks a cipher up by name at each use unless it was fetched, which costs as much as
// 2 KiB of stream. Never freed: a source may be used until the very end of the program.
const EVP_CIPHER* fetched(KeyStream stream) {
  if (stream == KeyStream::openssl_chacha20) {
    static const EVP_CIPHER* const chacha20 = EVP_CIPHER_fetch(nullptr, "ChaCha20", nullptr);
    return chacha20;
  }
  static const EVP_CIPHER* const aes = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  return aes;
}

// OpenSSL counts in int, so a long stream is written in pieces.
bool encrypt_zeros(EVP_CIPHER_CTX* context, std::span<unsigned char> bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    const int size = static_cast<int>(piece.size());
    int written = 0;
    std::memset(piece.data(), 0, piece.size());
    if (EVP_EncryptUpdate(context, piece.data(), &written, piece.data(), size) != 1 ||
        written != size) {
      return false;
    }
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

// The context, which holds the expanded key outside the memory of the source, lives only for this
// call; OpenSSL zeroes it.
[[gnu::noinline]] bool run_openssl(KeyStream stream, std::span<unsigned char, kKeySize> key,
                                   const StreamStart& start, std::span<unsigned char> bytes) {
  const EVP_CIPHER* cipher = fetched(stream);
  const Context context(EVP_CIPHER_CTX_new());
  return cipher != nullptr && context &&
         EVP_EncryptInit_ex(context.get(), cipher, nullptr, key.data(), start.data()) == 1 &&
         encrypt_zeros(context.get(), key) && encrypt_zeros(context.get(), bytes);
}

// OpenSSL's ChaCha20 leaves the key in the stack frames that it gives back; this takes their place.
[[gnu::noinline]] void wipe_stack() {
  std::array<unsigned char, 4096> frames;
  ::explicit_bzero(frames.data(), frames.size());
}

KeyStream choose() {
  if (has_vaes()) return KeyStream::vaes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("aes") == 0) return KeyStream::openssl_chacha20;
#endif
  return KeyStream::openssl_aes;
}

}  // namespace

bool can_run(KeyStream stream) { return stream != KeyStream::vaes || has_vaes(); }

KeyStream best_key_stream() {
  static const KeyStream best = choose();
  return best;
}

void run_key_stream(KeyStream stream, std::span<unsigned char, kKeySize> key,
                    const StreamStart& start, std::span<unsigned char> bytes) {
  const bool own = stream == KeyStream::vaes;
  const bool done = own ? run_vaes(key, start, bytes) : run_openssl(stream, key, start, bytes);
  if (!own) wipe_stack();
  if (done) return;
  ::explicit_bzero(key.data(), key.size());
  ::explicit_bzero(bytes.data(), bytes.size());
  throw Error(ErrorCode::unavailable,
              "no randomness: the cipher failed; check the OpenSSL library and its providers");
}

}  // namespace shoal::random
