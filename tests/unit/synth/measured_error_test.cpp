// Errors that are measured: the noise costs what was set aside, and intervals hold.
#include "support/curator_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/privacy/charge.hpp>
#include <shoal/synth/measured_error.hpp>

#include <cmath>

namespace shoal::synth {
namespace {

using data::AttributeSet;

class MeasuredErrorTest : public test::CuratorTest {};

TEST_F(MeasuredErrorTest, TheNoiseCostsWhatWasSetAside) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    for (const double rho : {1e-6, 0.01, 3.0}) {
      for (const std::size_t marginals : {1u, 7u, 455u}) {
        const release::MarginalUnit unit{2, neighbors};
        const double sigma = distance_sigma(marginals, rho, unit);
        const privacy::Charge charge = price(
            release::distances_event(sigma, static_cast<std::int64_t>(marginals), unit), neighbors);
        const double cost =
            static_cast<double>(charge.rho_units) / std::pow(10.0, privacy::kRhoDecimals);
        EXPECT_LE(cost, rho);
        EXPECT_GT(cost, 0.99999 * rho);
      }
    }
  }
}

// What is accepted can be paid for, and what cannot is refused before.
TEST_F(MeasuredErrorTest, SharesThatRoundingWouldEatUpAreRefused) {
  const release::MarginalUnit unit;
  for (const double rho : {0.0, 1e-28, 9e-14, 6.9e-13, std::nan("")}) {
    EXPECT_EQ(test::code_of([&] { distance_sigma(7, rho, unit); }), ErrorCode::invalid_argument)
        << rho;
  }
  const double rho = 7.1e-13;
  const privacy::Charge charge =
      price(release::distances_event(distance_sigma(7, rho, unit), 7, unit), unit.neighbors);
  EXPECT_LE(static_cast<double>(charge.rho_units) * 1e-15, rho);
}

// A thousand seeded runs on a sparse table: 300 rows in 64,000 cells, and a model that has a small
// share of a row in each. Intervals of 95 % hold the distance from the model's density, worked out
// here by itself, at least as often: of one marginal and of the weighted mean. Tails are bounded,
// so they hold more often (the normal law says 99.3 % for 2.716 sigma): if each held with exactly
// that chance, fewer than 950 of 1,000 would with a probability below 1e-20. That is the false
// alarm.
TEST_F(MeasuredErrorTest, IntervalsHoldOnASparseTable) {
  const std::vector<std::uint32_t> sizes = {40, 40, 40};
  test::SeededSource random(5);
  std::vector<std::vector<std::uint16_t>> rows;
  for (int i = 0; i < 300; ++i) {
    rows.push_back({static_cast<std::uint16_t>(random.next_bits(10) % 40),
                    static_cast<std::uint16_t>(random.next_bits(5)),
                    static_cast<std::uint16_t>(random.next_bits(4))});
  }
  // Not as many rows as the data has, and a little more of them where the first code is 0.
  constexpr double kTotal = 310.7;
  std::vector<double> logs(64'000);
  for (std::size_t i = 0; i < 1600; ++i) logs[i] = 0.5;
  const GraphicalModel model =
      GraphicalModel::from_tables(sizes, {AttributeSet::of({0, 1, 2})}, {logs}, kTotal);
  const Workload workload = {{AttributeSet::of({0, 1, 2}), 1}, {AttributeSet::of({0, 1}), 3}};
  std::vector<double> exact;
  for (const WorkloadMarginal& one : workload) {
    std::vector<double> gaps = model.marginal(one.set);
    for (const auto& row : rows) {
      const auto pair = static_cast<std::size_t>(row[0] * 40 + row[1]);
      gaps[one.set.size() == 2 ? pair : pair * 40 + row[2]] -= 1;
    }
    exact.push_back(0);
    for (const double gap : gaps) exact.back() += std::abs(gap) / kTotal;
  }
  EXPECT_GT(exact[0], 1.9);  // with cells rounded to whole rows it would seem to be 1
  const double mean = (exact[0] + 3 * exact[1]) / 4;
  constexpr int kRuns = 1000;
  int held_one = 0;
  int held_mean = 0;
  double narrowest = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    test::SeededSource bits(static_cast<std::uint64_t>(run));
    release::MarginalCurator curator(run % 2 == 0
                                         ? reserve(privacy::event::Gdp{1}, Neighbors::add_remove)
                                         : reserve(privacy::event::Zcdp{1}, Neighbors::add_remove),
                                     test::coded_table(sizes, rows), {}, 1, bits);
    const double sigma = distance_sigma(2, 0.4, curator.unit());
    curator.prepay_distances(2, sigma);
    const MeasuredErrors errors = measure_errors(curator, model, workload, sigma, 1);
    const ErrorInterval one = marginal_error(errors, 0, kTotal, 0.05);
    const ErrorInterval all = mean_error(errors, workload, kTotal, 0.05);
    held_one += one.lower <= exact[0] && exact[0] <= one.upper ? 1 : 0;
    held_mean += all.lower <= mean && mean <= all.upper ? 1 : 0;
    narrowest = std::min(narrowest, one.upper - one.lower);
  }
  RecordProperty("held_one", held_one);
  RecordProperty("held_mean", held_mean);
  EXPECT_GE(held_one, 0.95 * kRuns);
  EXPECT_GE(held_mean, 0.95 * kRuns);
  EXPECT_LT(held_one, kRuns);  // there is noise
  EXPECT_LT(narrowest, 0.04);  // and the interval says something
}

// A share of the model's rows is not bounded by 2: the data may have more rows than the model.
TEST_F(MeasuredErrorTest, AModelOfTooFewRowsIsFarOff) {
  const std::vector<std::uint32_t> sizes = {2};
  const std::vector<std::vector<std::uint16_t>> rows(5000, {1});
  const GraphicalModel model =
      GraphicalModel::from_tables(sizes, {AttributeSet::of({0})}, {{0.0, 0.0}}, 10);
  const Workload workload = {{AttributeSet::of({0}), 1}};
  test::SeededSource bits(1);
  release::MarginalCurator curator(reserve(privacy::event::Zcdp{1}), test::coded_table(sizes, rows),
                                   {}, 1, bits);
  const double sigma = distance_sigma(1, 0.5, curator.unit());
  curator.prepay_distances(1, sigma);
  const MeasuredErrors errors = measure_errors(curator, model, workload, sigma, 1);
  const ErrorInterval all = mean_error(errors, workload, 10, 1e-9);
  EXPECT_LE(all.lower, 500);
  EXPECT_GE(all.upper, 500);
}

TEST_F(MeasuredErrorTest, TheMeanIsKnownBetterThanEach) {
  const double one = distance_width(100, 0.05);
  EXPECT_NEAR(one, 100 * std::sqrt(2 * std::log(40.0)), 1e-4);
  const Workload alike(400, {AttributeSet::of({0}), 7});
  EXPECT_NEAR(mean_distance_width(100, alike, 0.05), one / 20, 1e-4);
  // Weights 3 and 4: the root of 25 over 7.
  const Workload two = {{AttributeSet::of({0}), 3}, {AttributeSet::of({1}), 4}};
  EXPECT_NEAR(mean_distance_width(100, two, 0.05), one * 5 / 7, 1e-4);
}

}  // namespace
}  // namespace shoal::synth
