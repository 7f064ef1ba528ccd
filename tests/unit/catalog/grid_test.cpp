// The grid: bounds rounded outward, steps that are exact.
#include <shoal/base/error.hpp>
#include <shoal/catalog/grid.hpp>
#include <shoal/catalog/statistic.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace shoal::catalog {
namespace {

TEST(Grid, WholeNumbersKeepTheirBounds) {
  const GridRange range = place_on_grid({0, 120}, choose_grid({0, 120}, 1e-3, true));
  EXPECT_EQ(range.grid.exponent, 0);
  EXPECT_EQ(range.lower, 0);
  EXPECT_EQ(range.upper, 120);
  EXPECT_EQ(range.middle(), 60);
  EXPECT_EQ(range.radius(), 60);
  EXPECT_EQ(place_on_grid({-3, 4}, {0}).radius(), 4);
}

TEST(Grid, BoundsAreRoundedOutwardAndCovered) {
  EXPECT_TRUE(rc::check([] {
    const double lower = static_cast<double>(*rc::gen::inRange(-1'000'000, 1'000'000)) / 997.0;
    const double upper = lower + static_cast<double>(*rc::gen::inRange(1, 1'000'000)) / 991.0;
    const double wanted = std::exp2(static_cast<double>(*rc::gen::inRange(-300, 60)) / 10.0);
    const GridRange range =
        place_on_grid({lower, upper}, choose_grid({lower, upper}, wanted, false));
    const double step = range.grid.step();
    RC_ASSERT(static_cast<double>(range.lower) * step <= lower);
    RC_ASSERT(static_cast<double>(range.upper) * step >= upper);
    RC_ASSERT(static_cast<double>(range.lower + 1) * step > lower);
    RC_ASSERT(static_cast<double>(range.upper - 1) * step < upper);
    RC_ASSERT(range.lower - range.middle() >= -range.radius());
    RC_ASSERT(range.upper - range.middle() <= range.radius());
    RC_ASSERT(step <= wanted || range.magnitude() > (std::int64_t{1} << 48));
  }));
}

TEST(Grid, FarBoundsGetACoarserGridAndNearOnesAreRefused) {
  const Bounds far{0, 1e18};
  EXPECT_LE(place_on_grid(far, choose_grid(far, 1e-6, false)).upper, kMaxSteps);
  EXPECT_LE(place_on_grid(far, choose_grid(far, 1, true)).upper, kMaxSteps);
  EXPECT_THROW(place_on_grid(far, {0}), Error);
}

TEST(Statistic, WhatARowCanAdd) {
  const GridRange range = place_on_grid({-10, 30}, {0});
  EXPECT_EQ((Statistic{StatisticKind::rows, 0, "", {}}).most_per_row(), 1);
  EXPECT_EQ((Statistic{StatisticKind::rows, 0, "", {}}).least_per_row(), 0);
  EXPECT_EQ((Statistic{StatisticKind::plain_sum, 0, "x", range}).least_per_row(), -10);
  EXPECT_EQ((Statistic{StatisticKind::plain_sum, 0, "x", range}).most_per_row(), 30);
  EXPECT_EQ((Statistic{StatisticKind::centred_sum, 0, "x", range}).most_per_row(), 20);
  // Squares of 0 to 400, less 200.
  EXPECT_EQ((Statistic{StatisticKind::centred_squares, 0, "x", range}).least_per_row(), -200);
  EXPECT_EQ((Statistic{StatisticKind::centred_squares, 0, "x", range}).most_per_row(), 200);
  EXPECT_EQ((Statistic{StatisticKind::units, 0, "", {}}).most_per_row(), 1);
  // A row that is filtered out adds 0, so 0 always counts.
  EXPECT_EQ(
      (Statistic{StatisticKind::plain_sum, 0, "x", place_on_grid({5, 9}, {0})}).least_per_row(), 0);
}

}  // namespace
}  // namespace shoal::catalog
