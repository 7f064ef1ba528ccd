// The loops under grid_sum.hpp, one portable and one for AVX2. Same input, same sum, bit for bit:
// the lanes do what place_record does.
//
// Every kernel adds int64 lanes in blocks of kBlock records a lane, which cannot overflow
// (kBlock * 2^51 <= 2^61), and moves each block into 128 bits.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/numeric/grid_sum.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::numeric::grid_kernels {

inline constexpr std::size_t kBlock = 1024;
static_assert(static_cast<Int128>(kBlock) * kMaxGridSteps <= Int128{1} << 61);

// Bounds as the kernels use them: already validated.
struct Placement {
  double inverse_step;
  double low;
  double high;

  explicit Placement(const GridBounds& bounds)
      : inverse_step(std::ldexp(1.0, -bounds.exponent)),
        low(static_cast<double>(bounds.low)),
        high(static_cast<double>(bounds.high)) {}
};

// The largest double below one half. Adding it and dropping the fraction rounds halves away from
// zero; one half itself would round 0.5 - 2^-54 up, since their sum is 1 in floating point.
inline constexpr double kBelowHalf = 0x1.fffffffffffffp-2;

// Scaling cannot turn a small record into a large one or the reverse: it is exact, unless the
// result is beyond every bound (infinity) or far below half a step (subnormal).
inline std::int64_t place_record(double value, const Placement& placement) {
  double steps = value * placement.inverse_step;
  steps = steps == steps ? steps : 0.0;
  steps = steps < placement.low ? placement.low : steps;
  steps = steps > placement.high ? placement.high : steps;
  return static_cast<std::int64_t>(steps + std::copysign(kBelowHalf, steps));
}

inline std::int64_t clamp_record(std::int64_t value, std::int64_t low, std::int64_t high) {
  const std::int64_t above = value < low ? low : value;
  return above > high ? high : above;
}

Int128 sum_portable(std::span<const double> values, const Placement& placement);
Int128 clamped_sum_portable(std::span<const std::int64_t> values, std::int64_t low,
                            std::int64_t high);

// The next two must not be called where this is false.
bool has_avx2();
Int128 sum_avx2(std::span<const double> values, const Placement& placement);
Int128 clamped_sum_avx2(std::span<const std::int64_t> values, std::int64_t low, std::int64_t high);

}  // namespace shoal::numeric::grid_kernels
