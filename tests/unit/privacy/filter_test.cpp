// Conversion and filter: against independent values, and where a spend just fits.
#include "support/formula_rows.hpp"
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/filter.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
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

// Nothing here depends on the relation but what says so.
Charge price(const Event& event) { return privacy::price(event, Neighbors::add_remove); }

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
  const Budget budget{Epsilon(1), Delta(1e-6)};
  EXPECT_NEAR(epsilon_spent_up(budget, repeated(0.5, 1)), 0.5, 1e-11);
  const double many = epsilon_spent_up(budget, repeated(0.01, 400));
  EXPECT_LT(many, 1.0);
  EXPECT_GT(many, 0.8);
  EXPECT_EQ(epsilon_spent_up(budget, {}), 0);
}

// ---- failures ----

TEST(Filter, FailuresNeedAPartOfDelta) {
  const Charge failing = price(event::EpsilonDelta{0.1, 1e-7});
  EXPECT_FALSE(fits({Epsilon(1), Delta(1e-6)}, failing));
  EXPECT_TRUE(fits({Epsilon(1), Delta(1e-6), Delta(1e-7)}, failing));
  EXPECT_EQ(epsilon_spent_up({Epsilon(1), Delta(1e-6)}, failing),
            std::numeric_limits<double>::infinity());
  EXPECT_NEAR(epsilon_spent_up({Epsilon(1), Delta(1e-6), Delta(1e-7)}, failing), 0.1, 1e-11);
}

TEST(Filter, BothPartsCanBeUsedUpExactly) {
  const Budget budget{Epsilon(1), Delta(1e-6), Delta(3e-7)};
  const Charge three = price(event::Repeat{3, event::EpsilonDelta{0.1, 1e-7}});
  const Charge whole = add(three, price(event::Pure{0.7}));
  EXPECT_TRUE(fits(budget, whole));
  EXPECT_FALSE(fits(budget, add(whole, price(event::EpsilonDelta{0, 1e-18}))));
  EXPECT_FALSE(fits(budget, add(whole, price(event::Pure{1e-12}))));
  // Used up by failures or not, the rest is what the conversion gets.
  const Rho rest = rho_within(Epsilon(1), Delta(7e-7));
  const Charge zcdp = price(event::Zcdp{rest.value() * (1 - 1e-9)});
  const Charge more = price(event::Zcdp{rest.value() * (1 + 1e-9)});
  EXPECT_TRUE(fits(budget, zcdp));
  EXPECT_FALSE(fits(budget, more));
  EXPECT_TRUE(fits(budget, add(zcdp, price(event::NameAndShame{2e-7}))));
  EXPECT_TRUE(fits({Epsilon(1), Delta(1e-6)}, more));
}

TEST(Filter, AllOfDeltaMayBeSetAside) {
  const Budget budget{Epsilon(1), Delta(1e-6), Delta(1e-6)};
  EXPECT_TRUE(fits(budget, price(event::EpsilonDelta{1, 1e-6})));
  EXPECT_FALSE(fits(budget, price(event::EpsilonDelta{1, 1.1e-6})));
  EXPECT_FALSE(fits(budget, price(event::Zcdp{1e-9})));
  // More than the whole is no more than the whole.
  EXPECT_FALSE(fits({Epsilon(1), Delta(1e-6), Delta(0.5)}, price(event::EpsilonDelta{1, 1.1e-6})));
}

// Why the part is fixed in advance. Suppose delta were shared out on the way: "the deltas so far,
// D, and the rho so far convert to epsilon at delta - D". An analyst begins with 0.7 of the rho
// that the budget allows. If the loss so far is above 0.5 she spends the rest on another Gaussian,
// else she names and shames with 0.99 of delta. Both ends satisfy that rule, and the whole
// interaction needs 1.19 times the delta. This filter never lets both ends through.
TEST(Filter, SharingDeltaOutOnTheWayWouldNotBePrivate) {
  const double epsilon = 1;
  const double delta = 1e-6;
  const double rho = rho_within(Epsilon(epsilon), Delta(delta)).value();
  const double first = 0.7 * rho;
  const double shame = 0.99 * delta;
  ASSERT_LE(epsilon_of_rho_up(Rho(first), Delta(delta - shame)), epsilon);

  const auto tail = [](double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); };
  const auto gaussian_delta = [&](double mu, double at) {
    return tail(at / mu - mu / 2) - std::exp(at) * tail(at / mu + mu / 2);
  };
  const double mu = std::sqrt(2 * first);
  const double rest = std::sqrt(2 * (rho - first));
  // Over the standard normal variable z behind the first loss, mu^2 / 2 + mu z, by midpoints.
  double needed = 0;
  const double step = 1e-3;
  for (double z = -9 + step / 2; z < 9; z += step) {
    const double loss = mu * mu / 2 + mu * z;
    const double weight = step * std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
    needed +=
        weight * (loss > 0.5 ? gaussian_delta(rest, epsilon - loss)
                             : shame + (1 - shame) * std::max(0.0, -std::expm1(epsilon - loss)));
  }
  EXPECT_GT(needed, 1.18 * delta);
  EXPECT_LT(needed, 1.21 * delta);

  const Charge begun = price(event::Zcdp{first});
  const Charge one_end = add(begun, price(event::Zcdp{0.999 * (rho - first)}));
  const Charge other_end = add(begun, price(event::NameAndShame{shame}));
  for (const double part : {0.0, 0.1, 0.5, 0.99, 1.0}) {
    const Budget budget{Epsilon(epsilon), Delta(delta), Delta(part * delta)};
    EXPECT_FALSE(fits(budget, one_end) && fits(budget, other_end)) << part;
  }
}

// ---- the rule ----

TEST(Filter, GaussiansAreExactUnderTheirRule) {
  // Gaussian of mu 1 at epsilon 1, independently computed: delta 0.126936737506644.
  const Budget enough{Epsilon(1), Delta(0.12693673750665), Delta(0), Rule::gaussian};
  const Budget short_of{Epsilon(1), Delta(0.12693673750664), Delta(0), Rule::gaussian};
  for (const Event& event : {Event(event::Gdp{1}), Event(event::Gaussian{2, 2}),
                             Event(event::Repeat{4, event::Gaussian{2, 1}}),
                             Event(event::Compose{{event::Gdp{0.5}, event::Gdp{0.5},
                                                   event::Repeat{2, event::Gaussian{4, 2}}}})}) {
    EXPECT_TRUE(fits(enough, price(event))) << to_json(event);
    EXPECT_FALSE(fits(short_of, price(event))) << to_json(event);
    EXPECT_FALSE(fits({Epsilon(1), enough.delta}, price(event))) << to_json(event);
  }
  // At delta 1e-6 it is epsilon 4.88655411746221.
  const Budget small{Epsilon(1), Delta(1e-6), Delta(0), Rule::gaussian};
  EXPECT_NEAR(epsilon_spent_up(small, price(event::Gdp{1})), 4.88655411746221, 1e-10);
  EXPECT_EQ(epsilon_spent_up(small, {}), 0);
}

TEST(Filter, UnderTheGaussianRuleOnlyGaussianBoundsAreConverted) {
  const Budget budget{Epsilon(1), Delta(1e-6), Delta(0), Rule::gaussian};
  EXPECT_TRUE(fits(budget, price(event::Gaussian{20, 1})));
  EXPECT_FALSE(fits(budget, price(event::DiscreteGaussian{20, 1})));
  EXPECT_FALSE(fits(budget, price(event::Zcdp{1e-6})));
  EXPECT_FALSE(fits(budget, add(price(event::Gaussian{20, 1}), price(event::Zcdp{1e-6}))));
  EXPECT_EQ(epsilon_spent_up(budget, price(event::Zcdp{1e-6})),
            std::numeric_limits<double>::infinity());
  // Pure events have a Gaussian bound, and the pure sum holds under every rule.
  EXPECT_TRUE(fits(budget, add(price(event::Gaussian{20, 1}), price(event::Pure{0.1}))));
  EXPECT_TRUE(fits(budget, repeated(0.1, 10)));
  EXPECT_TRUE(fits(budget, repeated(0.01, 300)));
  EXPECT_FALSE(fits(budget, repeated(0.01, 500)));
}

// One budget, three totals, each within by another of the three bounds only.
TEST(Filter, EachBoundAloneIsEnough) {
  const Budget zcdp{Epsilon(1), Delta(1e-6)};
  const Budget gaussian{Epsilon(1), Delta(1e-6), Delta(0), Rule::gaussian};
  const Charge pure = price(event::Pure{1});
  EXPECT_TRUE(fits(zcdp, pure) && fits(gaussian, pure));
  EXPECT_GT(epsilon_of_rho_up(Rho(0.4), Delta(1e-6)), 1);  // and rho of it is 0.46
  const Charge concentrated = price(event::Zcdp{0.02});
  EXPECT_TRUE(fits(zcdp, concentrated) && !fits(gaussian, concentrated));
  const Charge normal = price(event::Gdp{0.235});
  EXPECT_TRUE(!fits(zcdp, normal) && fits(gaussian, normal));
}

TEST(Filter, MoreNeverFitsBetter) {
  EXPECT_TRUE(rc::check([] {
    const Budget budget{Epsilon(1), Delta(1e-4), Delta(*rc::gen::element(0.0, 1e-5)),
                        *rc::gen::element(Rule::zcdp, Rule::gaussian)};
    const auto some = [] {
      const double size = std::exp(-static_cast<double>(*rc::gen::inRange(0, 1000)) / 100);
      const Event kinds[] = {event::Pure{size}, event::Gdp{size}, event::Zcdp{size},
                             event::EpsilonDelta{size, 1e-5 * size}};
      return price(kinds[*rc::gen::inRange(0, 4)]);
    };
    const Charge total = some();
    const Charge more = add(total, some());
    RC_ASSERT(fits(budget, total) || !fits(budget, more));
    RC_ASSERT(epsilon_spent_up(budget, more) >= epsilon_spent_up(budget, total) * (1 - 1e-11));
    const double spent = epsilon_spent_up(budget, total);
    if (spent < 1 - 1e-11) RC_ASSERT(fits(budget, total));
    if (spent > 1 + 1e-11) RC_ASSERT(!fits(budget, total));
  }));
}

TEST(Filter, TheSmallerBudgetKeepsWhatIsFixed) {
  const Budget held{Epsilon(2), Delta(1e-6), Delta(1e-7), Rule::gaussian};
  EXPECT_EQ(smaller(held, {Epsilon(1), Delta(1e-3)}),
            (Budget{Epsilon(1), Delta(1e-6), Delta(1e-7), Rule::gaussian}));
}

TEST(Filter, RulesHaveNames) {
  for (const Rule rule : {Rule::zcdp, Rule::gaussian}) EXPECT_EQ(parse_rule(to_string(rule)), rule);
  EXPECT_THROW(parse_rule("renyi"), Error);
}

// What mu_within gives is nearly all that the rule `gaussian` accepts, and fits as it is charged.
TEST(Conversion, MuWithinIsWhatTheGaussianRuleHolds) {
  for (const test::FormulaRow& row : test::formula_rows("mu_within")) {
    const Epsilon epsilon(row.first);
    const Delta delta(row.at);
    const double mu = mu_within(epsilon, delta);
    EXPECT_LE(mu, row.value * (1 + 1e-15)) << row.name;
    EXPECT_NEAR(mu, row.value, row.tolerance * row.value) << row.name;
    const Budget budget{epsilon, delta, Delta(0), Rule::gaussian};
    EXPECT_TRUE(fits(budget, price(event::Gdp{mu}))) << row.name;
    EXPECT_FALSE(fits(budget, price(event::Gdp{mu * (1 + 1e-9)})));
  }
  EXPECT_EQ(mu_within(Epsilon(1), Delta(0)), 0);
}

}  // namespace
}  // namespace shoal::privacy
