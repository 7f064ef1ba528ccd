#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace shoal::random {

void check_scale(double value, std::string_view what) {
  if (value >= kMinScale && value <= kMaxScale) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{} is {} grid steps; it must be from 2^-10 to 2^50, so choose another grid",
                  what, format_number(value)));
}

DyadicScale exact_scale(double value, std::string_view what) {
  check_scale(value, what);
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction * 2^exponent, both exact
  auto numerator = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  const int shift = std::countr_zero(numerator);
  numerator >>= shift;
  exponent += shift;
  if (exponent >= 0) return {numerator << exponent, 1};
  return {numerator, std::uint64_t{1} << -exponent};
}

}  // namespace shoal::random
