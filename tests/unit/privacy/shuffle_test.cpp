// Amplification by shuffling: golden values, the pair of laws by its definition for few users, and
// the laws that amplification must obey.
#include "support/formula_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/shuffle.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::privacy {
namespace {

using test::expect_around;
using test::formula_rows;
using test::FormulaRow;

double binomial_chance(int trials, int count, double chance) {
  if (count < 0 || count > trials) return 0;
  return std::exp(std::lgamma(trials + 1.0) - std::lgamma(count + 1.0) -
                  std::lgamma(trials - count + 1.0) + count * std::log(chance) +
                  (trials - count) * std::log1p(-chance));
}

// (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D), outcome by outcome.
double defined_delta(double local, int users, double epsilon, double clone) {
  const double truth = 1 / (1 + std::exp(-local));
  const double lie = 1 / (1 + std::exp(local));
  double delta = 0;
  for (int clones = 0; clones < users; ++clones) {
    const double weight = binomial_chance(users - 1, clones, clone);
    for (int x = 0; x <= clones + 1; ++x) {
      const double above = binomial_chance(clones, x - 1, 0.5);
      const double same = binomial_chance(clones, x, 0.5);
      const double p = truth * above + lie * same;
      const double q = lie * above + truth * same;
      delta += weight * std::max(0.0, p - std::exp(epsilon) * q);
    }
  }
  return delta;
}

// How surely a binary randomized response among others of the same kind gives its sender away: the
// shuffled reports are the number of ones. What holds for every randomizer holds for it.
double binary_response_delta(double local, int users, int ones, double epsilon) {
  const double truth = 1 / (1 + std::exp(-local));
  const auto law = [&](int answer_one) {
    std::vector<double> chance(static_cast<std::size_t>(users) + 1);
    for (int truths = 0; truths <= ones + answer_one; ++truths) {
      for (int lies = 0; lies <= users - ones - answer_one; ++lies) {
        chance[static_cast<std::size_t>(truths + lies)] +=
            binomial_chance(ones + answer_one, truths, truth) *
            binomial_chance(users - ones - answer_one, lies, 1 - truth);
      }
    }
    return chance;
  };
  const std::vector<double> p = law(1);
  const std::vector<double> q = law(0);
  double delta = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    delta += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  }
  return delta;
}

TEST(Shuffle, GoldenValues) {
  for (const FormulaRow& row : formula_rows("shuffle_delta")) {
    expect_around(shuffle_delta(Epsilon(row.first), row.count, row.at), row);
  }
  for (const FormulaRow& row : formula_rows("shuffle_delta_restricted")) {
    expect_around(shuffle_delta_of_restricted_class(Epsilon(row.first), row.count, row.at), row);
  }
  for (const FormulaRow& row : formula_rows("shuffle_epsilon")) {
    expect_around(shuffle_epsilon(Epsilon(row.first), row.count, Delta(row.at)), row);
  }
  for (const FormulaRow& row : formula_rows("shuffle_epsilon_restricted")) {
    expect_around(shuffle_epsilon_of_restricted_class(Epsilon(row.first), row.count, Delta(row.at)),
                  row);
  }
  for (const FormulaRow& row : formula_rows("shuffle_closed_form")) {
    const auto value = shuffle_closed_form_up(Epsilon(row.first), row.count, Delta(row.at));
    ASSERT_TRUE(value.has_value());
    test::expect_just_above(*value, row);
  }
}

TEST(Shuffle, AgreesWithItsDefinition) {
  for (const double local : {0.1, 1.0, 3.0, 8.0}) {
    for (const int users : {2, 3, 4, 9, 33, 90}) {
      for (const double share : {-0.5, 0.0, 0.05, 0.3, 0.6, 0.9, 0.999}) {
        const double epsilon = share * local;
        const Bounds bounds = shuffle_delta(Epsilon(local), users, epsilon);
        const double expected = defined_delta(local, users, epsilon, std::exp(-local));
        ASSERT_LE(bounds.lower, bounds.upper);
        ASSERT_NEAR(bounds.lower, expected, 1e-13) << local << ' ' << users << ' ' << epsilon;
        ASSERT_NEAR(bounds.upper, expected, 1e-13) << local << ' ' << users << ' ' << epsilon;
        const Bounds restricted = shuffle_delta_of_restricted_class(Epsilon(local), users, epsilon);
        ASSERT_NEAR(restricted.upper,
                    defined_delta(local, users, epsilon, 2 / (std::exp(local) + 1)), 1e-13);
      }
    }
  }
}

TEST(Shuffle, CoversBinaryRandomizedResponse) {
  for (const double local : {0.5, 1.0, 2.0}) {
    for (const int users : {1, 2, 5, 20}) {
      for (int ones = 0; ones < users; ++ones) {
        for (const double epsilon : {0.0, 0.1, 0.4, 1.0}) {
          const double leak = binary_response_delta(local, users, ones, epsilon);
          ASSERT_LE(leak, shuffle_delta(Epsilon(local), users, epsilon).upper + 1e-13);
          ASSERT_LE(leak, shuffle_delta_of_restricted_class(Epsilon(local), users, epsilon).upper +
                              1e-13);
        }
      }
    }
  }
}

TEST(Shuffle, OneUserHasNoAmplification) {
  for (const double local : {1e-9, 0.3, 2.0, 700.0}) {
    EXPECT_EQ(shuffle_epsilon(Epsilon(local), 1, Delta(0)), (Bounds{local, local}));
    for (const double delta : {1e-12, 1e-3}) {
      EXPECT_EQ(shuffle_epsilon(Epsilon(local), 1, Delta(delta)),
                optimal_composition_epsilon({local, 0}, 1, Delta(delta)));
    }
    EXPECT_EQ(shuffle_delta(Epsilon(local), 1, local / 3),
              optimal_composition_delta({local, 0}, 1, local / 3));
  }
}

TEST(Shuffle, MonotoneAndNeverAboveOneReport) {
  const std::vector<double> locals = {0.05, 0.5, 2, 6};
  const std::vector<std::int64_t> users = {1, 2, 10, 500, 40'000};
  const std::vector<double> at = {-0.3, 0, 0.001, 0.04, 0.4, 1.5, 5};
  const auto delta = [&](std::size_t l, std::size_t n, std::size_t a) {
    return shuffle_delta(Epsilon(locals[l]), users[n], at[a]);
  };
  for (std::size_t l = 0; l < locals.size(); ++l) {
    for (std::size_t n = 0; n < users.size(); ++n) {
      for (std::size_t a = 0; a < at.size(); ++a) {
        const Bounds here = delta(l, n, a);
        ASSERT_GE(here.lower, 0);
        ASSERT_LE(here.lower, here.upper);
        ASSERT_LE(here.upper, optimal_composition_delta({locals[l], 0}, 1, at[a]).upper + 1e-14);
        if (l + 1 < locals.size()) {
          ASSERT_LE(here.lower, delta(l + 1, n, a).upper);
        }
        if (n + 1 < users.size()) {
          ASSERT_GE(here.upper, delta(l, n + 1, a).lower);
        }
        if (a + 1 < at.size()) {
          ASSERT_GE(here.upper, delta(l, n, a + 1).lower);
        }
      }
    }
  }
}

TEST(Shuffle, EpsilonAndDeltaAreInverse) {
  for (const double local : {0.2, 1.0, 5.0}) {
    for (const std::int64_t users : {2, 50, 3000, 1'000'000}) {
      for (const double delta : {1e-12, 1e-6, 0.01}) {
        const Bounds bounds = shuffle_epsilon(Epsilon(local), users, Delta(delta));
        ASSERT_LE(bounds.lower, bounds.upper);
        ASSERT_LE(shuffle_delta(Epsilon(local), users, bounds.upper).upper, delta);
        ASSERT_LT(bounds.upper - bounds.lower, 1e-8 * bounds.upper + 1e-300)
            << local << ' ' << users << ' ' << delta;
      }
    }
  }
}

TEST(Shuffle, ClosedFormIsLooserAndKnowsItsLimits) {
  for (const double local : {0.1, 1.0, 3.0}) {
    for (const std::int64_t users : {10'000, 1'000'000}) {
      for (const double delta : {1e-9, 1e-5}) {
        const auto closed = shuffle_closed_form_up(Epsilon(local), users, Delta(delta));
        ASSERT_TRUE(closed.has_value());
        ASSERT_GT(*closed, shuffle_epsilon(Epsilon(local), users, Delta(delta)).upper);
      }
    }
  }
  EXPECT_FALSE(shuffle_closed_form_up(Epsilon(1), 10, Delta(1e-6)).has_value());
  EXPECT_FALSE(shuffle_closed_form_up(Epsilon(1), 10'000, Delta(0)).has_value());
  // ln(10^5 / (16 ln(4 / 10^-6))) = 6.02.
  EXPECT_TRUE(shuffle_closed_form_up(Epsilon(6.01), 100'000, Delta(1e-6)).has_value());
  EXPECT_FALSE(shuffle_closed_form_up(Epsilon(6.03), 100'000, Delta(1e-6)).has_value());
}

TEST(Shuffle, Extremes) {
  // A billion users.
  const Bounds many = shuffle_delta(Epsilon(1), kMaxUsers, 1e-4);
  EXPECT_GT(many.lower, 1e-8);
  EXPECT_LT(many.upper - many.lower, 1e-9 * many.upper);
  const Bounds none = shuffle_delta(Epsilon(1), kMaxUsers, 0.9);
  EXPECT_EQ(none.lower, 0);
  EXPECT_LE(none.upper, 1e-323);
  EXPECT_EQ(shuffle_delta(Epsilon(0), 100, 0), (Bounds{0, 0}));
  EXPECT_EQ(shuffle_epsilon(Epsilon(0), 100, Delta(0)), (Bounds{0, 0}));
  EXPECT_EQ(shuffle_epsilon(Epsilon(2), 100, Delta(0)), (Bounds{2, 2}));
  EXPECT_EQ(shuffle_delta(Epsilon(2), 100, 2), (Bounds{0, 0}));
  // Hardly any clones: hardly any amplification.
  const Bounds alone = shuffle_epsilon(Epsilon(700), 1'000'000, Delta(1e-6));
  EXPECT_NEAR(alone.lower, 700, 1e-4);
  EXPECT_LE(alone.upper, 700);
  const Bounds weak = shuffle_delta(Epsilon(1e-9), 1'000'000, 1e-12);
  EXPECT_GT(weak.lower, 0);
  EXPECT_LT(weak.upper, 5e-10);
  const Bounds tiny = shuffle_epsilon(Epsilon(1), 1'000'000, Delta(1e-300));
  EXPECT_GT(tiny.lower, 0);
  EXPECT_LT(tiny.upper, 0.06);
}

TEST(Shuffle, RefusesBadInput) {
  EXPECT_THROW(shuffle_delta(Epsilon(1), 0, 0.5), Error);
  EXPECT_THROW(shuffle_delta(Epsilon(1), kMaxUsers + 1, 0.5), Error);
  EXPECT_THROW(shuffle_delta(Epsilon(1), 10, std::nan("")), Error);
  EXPECT_THROW(shuffle_epsilon(Epsilon(1), -5, Delta(0.1)), Error);
  EXPECT_THROW(shuffle_closed_form_up(Epsilon(1), 0, Delta(0.1)), Error);
  EXPECT_THROW(shuffle_delta_of_restricted_class(Epsilon(1), 0, 0.5), Error);
}

}  // namespace
}  // namespace shoal::privacy
