#include <shoal/base/error.hpp>
#include <shoal/random/uniform.hpp>

#include <bit>

namespace shoal::random {

std::uint64_t uniform_below(std::uint64_t bound, BitSource& bits) {
  if (bound == 0) {
    throw Error(ErrorCode::invalid_argument,
                "a uniform number below 0 is asked for; give at least 1");
  }
  const auto width = static_cast<int>(std::bit_width(bound - 1));
  while (true) {
    const std::uint64_t candidate = bits.next_bits(width);
    if (candidate < bound) return candidate;
  }
}

}  // namespace shoal::random
