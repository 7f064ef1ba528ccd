#include "random/folded_gaussian.hpp"

#include <algorithm>
#include <array>

namespace shoal::random {

void FoldedGaussian::fill_groups(std::span<std::int64_t> values, BitSource& bits,
                                 Kernel kernel) const {
  const auto draw = kernel == Kernel::avx2 ? folded_groups_avx2 : folded_groups_scalar;
  constexpr std::size_t kGroups = kBlockWords / kLanes - kBlockWords / kLanes / 32 - 1;
  WordBlock block;
  std::array<std::uint8_t, kGroups> ambiguous;
  while (!values.empty()) {
    const std::size_t groups = std::min(kGroups, values.size() / kLanes);
    const std::size_t signs = sign_words(groups);
    const std::uint32_t* words = block.draw(signs + groups * kLanes, bits);
    if (draw(ranks_.tables(), words, groups, values.data(), ambiguous.data())) {
      for (std::size_t i = 0; i < groups * kLanes; ++i) {
        const std::size_t lane = i % kLanes;
        const std::size_t group = i / kLanes;
        if ((ambiguous[group] >> lane & 1) == 0) continue;
        const auto rank =
            static_cast<std::int64_t>(ranks_.resolve(words[signs + i] ^ 0x80000000u, bits));
        const bool negative = (words[group / 32 * kLanes + lane] << (group % 32) >> 31) != 0;
        values[i] = negative ? -rank : rank;
      }
    }
    values = values.subspan(groups * kLanes);
  }
}

void FoldedGaussian::fill(std::span<std::int64_t> values, BitSource& bits, Kernel kernel) const {
  fill_whole_groups(values, [&](std::span<std::int64_t> part) { fill_groups(part, bits, kernel); });
}

}  // namespace shoal::random
