#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>

#include <openssl/evp.h>

namespace shoal {

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  SHOAL_CHECK(done == 1 && size == digest.size());
  return digest;
}

std::string to_hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

FieldBytes& FieldBytes::add(std::string_view field) {
  bytes_ += std::to_string(field.size());
  bytes_.push_back(':');
  bytes_ += field;
  return *this;
}

FieldBytes& FieldBytes::add(long long field) { return add(std::to_string(field)); }

}  // namespace shoal
