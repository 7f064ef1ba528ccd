// SHA-256 digests of text made of fields, for the ledger's chain and for naming requests and
// answers.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace shoal {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
std::string to_hex(const Digest& digest);

// Builds an unambiguous byte string from fields: each is preceded by its length, so that no two
// lists of fields give the same bytes.
class FieldBytes {
 public:
  FieldBytes& add(std::string_view field);
  FieldBytes& add(long long field);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace shoal
