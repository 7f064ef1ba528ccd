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

// Over 400 draws each, intervals of 80 % hold at least as often: of one marginal and of the mean.
// Tails are bounded, so they hold more often (the normal law says 96 % for 2.146 sigma); 0.8 would
// be missed by 5 standard deviations if the true rate were 0.9. False alarm: below 1e-6.
TEST_F(MeasuredErrorTest, IntervalsHold) {
  const std::vector<std::uint32_t> sizes = {2, 3, 2};
  const std::vector<std::vector<std::uint16_t>> rows = {{0, 2, 1}, {1, 0, 1}, {1, 2, 0},
                                                        {1, 2, 1}, {0, 1, 0}, {1, 2, 1}};
  // The uniform model of six rows: a half in each of the twelve cells.
  const GraphicalModel model = GraphicalModel::from_tables(sizes, {AttributeSet::of({0, 1, 2})},
                                                           {std::vector<double>(12, 0.0)}, 6);
  const Workload workload = {
      {AttributeSet::of({0}), 1}, {AttributeSet::of({1}), 1}, {AttributeSet::of({0, 2}), 1}};
  // Counts 2 4, 1 1 4 and 1 1 1 3; the model has 3 3, 2 2 2 and, rounded, 2 2 2 2.
  const double exact[] = {2, 4, 4};
  constexpr int kDraws = 400;
  int held_one = 0;
  int held_mean = 0;
  double largest = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    test::SeededSource bits(static_cast<std::uint64_t>(draw));
    release::MarginalCurator curator(reserve(privacy::event::Gdp{1}, Neighbors::add_remove),
                                     test::coded_table(sizes, rows), {}, 1, bits);
    const double sigma = distance_sigma(3, 0.4, curator.unit());
    curator.prepay_distances(3, sigma);
    const MeasuredErrors errors = measure_errors(curator, model, workload, sigma, 1);
    const ErrorInterval one = marginal_error(errors, 2, 6, 0.2);
    const ErrorInterval mean = mean_error(errors, 6, 0.2);
    held_one += one.lower <= exact[2] / 6 && exact[2] / 6 <= one.upper ? 1 : 0;
    held_mean += mean.lower <= 10.0 / 18 && 10.0 / 18 <= mean.upper ? 1 : 0;
    largest = std::max(largest, std::abs(static_cast<double>(errors.rows[2]) - exact[2]));
  }
  EXPECT_GE(held_one, 0.8 * kDraws);
  EXPECT_GE(held_mean, 0.8 * kDraws);
  EXPECT_GT(largest, 1);  // there is noise
}

TEST_F(MeasuredErrorTest, TheMeanIsKnownBetterThanEach) {
  const double one = distance_width(100, 1, 0.05);
  EXPECT_NEAR(one, 100 * std::sqrt(2 * std::log(40.0)) + 0.5, 1e-9);
  EXPECT_NEAR(distance_width(100, 400, 0.05) - 0.5, (one - 0.5) / 20, 1e-9);
}

}  // namespace
}  // namespace shoal::synth
