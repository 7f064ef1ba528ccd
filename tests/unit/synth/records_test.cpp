// Records: exact totals, marginals of the cliques within rounding, no impossible values, and
// columns that the model holds independent stay so.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"

#include <shoal/synth/records.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace shoal::synth {
namespace {

using data::AttributeSet;

std::vector<double> counted(const std::vector<std::uint32_t>& sizes, const CodedRecords& records,
                            AttributeSet set) {
  std::vector<double> table(static_cast<std::size_t>(data::cell_count(sizes, set)));
  for (std::size_t i = 0; i < records[0].size(); ++i) {
    std::size_t cell = 0;
    for (const std::size_t j : set.members()) cell = cell * sizes[j] + records[j][i];
    table[cell] += 1;
  }
  return table;
}

const std::vector<std::uint32_t> kSizes = {3, 4, 2, 5};

GraphicalModel model() {
  FitOptions options;
  options.shrinkage = {1e-4, 1e-4, 1e-4};
  const std::vector<NoisyMarginal> marginals = {
      {AttributeSet::of({0, 1}), 1, {50, 0, 10, 40, 5, 5, 80, 10, 100, 30, 20, 50}},
      {AttributeSet::of({1, 2}), 1, {100, 55, 5, 30, 70, 40, 60, 40}},
      {AttributeSet::of({3}), 1, {100, 200, 50, 40, 10}}};
  return GraphicalModel::fit(kSizes, marginals, options);
}

TEST(RecordsTest, MarginalsOfCliquesFollowTheModel) {
  const GraphicalModel fitted = model();
  test::SeededSource bits(1);
  for (const std::int64_t rows : {1, 7, 400, 40000}) {
    const CodedRecords records = generate_records(fitted, rows, bits);
    ASSERT_EQ(records.size(), kSizes.size());
    for (const auto& column : records) ASSERT_EQ(column.size(), static_cast<std::size_t>(rows));
    for (const AttributeSet set : {AttributeSet::of({0, 1}), AttributeSet::of({1, 2})}) {
      const auto expected = fitted.marginal(set);
      const auto found = counted(kSizes, records, set);
      for (std::size_t i = 0; i < found.size(); ++i) {
        // One rounding for each column on the way to the cell.
        EXPECT_NEAR(found[i], expected[i] * static_cast<double>(rows) / fitted.total(), 3.0);
      }
    }
    const auto alone = counted(kSizes, records, AttributeSet::of({3}));
    const auto expected = fitted.marginal(AttributeSet::of({3}));
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_LT(std::abs(alone[i] - expected[i] * static_cast<double>(rows) / fitted.total()), 1.0);
    }
  }
}

// 40,000 rows, column 3 independent of column 0 in the model: the chi-square statistic of their
// table, 8 degrees of freedom, is at most 26.1 but for one seed in a thousand.
TEST(RecordsTest, IndependentColumnsStayIndependent) {
  const GraphicalModel fitted = model();
  test::SeededSource bits(2);
  const CodedRecords records = generate_records(fitted, 40000, bits);
  const auto found = counted(kSizes, records, AttributeSet::of({0, 3}));
  const auto expected = fitted.marginal(AttributeSet::of({0, 3}));
  double statistic = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double mean = expected[i] * 40000 / fitted.total();
    statistic += (found[i] - mean) * (found[i] - mean) / mean;
  }
  EXPECT_LT(statistic, 26.1);
  EXPECT_GT(statistic, 0);
}

// The L1 distance to counts that are Poisson with the model's means, on average.
double expected_distance(const GraphicalModel& fitted, const CodedRecords& records,
                         const Workload& workload) {
  double sum = 0;
  for (const WorkloadMarginal& one : workload) {
    const auto expected = fitted.marginal(one.set);
    const auto found = counted(kSizes, records, one.set);
    const double scale = static_cast<double>(records[0].size()) / fitted.total();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double mean = expected[i] * scale;
      for (int count = 0; count < 400; ++count) {
        const double chance = std::exp(count * std::log(mean) - mean - std::lgamma(count + 1.0));
        sum += static_cast<double>(one.weight) * chance * std::abs(found[i] - count);
      }
    }
  }
  return sum;
}

TEST(RecordsTest, RefinedRecordsAreNearerToWhatIsExpected) {
  const GraphicalModel fitted = model();
  Workload workload = all_marginals(4, 3);
  workload[1].weight = 5;
  test::SeededSource bits(4);
  for (const std::int64_t rows : {1, 30, 400}) {
    CodedRecords records = generate_records(fitted, rows, bits);
    const double before = expected_distance(fitted, records, workload);
    CodedRecords same = records;
    refine_records(records, fitted, workload, 2);
    refine_records(same, fitted, workload, 1);
    EXPECT_EQ(records, same);
    EXPECT_LE(expected_distance(fitted, records, workload), (rows == 30 ? 0.97 : 1.0) * before);
    for (std::size_t j = 0; j < kSizes.size(); ++j) {
      ASSERT_EQ(records[j].size(), static_cast<std::size_t>(rows));
      for (const std::uint16_t code : records[j]) ASSERT_LT(code, kSizes[j]);
    }
  }
}

// A thousandth to a tenth of a row in each cell of three columns: no record is expected anywhere,
// so by that marginal alone all rows would go where a little more is. Columns and pairs hold them.
TEST(RecordsTest, RefinementKeepsTheMarginalsOfSparseTables) {
  const std::vector<std::uint32_t> sizes = {32, 32, 32};
  const AttributeSet all = AttributeSet::of({0, 1, 2});
  test::SeededSource bits(8);
  std::vector<double> table(32 * 32 * 32);
  for (double& cell : table) cell = std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
  const GraphicalModel sparse = GraphicalModel::from_tables(sizes, {all}, {table}, 3000);
  for (const std::int64_t rows : {300, 3000}) {
    CodedRecords records = generate_records(sparse, rows, bits);
    refine_records(records, sparse, {{all, 1}}, 2);
    for (std::size_t column = 0; column < 3; ++column) {
      const auto expected = sparse.marginal(AttributeSet::single(column));
      const auto found = counted(sizes, records, AttributeSet::single(column));
      double distance = 0;
      for (std::size_t v = 0; v < 32; ++v) {
        distance += std::abs(found[v] / static_cast<double>(rows) - expected[v] / 3000);
      }
      // As far as counts of independent rows scatter, whose mean distance is this.
      EXPECT_LT(distance, std::sqrt(2 * 32 / (std::numbers::pi * static_cast<double>(rows))));
    }
  }
}

// Records that have the very counts that are expected stay as they are.
TEST(RecordsTest, RefinementLeavesExactRecordsAlone) {
  const GraphicalModel uniform = GraphicalModel::from_tables({2, 3}, {}, {}, 12);
  CodedRecords records = {{0, 0, 0, 1, 1, 1}, {0, 1, 2, 0, 1, 2}};
  const CodedRecords before = records;
  refine_records(records, uniform, all_marginals(2, 2), 1);
  EXPECT_EQ(records, before);
  records[1] = {0, 0, 2, 0, 1, 2};  // one too many of (0, 0), none of (0, 1)
  refine_records(records, uniform, all_marginals(2, 2), 1);
  EXPECT_EQ(std::multiset<int>({records[1][0], records[1][1], records[1][2]}),
            std::multiset<int>({0, 1, 2}));
  EXPECT_EQ(test::code_of([&] {
              refine_records(records, uniform, {{AttributeSet(8), 1}}, 1);
            }),
            ErrorCode::invalid_argument);
}

TEST(RecordsTest, RefusesNoRows) {
  test::SeededSource bits(3);
  EXPECT_EQ(test::code_of([&] { generate_records(model(), 0, bits); }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace shoal::synth
