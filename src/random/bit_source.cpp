#include <shoal/base/error.hpp>
#include <shoal/random/bit_source.hpp>

#include <array>
#include <cstddef>

namespace shoal::random {

std::uint64_t BitSource::next_bits(int count) {
  SHOAL_CHECK(count >= 0 && count <= 64);
  if (count == 0) return 0;
  std::array<unsigned char, 8> bytes{};
  const auto used = static_cast<std::size_t>((count + 7) / 8);
  fill(std::span(bytes).first(used));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < used; ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
  return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
}

}  // namespace shoal::random
