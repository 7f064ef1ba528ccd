#include "engine/grid_sql.hpp"

#include <fmt/format.h>

#include <cmath>

namespace shoal::engine {
namespace {

// Clamps without LEAST and GREATEST, which skip NULLs: here a NULL compares as neither and stays.
std::string clamped(const std::string& value, std::int64_t lower, std::int64_t upper,
                    const char* type) {
  return fmt::format(
      "CASE WHEN {0} < {1}::{3} THEN {1}::{3} WHEN {0} > {2}::{3} THEN {2}::{3} ELSE {0} END",
      value, lower, upper, type);
}

}  // namespace

std::string grid_steps_sql(const std::string& value, bool whole, const catalog::GridRange& range,
                           bool nulls) {
  std::string steps;
  if (whole && range.grid.exponent == 0) {
    steps = clamped(fmt::format("CAST({} AS BIGINT)", value), range.lower, range.upper, "BIGINT");
  } else {
    // Clamped as doubles first, so that the cast to BIGINT cannot fail, whatever the value; scaling
    // by a power of two is exact. Infinities clamp to the nearer bound, NaN is NULL before this.
    const double scale = std::ldexp(1.0, -range.grid.exponent);
    steps = fmt::format("(CAST({} AS DOUBLE) * {}::DOUBLE)", value, scale);
    steps = fmt::format("CAST(round({}) AS BIGINT)",
                        clamped(steps, range.lower, range.upper, "DOUBLE"));
  }
  return nulls ? steps : fmt::format("COALESCE({}, {})", steps, range.middle());
}

}  // namespace shoal::engine
