// Conversion and filter: against independent values, and where a spend just fits.
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/filter.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

TEST(Conversion, MatchesIndependentValues) {
  for (const auto& row : test::read_golden("conversion")) {
    const double epsilon = epsilon_of_rho_up(Rho(row[0]), Delta(row[1]));
    EXPECT_GE(epsilon, row[2]) << "rho " << row[0];
    EXPECT_LE(epsilon, row[3] * (1 + 1e-12)) << "rho " << row[0];
  }
}

TEST(Conversion, Edges) {
  EXPECT_EQ(epsilon_of_rho_up(Rho(0), Delta(0)), 0);
  EXPECT_EQ(epsilon_of_rho_up(Rho(0.1), Delta(0)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(rho_within(Epsilon(1), Delta(0)).value(), 0);
  // Never negative, however generous delta is.
  EXPECT_GE(epsilon_of_rho_up(Rho(1e-9), Delta(0.9)), 0);
  EXPECT_TRUE(std::isfinite(epsilon_of_rho_up(Rho(1e-15), Delta(1e-300))));
}

TEST(Conversion, InverseStaysInside) {
  EXPECT_TRUE(rc::check([] {
    const double epsilon = std::exp(static_cast<double>(*rc::gen::inRange(-600, 600)) / 100.0);
    const double delta = std::pow(10.0, -static_cast<double>(*rc::gen::inRange(2, 60)));
    const Rho rho = rho_within(Epsilon(epsilon), Delta(delta));
    const double back = epsilon_of_rho_up(rho, Delta(delta));
    RC_ASSERT(back <= epsilon);
    RC_ASSERT(back >= epsilon * (1 - 1e-9));
  }));
}

TEST(Conversion, GrowsWithRhoAndShrinksWithDelta) {
  EXPECT_TRUE(rc::check([] {
    const double rho = std::exp(static_cast<double>(*rc::gen::inRange(-1500, 300)) / 100.0);
    const double delta = std::pow(10.0, -static_cast<double>(*rc::gen::inRange(2, 60)));
    const double here = epsilon_of_rho_up(Rho(rho), Delta(delta));
    RC_ASSERT(here <= epsilon_of_rho_up(Rho(rho * 1.01), Delta(delta)));
    RC_ASSERT(here >= epsilon_of_rho_up(Rho(rho), Delta(delta * 1.01)));
  }));
}

Charge repeated(double epsilon, int count) {
  return price(event::Repeat{count, event::Pure{epsilon}});
}

TEST(Filter, TenTenthsFitIntoOne) {
  const Budget budget{Epsilon(1), Delta(0)};
  EXPECT_TRUE(fits(budget, repeated(0.1, 10)));
  EXPECT_FALSE(fits(budget, add(repeated(0.1, 10), price(event::Pure{1e-12}))));
}

TEST(Filter, FourHundredHundredthsFitIntoFourAndNoMore) {
  const Budget budget{Epsilon(4), Delta(0)};
  EXPECT_TRUE(fits(budget, repeated(0.01, 400)));
  EXPECT_FALSE(fits(budget, repeated(0.01, 401)));
}

TEST(Filter, ConcentrationLetsManySmallQuestionsThrough) {
  // (1, 1e-6): rho within is 0.0244; a question of epsilon 0.01 is 5e-5-zCDP, so 488 fit where
  // summing allows 100.
  const Budget budget{Epsilon(1), Delta(1e-6)};
  EXPECT_TRUE(fits(budget, repeated(0.01, 480)));
  EXPECT_FALSE(fits(budget, repeated(0.01, 500)));
}

TEST(Filter, GaussianNeedsDelta) {
  const Charge charge = price(event::DiscreteGaussian{100, 1});
  EXPECT_TRUE(fits({Epsilon(1), Delta(1e-6)}, charge));
  EXPECT_FALSE(fits({Epsilon(1000), Delta(0)}, charge));
}

TEST(Filter, WhatIsLeftFitsAndNoUnitMore) {
  EXPECT_TRUE(rc::check([] {
    const Budget budget{Epsilon(static_cast<double>(*rc::gen::inRange(1, 1000)) / 100.0),
                        Delta(*rc::gen::element(0.0, 1e-9, 1e-6, 1e-3))};
    const Charge spent =
        repeated(static_cast<double>(*rc::gen::inRange(1, 100)) / 1000.0, *rc::gen::inRange(0, 30));
    RC_PRE(fits(budget, spent));
    const double left = epsilon_left_down(budget, spent);
    if (left > 0) RC_ASSERT(fits(budget, add(spent, price(event::Pure{left}))));
    RC_ASSERT(!fits(budget, add(spent, price(event::Pure{left + 1e-11}))) ||
              left >= budget.epsilon.value());
  }));
}

TEST(Filter, SpentIsTheSmallerOfTheTwoSums) {
  const Delta delta(1e-6);
  EXPECT_NEAR(epsilon_spent_up(repeated(0.5, 1), delta), 0.5, 1e-11);
  const double many = epsilon_spent_up(repeated(0.01, 400), delta);
  EXPECT_LT(many, 1.0);
  EXPECT_GT(many, 0.8);
  EXPECT_EQ(epsilon_spent_up({}, delta), 0);
}

}  // namespace
}  // namespace shoal::privacy
