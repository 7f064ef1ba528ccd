#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/grid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::catalog {

double Grid::step() const { return std::ldexp(1.0, exponent); }

std::int64_t GridRange::middle() const { return lower + (upper - lower) / 2; }

std::int64_t GridRange::radius() const { return std::max(upper - middle(), middle() - lower); }

std::int64_t GridRange::magnitude() const { return std::max(std::abs(lower), std::abs(upper)); }

GridRange place_on_grid(const Bounds& bounds, Grid grid) {
  // Scaling by a power of two is exact here: the result is far from the ends of the double range.
  const double lower = std::floor(std::ldexp(bounds.lower, -grid.exponent));
  const double upper = std::ceil(std::ldexp(bounds.upper, -grid.exponent));
  const auto limit = static_cast<double>(kMaxSteps);
  if (!(lower >= -limit && upper <= limit)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "bounds [{}, {}] do not fit on a grid of step {}; use bounds nearer to 0 or nearer "
            "to each other",
            format_number(bounds.lower), format_number(bounds.upper), format_number(grid.step())));
  }
  return {grid, static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper)};
}

Grid choose_grid(const Bounds& bounds, double wanted, bool whole_numbers) {
  SHOAL_CHECK(wanted > 0 && std::isfinite(wanted));
  const double furthest = std::max(std::fabs(bounds.lower), std::fabs(bounds.upper));
  // furthest / 2^exponent <= 2^50 leaves room for outward rounding.
  const int finest_possible = static_cast<int>(std::ceil(std::log2(furthest))) - 50;
  const int exponent = whole_numbers ? 0 : static_cast<int>(std::floor(std::log2(wanted)));
  return {std::max(exponent, finest_possible)};
}

}  // namespace shoal::catalog
