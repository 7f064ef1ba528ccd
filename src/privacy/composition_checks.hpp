// Refusals that the composition theorems share.
#pragma once

#include <shoal/privacy/composition.hpp>

#include <cstdint>
#include <string_view>

namespace shoal::privacy {

// Each throws invalid_argument with the value and the range.
void check_step(const Guarantee& step);
void check_count(std::int64_t count, std::int64_t least);
void check_finite(std::string_view name, double value);
void check_not_negative(std::string_view name, double value);
// In (0, 1).
void check_chance(std::string_view name, double value);
// In [0, kMaxEpsilon].
void check_epsilon(std::string_view name, double value);

}  // namespace shoal::privacy
