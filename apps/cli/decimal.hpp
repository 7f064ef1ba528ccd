// Decimals, read exactly as integers on a grid of powers of ten. No floating point: 0.1 is one
// tenth.
#pragma once

#include <shoal/base/int128.hpp>

#include <optional>
#include <string_view>

namespace shoal::cli {

inline constexpr int kMostDecimals = 9;

// A decimal as it was written: digits / 10^decimals, trailing zeros after the point dropped.
struct Decimal {
  Int128 digits = 0;
  int decimals = 0;

  // The value in steps of 10^-places. Requires decimals <= places <= kMostDecimals.
  Int128 steps(int places) const;
};

enum class DecimalFault { malformed, too_many_decimals, too_large };

// Like 12, -0.5, +3.25 or .5: a sign, digits, a point, digits; no exponent, no spaces. At most
// kMostDecimals decimals; below 10^18 in magnitude.
struct DecimalOrFault {
  std::optional<Decimal> value;
  DecimalFault fault = DecimalFault::malformed;
};
DecimalOrFault read_decimal(std::string_view text);

// A text in steps of 10^-places, whatever it holds: a decimal is rounded down to the grid and kept
// below 10^18 in magnitude, anything else is 0. Decimals that differ by at most some steps still do
// so afterwards. Requires places <= kMostDecimals.
Int128 steps_of_any(std::string_view text, int places);

}  // namespace shoal::cli
