#include "numeric/grid_sum_kernels.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/grid_sum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#ifdef __FAST_MATH__
#error "rounding to the grid needs IEEE arithmetic: build without -ffast-math"
#endif

namespace shoal::numeric {
namespace {

using grid_kernels::Placement;

Int128 sum_with(std::span<const double> values, const Placement& placement) {
  return grid_kernels::has_avx2() ? grid_kernels::sum_avx2(values, placement)
                                  : grid_kernels::sum_portable(values, placement);
}

}  // namespace

namespace grid_kernels {

Int128 sum_portable(std::span<const double> values, const Placement& placement) {
  Int128 total = 0;
  while (!values.empty()) {
    const auto block = values.first(std::min(values.size(), kBlock));
    std::int64_t lane = 0;
    for (const double value : block) lane += place_record(value, placement);
    total += lane;
    values = values.subspan(block.size());
  }
  return total;
}

Int128 clamped_sum_portable(std::span<const std::int64_t> values, std::int64_t low,
                            std::int64_t high) {
  Int128 total = 0;
  while (!values.empty()) {
    const auto block = values.first(std::min(values.size(), kBlock));
    std::int64_t lane = 0;
    for (const std::int64_t value : block) lane += clamp_record(value, low, high);
    total += lane;
    values = values.subspan(block.size());
  }
  return total;
}

}  // namespace grid_kernels

void validate(const GridBounds& bounds) {
  if (bounds.low > bounds.high) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("bounds [{}, {}] hold no grid step; give the lower bound first",
                            bounds.low, bounds.high));
  }
  if (bounds.low < -kMaxGridSteps || bounds.high > kMaxGridSteps) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("bounds [{}, {}] reach beyond 2^51 grid steps; use a coarser grid or "
                            "bounds nearer to 0",
                            bounds.low, bounds.high));
  }
  if (bounds.exponent < -kMaxGridExponent || bounds.exponent > kMaxGridExponent) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a grid step of 2^{} is out of range; use an exponent from {} to {}",
                            bounds.exponent, -kMaxGridExponent, kMaxGridExponent));
  }
}

std::int64_t steps_on_grid(double value, const GridBounds& bounds) {
  validate(bounds);
  return grid_kernels::place_record(value, Placement(bounds));
}

std::int64_t steps_on_grid(std::int64_t value, const GridBounds& bounds) {
  if (bounds.exponent != 0) return steps_on_grid(static_cast<double>(value), bounds);
  validate(bounds);
  return grid_kernels::clamp_record(value, bounds.low, bounds.high);
}

Int128 sum_on_grid(std::span<const double> values, const GridBounds& bounds) {
  validate(bounds);
  return sum_with(values, Placement(bounds));
}

Int128 sum_on_grid(std::span<const std::int64_t> values, const GridBounds& bounds) {
  validate(bounds);
  if (bounds.exponent == 0) {
    return grid_kernels::has_avx2()
               ? grid_kernels::clamped_sum_avx2(values, bounds.low, bounds.high)
               : grid_kernels::clamped_sum_portable(values, bounds.low, bounds.high);
  }
  const Placement placement(bounds);
  std::array<double, grid_kernels::kBlock> block;
  Int128 total = 0;
  while (!values.empty()) {
    const std::size_t size = std::min(values.size(), block.size());
    std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size),
                   block.begin(), [](std::int64_t value) { return static_cast<double>(value); });
    total += sum_with(std::span(block).first(size), placement);
    values = values.subspan(size);
  }
  return total;
}

GridSum::GridSum(const GridBounds& bounds) : bounds_(bounds) { validate(bounds); }

void GridSum::add(std::span<const double> values) {
  count(values.size());
  steps_ += sum_on_grid(values, bounds_);
}

void GridSum::add(std::span<const std::int64_t> values) {
  count(values.size());
  steps_ += sum_on_grid(values, bounds_);
}

void GridSum::merge(const GridSum& other) {
  if (bounds_ != other.bounds_) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a sum of [{}, {}] steps of 2^{} cannot be merged with one of [{}, {}] "
                            "steps of 2^{}; use the same bounds",
                            bounds_.low, bounds_.high, bounds_.exponent, other.bounds_.low,
                            other.bounds_.high, other.bounds_.exponent));
  }
  count(other.records_);
  steps_ += other.steps_;
}

// Merging a sum with copies of itself could get there in minutes; counting rows could not.
void GridSum::count(std::uint64_t records) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  if (records > kMost - records_) {
    throw Error(ErrorCode::invalid_argument,
                "a sum takes at most 2^63 records; split the data into several sums");
  }
  records_ += records;
}

}  // namespace shoal::numeric
