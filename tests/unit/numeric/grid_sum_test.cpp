// Exact sums on a grid: against integer arithmetic of any length, in every order and split, with
// both kernels.
#include "numeric/grid_sum_kernels.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/grid_sum.hpp>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace shoal::numeric {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kFar = kMaxGridSteps;

const std::vector<GridBounds> kBounds = {
    {0, -1, 1},
    {0, 0, 100},
    {0, 5, 9},
    {0, -9, -5},
    {0, 3, 3},
    {0, -kFar, kFar},
    {-40, -(1LL << 40), 1LL << 40},
    {-3, -17, 1000},
    {4, -3, 12345},
    {20, -kFar, kFar},
    {-52, 1 - kFar, kFar - 1},
    {-1022, -kFar, kFar},
    {1022, -kFar, kFar},
    {900, 0, 7},
};

// The record in steps by exact integers: |value| / step = a / b, and the nearest whole number with
// halves away from zero is floor((2a + b) / 2b).
std::int64_t reference(double value, const GridBounds& bounds) {
  const auto clamped = [&](const Integer& steps) {
    return static_cast<std::int64_t>(std::clamp(steps, Integer(bounds.low), Integer(bounds.high)));
  };
  if (std::isnan(value)) return clamped(0);
  if (std::isinf(value)) return value > 0 ? bounds.high : bounds.low;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent);
  Integer a = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  Integer b = 1;
  const int shift = exponent - 53 - bounds.exponent;
  (shift >= 0 ? a : b) <<= std::abs(shift);
  const Integer steps = (2 * a + b) / (2 * b);
  return clamped(std::signbit(value) ? Integer(-steps) : steps);
}

Int128 reference_sum(const std::vector<double>& values, const GridBounds& bounds) {
  Integer sum = 0;
  for (const double value : values) sum += reference(value, bounds);
  return static_cast<Int128>(sum);
}

// Values near everything that could go wrong on this grid: halves and their neighbours, the bounds
// and theirs, zeros, subnormals, the largest numbers, and what is no number.
std::vector<double> awkward_values(const GridBounds& bounds) {
  const double largest = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::denorm_min();
  std::vector<double> values = {0.0,
                                -0.0,
                                kNan,
                                -kNan,
                                kInfinity,
                                -kInfinity,
                                largest,
                                -largest,
                                smallest,
                                -smallest,
                                0x1p-1022,
                                -0x1p-1022,
                                0x1.fffffffffffffp-1023};
  const auto around = [&](double steps) {
    const double value = std::ldexp(steps, bounds.exponent);
    for (const double near :
         {std::nextafter(value, -kInfinity), value, std::nextafter(value, kInfinity)}) {
      values.push_back(near);
      values.push_back(-near);
    }
  };
  for (const double steps : {0.5, 1.0, 1.5, 2.5, 3.5, 1000.5, 0x1p51, 0x1p51 - 0.5, 0x1p52, 0x1p53})
    around(steps);
  for (const std::int64_t bound : {bounds.low, bounds.high}) {
    for (const double offset : {-1.0, -0.5, 0.0, 0.5, 1.0})
      around(static_cast<double>(bound) + offset);
  }
  return values;
}

// Every second one any pattern of bits, the others about as large as the bounds.
std::vector<double> random_values(std::size_t count, const GridBounds& bounds,
                                  random::BitSource& bits) {
  std::vector<double> values(count);
  const double span = static_cast<double>(bounds.high) - static_cast<double>(bounds.low) + 2;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = bits.next_u64();
    const double part = std::ldexp(static_cast<double>(word >> 11), -53);
    values[i] =
        i % 2 == 0 ? std::bit_cast<double>(word)
                   : std::ldexp(static_cast<double>(bounds.low) - 1 + part * span, bounds.exponent);
  }
  return values;
}

void shuffle(std::vector<double>& values, random::BitSource& bits) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[bits.next_u64() % i]);
}

TEST(GridSum, PlacesAwkwardRecordsAsIntegersDo) {
  for (const GridBounds& bounds : kBounds) {
    for (const double value : awkward_values(bounds)) {
      ASSERT_EQ(steps_on_grid(value, bounds), reference(value, bounds))
          << value << " on 2^" << bounds.exponent << " in [" << bounds.low << ", " << bounds.high;
    }
  }
}

TEST(GridSum, RoundsHalvesAwayFromZeroAsTheEngineDoes) {
  const GridBounds bounds{0, -kFar, kFar};
  for (const double value : {0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994,
                             0x1p50 + 0.25, 0x1p50 + 0.5, 0x1p51 - 0.5, 1 - 0x1p51 + 0.5}) {
    EXPECT_EQ(static_cast<double>(steps_on_grid(value, bounds)), std::round(value)) << value;
  }
}

TEST(GridSum, EqualsASumOfIntegersOfAnyLength) {
  test::SeededSource bits(1);
  for (const GridBounds& bounds : kBounds) {
    for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 63u, 4096u, 5003u}) {
      std::vector<double> values = random_values(count, bounds, bits);
      ASSERT_TRUE(sum_on_grid(values, bounds) == reference_sum(values, bounds)) << count;
    }
    std::vector<double> values = awkward_values(bounds);
    ASSERT_TRUE(sum_on_grid(values, bounds) == reference_sum(values, bounds));
  }
}

// Blocks as full as they can be: an accumulator one bit too short would wrap.
TEST(GridSum, DoesNotOverflowAtTheBounds) {
  const GridBounds bounds{0, -kFar, kFar};
  for (const std::size_t count : {4096u, 100'000u}) {
    for (const int sign : {-1, 1}) {
      const std::vector<double> values(count, sign * 0x1p60);
      const std::vector<std::int64_t> whole(count, sign * (std::int64_t{1} << 60));
      const Int128 expected = static_cast<Int128>(count) * sign * kFar;
      EXPECT_TRUE(sum_on_grid(values, bounds) == expected);
      EXPECT_TRUE(sum_on_grid(whole, bounds) == expected);
      const grid_kernels::Placement placement(bounds);
      EXPECT_TRUE(grid_kernels::sum_portable(values, placement) == expected);
      EXPECT_TRUE(grid_kernels::clamped_sum_portable(whole, -kFar, kFar) == expected);
    }
  }
}

TEST(GridSum, HasNoOrderAndNoSplit) {
  test::SeededSource bits(2);
  for (const GridBounds& bounds : kBounds) {
    std::vector<double> values = random_values(3000, bounds, bits);
    for (const double value : awkward_values(bounds)) values.push_back(value);
    const Int128 expected = sum_on_grid(values, bounds);
    for (int round = 0; round < 5; ++round) {
      shuffle(values, bits);
      ASSERT_TRUE(sum_on_grid(values, bounds) == expected);
      // Pieces of any length at any alignment, merged in a tree.
      GridSum left(bounds);
      GridSum right(bounds);
      for (std::size_t at = 0; at < values.size();) {
        const std::size_t size = std::min<std::size_t>(bits.next_bits(8), values.size() - at);
        (bits.next_bit() ? left : right).add(std::span<const double>(values).subspan(at, size));
        at += size;
      }
      left.merge(right);
      ASSERT_TRUE(left.steps() == expected);
      ASSERT_EQ(left.records(), values.size());
    }
  }
}

TEST(GridSum, KernelsAgree) {
  if (!grid_kernels::has_avx2()) GTEST_SKIP() << "no AVX2 on this processor";
  test::SeededSource bits(3);
  for (const GridBounds& bounds : kBounds) {
    const grid_kernels::Placement placement(bounds);
    for (const double value : awkward_values(bounds)) {
      // One kind of record fills every lane, so that no two errors can cancel.
      const std::vector<double> same(16, value);
      ASSERT_TRUE(grid_kernels::sum_avx2(same, placement) ==
                  grid_kernels::sum_portable(same, placement))
          << value << " on 2^" << bounds.exponent;
    }
    for (int round = 0; round < 20; ++round) {
      const std::vector<double> values =
          random_values(static_cast<std::size_t>(bits.next_bits(13)), bounds, bits);
      ASSERT_TRUE(grid_kernels::sum_avx2(values, placement) ==
                  grid_kernels::sum_portable(values, placement));
      std::vector<std::int64_t> whole(values.size());
      for (std::int64_t& value : whole) {
        value = static_cast<std::int64_t>(bits.next_u64()) >> bits.next_bits(6);
      }
      ASSERT_TRUE(grid_kernels::clamped_sum_avx2(whole, bounds.low, bounds.high) ==
                  grid_kernels::clamped_sum_portable(whole, bounds.low, bounds.high));
    }
  }
}

TEST(GridSum, TakesWholeNumbers) {
  test::SeededSource bits(4);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const GridBounds& bounds : kBounds) {
    std::vector<std::int64_t> values = {
        0, 1, -1, most, -most - 1, bounds.low, bounds.high, bounds.low - 1, bounds.high + 1};
    for (int i = 0; i < 3000; ++i) {
      values.push_back(static_cast<std::int64_t>(bits.next_u64()) >> bits.next_bits(6));
    }
    Integer expected = 0;
    for (const std::int64_t value : values) {
      const std::int64_t one = bounds.exponent == 0 ? std::clamp(value, bounds.low, bounds.high)
                                                    : reference(static_cast<double>(value), bounds);
      ASSERT_EQ(steps_on_grid(value, bounds), one);
      expected += one;
    }
    ASSERT_TRUE(sum_on_grid(values, bounds) == static_cast<Int128>(expected));
    GridSum sum(bounds);
    sum.add(values);
    ASSERT_TRUE(sum.steps() == static_cast<Int128>(expected));
  }
}

// What a guarantee rests on: one record more or less never moves the sum by more than the bounds.
TEST(GridSum, HasTheSensitivityOfItsBounds) {
  test::SeededSource bits(5);
  for (const GridBounds& bounds : kBounds) {
    std::vector<double> values = random_values(400, bounds, bits);
    for (const double value : awkward_values(bounds)) values.push_back(value);
    const Int128 all = sum_on_grid(values, bounds);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<double> fewer = values;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const Int128 added = all - sum_on_grid(fewer, bounds);
      ASSERT_TRUE(bounds.low <= added && added <= bounds.high);
    }
  }
}

TEST(GridSum, RefusesBadBounds) {
  const std::vector<GridBounds> bad = {
      {0, 1, 0},
      {0, -kFar - 1, 0},
      {0, 0, kFar + 1},
      {1023, 0, 1},
      {-1023, 0, 1},
      {0, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}};
  const std::vector<double> values = {1.0};
  const std::vector<std::int64_t> whole = {1};
  const auto refused = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  for (const GridBounds& bounds : bad) {
    EXPECT_TRUE(refused([&] { validate(bounds); }));
    EXPECT_TRUE(refused([&] { GridSum sum(bounds); }));
    EXPECT_TRUE(refused([&] { sum_on_grid(values, bounds); }));
    EXPECT_TRUE(refused([&] { sum_on_grid(whole, bounds); }));
    EXPECT_TRUE(refused([&] { steps_on_grid(1.0, bounds); }));
    EXPECT_TRUE(refused([&] { steps_on_grid(std::int64_t{1}, bounds); }));
  }
}

TEST(GridSum, RefusesToMergeOtherBoundsAndTooManyRecords) {
  GridSum sum({0, 0, 1});
  EXPECT_THROW(sum.merge(GridSum({0, 0, 2})), Error);
  EXPECT_THROW(sum.merge(GridSum({1, 0, 1})), Error);
  const std::vector<double> values = {1.0};
  sum.add(values);
  for (int doubling = 0; doubling < 63; ++doubling) sum.merge(GridSum(sum));
  EXPECT_TRUE(sum.steps() == Int128{1} << 63);
  EXPECT_THROW(sum.add(values), Error);
  EXPECT_THROW(sum.merge(GridSum(sum)), Error);
  EXPECT_TRUE(sum.steps() == Int128{1} << 63);
}

}  // namespace
}  // namespace shoal::numeric
