// Many values at once are what they are one by one, with and without vectors of words.
#include "engine/step_block.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace shoal::engine {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ValueColumn column_of(bool whole, int exponent, bool nulls) {
  ValueColumn column;
  column.use = ValueUse::steps;
  column.whole = whole;
  column.nulls = nulls;
  column.range = catalog::place_on_grid({-100, 1000}, {exponent});
  return column;
}

struct Column {
  std::vector<std::uint64_t> words;
  std::vector<std::uint64_t> validity;
};

void expect_same(const ValueReader& reader, const Column& column, bool nulls) {
  const std::size_t size = column.words.size();
  const BlockValues values{column.words.data(), nulls ? column.validity.data() : nullptr};
  for (std::size_t first = 0; first < std::min<std::size_t>(size, 9); ++first) {
    bool all = true;
    std::vector<std::int64_t> wanted(size);
    for (std::size_t row = first; row < size; ++row)
      all = reader.read(values.words[row], true, wanted[row - first]) && values.valid(row) && all;
    std::vector<std::int64_t> steps(size);
    std::vector<std::int64_t> portable(size);
    ASSERT_EQ(read_steps(reader, values, first, size, steps.data()), all);
    ASSERT_EQ(read_steps_portable(reader, values, first, size, portable.data()), all);
    if (!all) continue;
    EXPECT_EQ(steps, wanted);
    EXPECT_EQ(portable, wanted);
  }
}

TEST(StepBlock, RealsAreWhatTheyAreOneByOne) {
  std::mt19937_64 random(3);
  const double odd[] = {0.0,  -0.0,    0.5,   -0.5, 1.5,  -1.5,  0.49999999999999994, 1e300,
                        kInf, -1e-320, -kInf, 1e6,  -1e6, 2.375, 0x1p-11 * 3,         -0x1p-11 * 3};
  for (const int exponent : {0, -1, -10, -40, 3}) {
    const ValueReader reader(column_of(false, exponent, true));
    for (std::size_t size = 1; size < 140; size += 1 + size / 9) {
      Column column;
      for (std::size_t i = 0; i < size; ++i) {
        const double any = std::ldexp(static_cast<double>(random() % 4000) - 2000, exponent - 1);
        const double value = random() % 3 == 0 ? odd[random() % std::size(odd)] : any;
        column.words.push_back(std::bit_cast<std::uint64_t>(value));
      }
      column.validity.assign(size / 64 + 1, ~std::uint64_t{0});
      expect_same(reader, column, false);
      expect_same(reader, column, true);
      column.words[random() % size] =
          std::bit_cast<std::uint64_t>(random() % 2 == 0 ? kNan : -kNan);
      expect_same(reader, column, false);
    }
  }
}

TEST(StepBlock, AnyNullIsSeen) {
  const ValueReader reader(column_of(false, -3, true));
  for (std::size_t size = 1; size <= 130; ++size) {
    Column column{std::vector<std::uint64_t>(size), std::vector<std::uint64_t>(3, ~0ull)};
    for (std::size_t row = 0; row < size; ++row) {
      column.validity.assign(3, ~std::uint64_t{0});
      column.validity[row / 64] ^= std::uint64_t{1} << (row % 64);
      expect_same(reader, column, true);
    }
    // What lies beyond the rows says nothing about them.
    column.validity.assign(3, ~std::uint64_t{0});
    column.validity[size / 64] &= (std::uint64_t{1} << (size % 64)) - 1;
    expect_same(reader, column, true);
  }
}

TEST(StepBlock, WholeNumbersToo) {
  std::mt19937_64 random(5);
  for (const int exponent : {0, -2, 4}) {
    const ValueReader reader(column_of(true, exponent, true));
    Column column;
    for (int i = 0; i < 100; ++i)
      column.words.push_back(random() % 4 == 0 ? random() : random() % 3000 - 1500);
    expect_same(reader, column, false);
  }
}

}  // namespace
}  // namespace shoal::engine
