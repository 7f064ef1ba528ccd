#include "synth/kept_tables.hpp"

#include <gtest/gtest.h>

namespace shoal::synth {
namespace {

using data::AttributeSet;

ColumnTable table_of(std::size_t cells) {
  return {AttributeSet::single(0), std::vector<double>(cells, static_cast<double>(cells))};
}

KeptTables::Key key(std::size_t clique) { return {clique, AttributeSet::single(0)}; }

TEST(KeptTablesTest, WhatWasNotAskedForTheLongestGoesFirst) {
  KeptTables tables(10);
  EXPECT_EQ(tables.find(key(1)), nullptr);
  tables.keep(key(1), table_of(3));
  tables.keep(key(2), table_of(4));
  tables.keep(key(3), table_of(3));
  EXPECT_EQ(tables.cells(), 10u);
  ASSERT_NE(tables.find(key(1)), nullptr);
  EXPECT_EQ(tables.find(key(1))->cells.size(), 3u);
  tables.keep(key(4), table_of(2));  // the second goes
  EXPECT_EQ(tables.find(key(2)), nullptr);
  EXPECT_NE(tables.find(key(1)), nullptr);
  EXPECT_NE(tables.find(key(3)), nullptr);
  EXPECT_EQ(tables.cells(), 8u);
  tables.keep(key(5), table_of(6));  // the fourth and the first go
  EXPECT_EQ(tables.find(key(4)), nullptr);
  EXPECT_EQ(tables.find(key(1)), nullptr);
  EXPECT_NE(tables.find(key(3)), nullptr);
  EXPECT_EQ(tables.cells(), 9u);
}

TEST(KeptTablesTest, WhatIsLargerThanTheRoomIsGivenBackAndNotKept) {
  KeptTables tables(10);
  tables.keep(key(1), table_of(10));
  const auto large = tables.keep(key(2), table_of(11));
  EXPECT_EQ(large->cells.size(), 11u);
  EXPECT_EQ(tables.find(key(2)), nullptr);
  EXPECT_NE(tables.find(key(1)), nullptr);
}

TEST(KeptTablesTest, WhoHoldsATableGoesOnWithIt) {
  KeptTables tables(5);
  const auto held = tables.keep(key(1), table_of(5));
  tables.keep(key(2), table_of(5));
  EXPECT_EQ(tables.find(key(1)), nullptr);
  EXPECT_EQ(held->cells, std::vector<double>(5, 5.0));
}

}  // namespace
}  // namespace shoal::synth
