// Coded tables: sizes and codes are checked, counts are those of a plain loop, and both are secret.
#include "support/curator_fixture.hpp"

#include <shoal/data/marginal_tables.hpp>

#include <limits>
#include <type_traits>

namespace shoal::release {

// Opens exact marginals. Production has one such key, in src/release/marginal_curator.cpp, which
// this test does not link.
class MarginalTablesKey {
 public:
  static const std::vector<std::int64_t>& counts(const data::MarginalTables& tables,
                                                 std::size_t which) {
    return tables.counts_[which];
  }
};

}  // namespace shoal::release

namespace shoal::data {
namespace {

using test::code_of;

static_assert(!std::is_copy_constructible_v<CodedTable>);
static_assert(!std::is_copy_constructible_v<MarginalTables>);

TEST(AttributeSetTest, ListsItsMembersInOrder) {
  const AttributeSet set = AttributeSet::of({5, 0, 63});
  EXPECT_EQ(set.members(), (std::vector<std::size_t>{0, 5, 63}));
  EXPECT_EQ(set.size(), 3u);
  EXPECT_TRUE(AttributeSet::of({5}).within(set));
  EXPECT_FALSE(AttributeSet::of({5, 6}).within(set));
}

TEST(AttributeSetTest, CountsCellsAndSaturates) {
  const std::vector<std::uint32_t> sizes = {3, 65536, 65536, 65536, 65536, 7};
  EXPECT_EQ(cell_count(sizes, AttributeSet::of({0, 5})), 21);
  EXPECT_EQ(cell_count(sizes, AttributeSet()), 1);
  EXPECT_EQ(cell_count(sizes, AttributeSet::of({1, 2, 3, 4})),
            std::numeric_limits<std::int64_t>::max());
}

TEST(CodedTableTest, RefusesSizesOutOfRange) {
  EXPECT_EQ(code_of([] { CodedTable table({}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { CodedTable table({3, 0}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { CodedTable table({65537}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { CodedTable table(std::vector<std::uint32_t>(65, 2)); }),
            ErrorCode::invalid_argument);
}

TEST(CodedTableTest, RefusesCodesBeyondTheSize) {
  CodedTable table({3});
  const std::vector<std::uint16_t> codes = {0, 2, 3};
  EXPECT_EQ(code_of([&] { table.append(0, codes); }), ErrorCode::internal);
}

TEST(MarginalTablesTest, CountsAsALoopDoes) {
  const std::vector<std::uint32_t> sizes = {4, 300, 2};
  std::vector<std::vector<std::uint16_t>> rows;
  std::uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525 + 1013904223;
    rows.push_back({static_cast<std::uint16_t>((state >> 16) % 4),
                    static_cast<std::uint16_t>((state >> 8) % 300),
                    static_cast<std::uint16_t>(state >> 31)});
  }
  const std::vector<AttributeSet> sets = {AttributeSet(), AttributeSet::of({1}),
                                          AttributeSet::of({0, 2}), AttributeSet::of({0, 1, 2})};
  for (const int threads : {1, 3}) {
    const MarginalTables tables = count_marginals(test::coded_table(sizes, rows), sets, threads);
    for (std::size_t t = 0; t < sets.size(); ++t) {
      std::vector<std::int64_t> expected(static_cast<std::size_t>(cell_count(sizes, sets[t])));
      for (const auto& row : rows) {
        std::size_t cell = 0;
        for (const std::size_t j : sets[t].members()) cell = cell * sizes[j] + row[j];
        ++expected[cell];
      }
      EXPECT_EQ(release::MarginalTablesKey::counts(tables, t), expected);
    }
  }
}

TEST(MarginalTablesTest, RefusesTablesBeyondTheLimit) {
  const CodedTable table({65536, 65536});
  const std::vector<AttributeSet> sets = {AttributeSet::of({0, 1})};
  EXPECT_EQ(code_of([&] { count_marginals(table, sets, 1); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace shoal::data
