// Conversions by name: golden values, and the order between them.
#include "support/formula_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace shoal::privacy {
namespace {

using test::expect_around;
using test::expect_just_above;
using test::formula_rows;
using test::FormulaRow;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RenyiConversion, GoldenValues) {
  for (const FormulaRow& row : formula_rows("zcdp_best_order")) {
    // A table of orders, finely spaced, comes close to the best order from above.
    std::vector<RenyiBound> table;
    for (double c = 1e-2; c < 1e5; c *= 1.001) table.push_back({1 + c, row.first * (1 + c)});
    const double epsilon = epsilon_of_renyi_up(table, Delta(row.at));
    EXPECT_GE(epsilon, row.value * (1 - 1e-14)) << row.name;
    EXPECT_NEAR(epsilon, row.value, 1e-6 * row.value) << row.name;
    EXPECT_LE(epsilon_of_rho_up(Rho(row.first), Delta(row.at)), epsilon * (1 + 1e-12)) << row.name;
  }
  for (const FormulaRow& row : formula_rows("bun_steinke")) {
    expect_just_above(bun_steinke_epsilon_up(Rho(row.first), Delta(row.at)), row);
    EXPECT_GT(bun_steinke_epsilon_up(Rho(row.first), Delta(row.at)),
              epsilon_of_rho_up(Rho(row.first), Delta(row.at)));
  }
  for (const FormulaRow& row : formula_rows("best_renyi_delta")) {
    const double delta = best_delta_of_renyi_up({row.first, row.second}, row.at);
    EXPECT_GE(delta, row.value * (1 - 1e-12)) << row.name;
    EXPECT_NEAR(delta, row.value, row.tolerance * row.value) << row.name;
  }
}

TEST(RenyiConversion, EpsilonAndDeltaOfOneOrderAgree) {
  for (const double order : {1.001, 1.5, 2.0, 10.0, 500.0}) {
    for (const double divergence : {1e-6, 0.1, 1.0, 30.0}) {
      for (const double delta : {1e-300, 1e-9, 1e-3}) {
        const RenyiBound bound{order, divergence};
        const double epsilon = epsilon_of_renyi_up(bound, Delta(delta));
        if (epsilon == 0) continue;
        ASSERT_NEAR(std::log(delta_of_renyi_up(bound, epsilon)), std::log(delta),
                    1e-11 * (1 + order * (epsilon + divergence)))
            << order << ' ' << divergence << ' ' << delta;
      }
    }
  }
}

TEST(RenyiConversion, TheBestDeltaIsBelowTheSimpleOne) {
  for (const double order : {1.01, 1.3, 2.0, 6.0, 40.0, 1e3, 1e6}) {
    for (const double divergence : {0.0, 1e-4, 0.05, 0.7, 4.0, 50.0}) {
      for (const double epsilon : {0.0, 1e-3, 0.3, 1.0, 5.0, 60.0, 800.0}) {
        const RenyiBound bound{order, divergence};
        const double best = best_delta_of_renyi_up(bound, epsilon);
        ASSERT_GE(best, 0) << order << ' ' << divergence << ' ' << epsilon;
        ASSERT_LE(best, delta_of_renyi_up(bound, epsilon));
      }
    }
  }
}

// The best delta of one order must cover every mechanism with that divergence: randomized response
// and the Gaussian.
TEST(RenyiConversion, TheBestDeltaCoversKnownMechanisms) {
  for (const double order : {1.1, 2.0, 4.0, 12.0}) {
    for (const double size : {0.1, 0.5, 1.0, 2.0}) {
      const RenyiBound response{order, pure_renyi_up(Epsilon(size), order)};
      const RenyiBound gaussian{order, gaussian_renyi_up(size, order)};
      for (const double epsilon : {0.0, 0.05, 0.3, 0.9, 1.7, 3.0}) {
        ASSERT_GE(best_delta_of_renyi_up(response, epsilon),
                  optimal_composition_delta({size, 0}, 1, epsilon).lower);
        ASSERT_GE(best_delta_of_renyi_up(gaussian, epsilon), gdp_delta(size, epsilon).lower);
      }
    }
  }
}

TEST(RenyiConversion, Corners) {
  EXPECT_EQ(epsilon_of_renyi_up({2, 0.5}, Delta(0)), kInfinity);
  EXPECT_EQ(epsilon_of_renyi_up({kInfinity, 0.5}, Delta(0)), 0.5);
  EXPECT_EQ(epsilon_of_renyi_up({2, 0}, Delta(0)), 0);
  EXPECT_EQ(epsilon_of_renyi_up({2, kInfinity}, Delta(0.1)), kInfinity);
  EXPECT_EQ(delta_of_renyi_up({2, kInfinity}, 1), 1);
  EXPECT_EQ(delta_of_renyi_up({kInfinity, 1}, 1), 0);
  EXPECT_NEAR(delta_of_renyi_up({kInfinity, 2}, 1), 1 - std::exp(-1.0), 1e-15);
  EXPECT_EQ(delta_of_renyi_up({2, 0}, 1), 0);
  EXPECT_NEAR(delta_of_renyi_up({2, 0.1}, -40), 1, 1e-15);
  EXPECT_EQ(bun_steinke_epsilon_up(Rho(0), Delta(0)), 0);
  EXPECT_EQ(bun_steinke_epsilon_up(Rho(1), Delta(0)), kInfinity);
  // The best of a table, not the last.
  const std::vector<RenyiBound> table = {{2, 5}, {8, 0.5}, {9, 7}};
  EXPECT_EQ(epsilon_of_renyi_up(table, Delta(1e-3)), epsilon_of_renyi_up(table[1], Delta(1e-3)));
  EXPECT_EQ(delta_of_renyi_up(table, 2), delta_of_renyi_up(table[1], 2));
}

TEST(RenyiDivergence, GoldenValues) {
  for (const FormulaRow& row : formula_rows("pure_renyi")) {
    expect_just_above(pure_renyi_up(Epsilon(row.first), row.at), row);
  }
  for (const FormulaRow& row : formula_rows("laplace_renyi")) {
    expect_just_above(laplace_renyi_up(row.first, row.at), row);
  }
  EXPECT_EQ(gaussian_renyi_up(3, 2), 9);
}

TEST(RenyiDivergence, OrderedAndNeverBroken) {
  for (const double size : {1e-9, 1e-4, 0.1, 1.0, 20.0, 700.0, 1000.0}) {
    double last_pure = 0;
    double last_laplace = 0;
    for (const double order : {1.0, 1.0 + 1e-9, 1.001, 1.5, 2.0, 20.0, 1e4, 1e12}) {
      const double pure = pure_renyi_up(Epsilon(size), order);
      const double laplace = laplace_renyi_up(size, order);
      ASSERT_FALSE(std::isnan(pure) || std::isnan(laplace)) << size << ' ' << order;
      ASSERT_GT(laplace, 0) << size << ' ' << order;
      ASSERT_LE(laplace, pure) << size << ' ' << order;
      ASSERT_LE(pure, size);
      ASSERT_LE(pure, order * size * std::tanh(size / 2) * (1 + 1e-12)) << size << ' ' << order;
      // Rising in the order, but for what rounding up costs next to order 1.
      ASSERT_GE(pure * (1 + 1e-5), last_pure) << size << ' ' << order;
      ASSERT_GE(laplace * (1 + 1e-5), last_laplace) << size << ' ' << order;
      last_pure = pure;
      last_laplace = laplace;
    }
    EXPECT_EQ(pure_renyi_up(Epsilon(size), kInfinity), size);
    EXPECT_EQ(laplace_renyi_up(size, kInfinity), size);
  }
  EXPECT_EQ(pure_renyi_up(Epsilon(0), 3), 0);
  EXPECT_EQ(laplace_renyi_up(0, 3), 0);
  EXPECT_EQ(gaussian_renyi_up(0, kInfinity), 0);
}

TEST(GaussianPrivacy, GoldenValues) {
  for (const FormulaRow& row : formula_rows("gdp_delta")) {
    expect_around(gdp_delta(row.first, row.at), row);
  }
  for (const FormulaRow& row : formula_rows("gdp_epsilon")) {
    expect_around(gdp_epsilon(row.first, Delta(row.at)), row);
  }
}

TEST(GaussianPrivacy, EpsilonAndDeltaAreInverse) {
  for (const double mu : {1e-6, 0.1, 1.0, 12.0}) {
    for (const double delta : {1e-300, 1e-10, 0.01, 0.6}) {
      const Bounds bounds = gdp_epsilon(mu, Delta(delta));
      ASSERT_LE(bounds.lower, bounds.upper);
      ASSERT_LE(bounds.upper - bounds.lower, 1e-9 * bounds.upper) << mu << ' ' << delta;
      ASSERT_LE(gdp_delta(mu, bounds.upper).lower, delta);
      if (bounds.lower > 0) {
        ASSERT_GE(gdp_delta(mu, bounds.lower).upper, delta);
      }
    }
  }
  EXPECT_EQ(gdp_epsilon(0, Delta(0)), (Bounds{0, 0}));
  EXPECT_EQ(gdp_epsilon(1, Delta(0)), (Bounds{kInfinity, kInfinity}));
  EXPECT_EQ(gdp_composition_up(std::vector<double>{3, 4}), 5);
}

// An estimate has no way into a place where a bound is wanted.
static_assert(!std::is_convertible_v<UncertifiedEstimate, double>);
static_assert(!std::is_convertible_v<UncertifiedEstimate, Bounds>);

TEST(CentralLimit, IsAnEstimateAndTooSmall) {
  for (const FormulaRow& row : formula_rows("gdp_estimate")) {
    const UncertifiedEstimate estimate =
        poisson_gaussian_epsilon_estimate(row.first, row.second, row.count, Delta(row.at));
    EXPECT_NEAR(estimate.value, row.value, row.tolerance * row.value);
    // The true epsilon there is 5.1926.
    EXPECT_LT(estimate.value, 5.19);
  }
  EXPECT_EQ(poisson_gaussian_mu_estimate(1, 0, 100).value, 0);
}

TEST(RenyiConversion, RefusesBadInput) {
  const double nan = std::nan("");
  EXPECT_THROW(epsilon_of_renyi_up({1, 0.5}, Delta(0.1)), Error);
  EXPECT_THROW(epsilon_of_renyi_up({nan, 0.5}, Delta(0.1)), Error);
  EXPECT_THROW(epsilon_of_renyi_up({2, -0.5}, Delta(0.1)), Error);
  EXPECT_THROW(epsilon_of_renyi_up(std::vector<RenyiBound>{}, Delta(0.1)), Error);
  EXPECT_THROW(delta_of_renyi_up({2, 0.5}, nan), Error);
  EXPECT_THROW(delta_of_renyi_up(std::vector<RenyiBound>{}, 1), Error);
  EXPECT_THROW(best_delta_of_renyi_up({2, 0.5}, -1), Error);
  EXPECT_THROW(pure_renyi_up(Epsilon(1), 0.9), Error);
  EXPECT_THROW(laplace_renyi_up(-1, 2), Error);
  EXPECT_THROW(gaussian_renyi_up(nan, 2), Error);
  EXPECT_THROW(gdp_delta(-1, 1), Error);
  EXPECT_THROW(gdp_delta(1, kInfinity), Error);
  EXPECT_THROW(gdp_epsilon(1e9, Delta(0.1)), Error);
  EXPECT_THROW(poisson_gaussian_mu_estimate(0, 0.1, 1), Error);
  EXPECT_THROW(poisson_gaussian_mu_estimate(1, 1.1, 1), Error);
  EXPECT_THROW(poisson_gaussian_mu_estimate(1, 0.1, -1), Error);
}

}  // namespace
}  // namespace shoal::privacy
