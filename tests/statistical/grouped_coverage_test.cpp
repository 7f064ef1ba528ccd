// The cells of an answer cover the exact values at least as often as they say: every aggregate and
// expressions of them, with public and with hidden groups. Of hidden groups those that show are
// looked at, down to sizes of which most do not.
//
// False alarm: of 1,000 releases at 95%, fewer than 920 cover with a chance below 2e-5 if coverage
// is nominal (4.35 standard deviations), so below 2e-3 for all columns together; the seeds are
// fixed.
#include "support/plan_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/plan/present.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace shoal::plan {
namespace {

using catalog::StatisticKind;
using test::plan_of;

constexpr int kRuns = 1000;
constexpr int kLeast = 920;

// The rows of one group: r is empty in every tenth, x is the group's key or, without one, i % 50.
struct Row {
  double x;
  std::optional<double> r;
};

std::vector<Row> rows_of(int count, std::optional<double> key) {
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    const double r = (i * 37 % 100) / 100.0;
    rows.push_back({key.value_or(i % 50), i % 10 == 3 ? std::nullopt : std::optional(r)});
  }
  return rows;
}

// What an engine would hand over for the statistic. Whole-number values are of x, others of r.
Int128 exact(const Plan& plan, const catalog::Statistic& statistic, const std::vector<Row>& rows) {
  const bool counts_rows =
      statistic.kind == StatisticKind::rows || statistic.kind == StatisticKind::units;
  if (counts_rows) return static_cast<Int128>(rows.size());
  std::set<double> different;
  Int128 sum = 0;
  for (const Row& row : rows) {
    const std::optional<double> value = statistic.column == "x" ? row.x : row.r;
    if (!value) continue;
    different.insert(*value);
    if (statistic.kind == StatisticKind::values) ++sum;
    const auto steps = static_cast<Int128>(std::llround(*value / statistic.range.grid.step()));
    const Int128 centred = steps - statistic.range.middle();
    if (statistic.kind == StatisticKind::plain_sum) sum += steps;
    if (statistic.kind == StatisticKind::centred_sum) sum += centred;
    if (statistic.kind == StatisticKind::centred_squares)
      sum += centred * centred - catalog::square_offset(statistic.range);
  }
  SHOAL_CHECK(statistic.value < plan.values.size());
  return statistic.kind == StatisticKind::distinct ? static_cast<Int128>(different.size()) : sum;
}

struct Truth {
  explicit Truth(const std::vector<Row>& all) {
    double squares = 0;
    std::set<double> seen;
    for (const Row& row : all) {
      if (!row.r) continue;
      seen.insert(*row.r);
      ++values;
      sum += *row.r;
      squares += *row.r * *row.r;
    }
    rows = static_cast<double>(all.size());
    different = static_cast<double>(seen.size());
    mean = sum / values;
    variance = squares / values - mean * mean;
  }
  double rows = 0, values = 0, different = 0, sum = 0, mean = 0, variance = 0;
};

// How often each column covers its truth, of kRuns releases in which the group shows.
std::vector<int> covered(const Plan& plan, const std::vector<Row>& rows, const catalog::Key& key,
                         const std::vector<double>& truth, std::uint64_t seed) {
  const mechanism::GroupedNoise& noise = plan.noises.at(0);
  std::vector<Int128> sums;
  for (const catalog::Statistic& one : plan.statistics) sums.push_back(exact(plan, one, rows));
  test::SeededSource bits(seed);
  std::vector<int> hits(truth.size());
  for (int run = 0, tries = 0; run < kRuns; ++tries) {
    SHOAL_CHECK(tries < 100 * kRuns);
    std::vector<Int128> values = sums;
    std::optional<mechanism::SelectedGroup> shown;
    if (noise.selection) {
      shown = select(*noise.selection, static_cast<std::int64_t>(rows.size()), bits);
      if (!shown) continue;
    }
    ++run;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (noise.statistics[i].noise) {
        values[i] += sample(*noise.statistics[i].noise, bits);
      } else {
        values[i] = shown->noisy_units.value();
      }
    }
    const std::vector<std::vector<catalog::ReleasedGroup>> sets = {{{key, values, {}}}};
    const std::vector<Cell> cells = present(plan, sets).at(0);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const Cell& cell = cells.at(cells.size() - truth.size() + i);
      const double low = cell.lower.value_or(-HUGE_VAL);
      const double high = cell.upper.value_or(HUGE_VAL);
      hits[i] += low <= truth[i] && truth[i] <= high ? 1 : 0;
    }
  }
  return hits;
}

QueryOptions options(bool gaussian) {
  return {4, 1e-5, 0.95, gaussian ? NoiseChoice::gaussian : NoiseChoice::laplace};
}

TEST(GroupedCoverage, OfAllRows) {
  for (const bool gaussian : {false, true}) {
    const Plan plan = plan_of(
        "SELECT COUNT(*), COUNT(r), COUNT(DISTINCT r), SUM(r), AVG(r), VAR_POP(r), STDDEV_POP(r), "
        "VAR_SAMP(r), 100 * COUNT(r) / COUNT(*), SUM(r) - AVG(r), COUNT(DISTINCT x) FROM t",
        options(gaussian));
    for (const int count : {15, 60, 400}) {
      const std::vector<Row> rows = rows_of(count, std::nullopt);
      const Truth t(rows);
      const std::vector<double> truth = {t.rows,
                                         t.values,
                                         t.different,
                                         t.sum,
                                         t.mean,
                                         t.variance,
                                         std::sqrt(t.variance),
                                         t.variance * t.values / (t.values - 1),
                                         100 * t.values / t.rows,
                                         t.sum - t.mean,
                                         std::min(t.rows, 50.0)};
      const std::vector<int> hits = covered(plan, rows, {}, truth, 21);
      for (std::size_t i = 0; i < hits.size(); ++i)
        EXPECT_GE(hits[i], kLeast) << "column " << i << " of " << count << " rows";
      // A count by itself is not wider than it need be.
      EXPECT_LE(hits[0], 990);
      EXPECT_LE(hits[2], 990);
    }
  }
}

TEST(GroupedCoverage, OfHiddenGroupsThatShow) {
  for (const bool gaussian : {false, true}) {
    const Plan plan = plan_of(
        "SELECT x, COUNT(*), COUNT(DISTINCT r), SUM(r), AVG(r), VAR_SAMP(r), STDDEV_SAMP(r), "
        "SUM(r) "
        "/ COUNT(*), COUNT(*) - COUNT(DISTINCT r) FROM t GROUP BY x",
        options(gaussian));
    ASSERT_TRUE(plan.noises.at(0).selection);
    const std::int64_t even = even_chance_size(*plan.noises[0].selection);
    // Rarely shown, as often as not, and nearly always.
    for (const std::int64_t count : {even * 3 / 4, even, 2 * even}) {
      const std::vector<Row> rows = rows_of(static_cast<int>(count), 7);
      const Truth t(rows);
      const double of_sample = t.variance * t.values / (t.values - 1);
      const std::vector<double> truth = {t.rows,         t.different,         t.sum,
                                         t.mean,         of_sample,           std::sqrt(of_sample),
                                         t.sum / t.rows, t.rows - t.different};
      const std::vector<int> hits = covered(plan, rows, {"7"}, truth, 22);
      for (std::size_t i = 0; i < hits.size(); ++i)
        EXPECT_GE(hits[i], kLeast) << "column " << i << " of " << count << " rows";
    }
  }
}

}  // namespace
}  // namespace shoal::plan
