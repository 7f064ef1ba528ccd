// Steps and how often each was seen, against a map: few and far apart, many side by side, and both.
#include "engine/group_table.hpp"
#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace shoal::engine {
namespace {

using Counts = std::map<std::int64_t, std::int64_t>;

Counts counts_of(const data::Leaves& leaves) {
  Counts counts;
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  for (const data::Leaf& leaf : leaves) {
    EXPECT_LT(before, leaf.step);
    EXPECT_GT(leaf.count, 0);
    before = leaf.step;
    counts[leaf.step] = leaf.count;
  }
  return counts;
}

// Steps below `range` from a start on, and each 50th from anywhere.
void check(std::int64_t start, std::uint64_t range, std::size_t many, bool outliers) {
  test::SeededSource bits(range + many);
  LeafCounter counter;
  Counts expected;
  for (std::size_t i = 0; i < many; ++i) {
    std::int64_t step = start + static_cast<std::int64_t>(bits.next_bits(50) % range);
    if (outliers && i % 50 == 0) step = static_cast<std::int64_t>(bits.next_bits(52)) - (1L << 51);
    const auto count = static_cast<std::int64_t>(1 + i % 3);
    if (count == 1) {
      counter.add(step);
    } else {
      counter.add({step, count});
    }
    expected[step] += count;
    if (i == many / 2) {
      EXPECT_EQ(counts_of(counter.leaves()), expected);  // and it goes on
    }
  }
  EXPECT_EQ(counts_of(counter.leaves()), expected);
  EXPECT_EQ(counts_of(counter.leaves()), expected);
}

TEST(LeafCounterTest, CountsEachStep) {
  for (const bool outliers : {false, true}) {
    check(0, 1, 5000, outliers);
    check(-300, 1000, 40'000, outliers);
    check(-(1L << 51), 20'000, 60'000, outliers);
    check((1L << 51) - 20'000, 20'000, 60'000, outliers);
    check(-(1L << 50), std::uint64_t{1} << 51, 10'000, outliers);
  }
}

TEST(LeafCounterTest, OfNothingIsNothing) { EXPECT_TRUE(LeafCounter().leaves().empty()); }

}  // namespace
}  // namespace shoal::engine
