// Values in 32 bits come back as they were read, at the ends of their range too, and what does not
// fit is not packed.
#include "engine/value_packer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

namespace shoal::engine {
namespace {

ValueColumn whole_column(std::int64_t lower, std::int64_t upper, bool nulls = true) {
  ValueColumn column;
  column.use = ValueUse::steps;
  column.whole = true;
  column.nulls = nulls;
  column.range.lower = lower;
  column.range.upper = upper;
  return column;
}

bool fits(const std::vector<ValueColumn>& values, std::size_t sets = 1) {
  GroupedRequest request;
  request.has_unit = true;
  request.keys = {KeyType::integer};
  request.values = values;
  request.sets.assign(sets, {{0}, 1});
  request.statistics = {{catalog::StatisticKind::rows, 0, "", {}}};
  return ValuePacker::fits(GroupShape(request));
}

TEST(ValuePacker, TakesOneValueOfOneSetInThirtyTwoBits) {
  const std::int64_t room = std::numeric_limits<std::uint32_t>::max();
  EXPECT_TRUE(fits({whole_column(0, 1)}));
  EXPECT_TRUE(fits({whole_column(-7, room - 8)}));
  EXPECT_FALSE(fits({whole_column(-7, room - 7)}));
  EXPECT_FALSE(fits({whole_column(-(std::int64_t{1} << 50), std::int64_t{1} << 50)}));
  EXPECT_FALSE(fits({whole_column(0, 1), whole_column(0, 1)}));
  EXPECT_FALSE(fits({}));
  EXPECT_FALSE(fits({whole_column(0, 1)}, 2));
  ValueColumn identity = whole_column(0, 1);
  identity.use = ValueUse::identity;
  identity.type = KeyType::integer;
  EXPECT_FALSE(fits({identity}));
}

// What comes back for each word; kNone, which is in no range here, if nothing does.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
std::vector<std::int64_t> round_trip(const ValueColumn& column,
                                     const std::vector<std::uint64_t>& words,
                                     std::uint64_t validity) {
  ValuePacker packer(column);
  const std::uint32_t* codes = packer.pack({words.data(), &validity}, words.size());
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < words.size(); ++i)
    steps.push_back(codes[i] == 0 ? kNone : packer.steps(codes[i]));
  return steps;
}

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

TEST(ValuePacker, GivesBackWhatWasRead) {
  const std::int64_t last = std::int64_t{std::numeric_limits<std::uint32_t>::max()} - 8;
  const std::vector<std::uint64_t> words{word(-7), word(last), word(0), word(last + 1), word(-8)};
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(round_trip(whole_column(-7, last), words, 0b11111), (Steps{-7, last, 0, last, -7}));
  EXPECT_EQ(round_trip(whole_column(-7, last), words, 0b11101), (Steps{-7, kNone, 0, last, -7}));
  // Declared free of NULLs: the middle stands in for one.
  const ValueColumn full = whole_column(-10, 20, false);
  EXPECT_EQ(round_trip(full, words, 0b11101), (Steps{-7, full.range.middle(), 0, 20, -8}));
}

TEST(ValuePacker, TakesNanForNone) {
  ValueColumn column;
  column.range = catalog::place_on_grid({-4, 10}, {-2});
  const std::vector<std::uint64_t> words{
      std::bit_cast<std::uint64_t>(1.5),
      std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()),
      std::bit_cast<std::uint64_t>(-std::numeric_limits<double>::infinity())};
  EXPECT_EQ(round_trip(column, words, 0b111), (std::vector<std::int64_t>{6, kNone, -16}));
}

}  // namespace
}  // namespace shoal::engine
