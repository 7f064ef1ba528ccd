#include "learn/bounded_proximal.hpp"

#include "learn/methods.hpp"
#include "learn/nearest.hpp"
#include "learn/quad.hpp"
#include "support/every_method.hpp"
#include "support/learning_rows.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::make_rows;
using test::SeededSource;
using test::small_problem;
using test::uniform;
using test::uniform_vector;

LabelKind kind_for(const Loss& loss) {
  if (bounds(loss).two_classes) return LabelKind::sign;
  return std::holds_alternative<Poisson>(loss) ? LabelKind::count : LabelKind::number;
}

double distance(const std::vector<long double>& a, const std::vector<long double>& b) {
  long double squares = 0;
  for (std::size_t j = 0; j < a.size(); ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
  return static_cast<double>(std::sqrt(squares));
}

// Every loss, set and l1 part: as near to the minimiser as was promised, where "the minimiser" is
// the same solver's answer to a residual a million times smaller, in arithmetic of 113 bits.
TEST(BoundedProximal, EndsAsNearAsPromised) {
  SeededSource bits(3);
  for (const Loss& loss : std::vector<Loss>{Logistic{}, HuberisedHinge{0.5}, Squared{}, Huber{0.2},
                                            LogCosh{}, Poisson{1, 1}}) {
    const auto rows = make_rows({.rows = 60, .dimension = 3, .kind = kind_for(loss)}, 2);
    for (const ConvexSet& set : std::vector<ConvexSet>{WholeSpace{}, L2Ball{0.3}, Box{-0.1, 0.2},
                                                       L1Ball{0.4}, Simplex{0.7}}) {
      for (const double l1 : {0.0, 2.0}) {
        Objective objective;
        objective.loss = loss;
        objective.set = set;
        objective.regulariser = {4, l1};
        objective.linear = uniform_vector(bits, 3, 10);
        const auto near = minimise_surely(*rows, objective, 1e-3, 1);
        const auto nearer = minimise_surely(*rows, objective, 1e-9, 1);
        EXPECT_LE(distance(near, nearer), (1e-3 + 1e-9) / 4) << name(loss) << " " << name(set);
        const Solution certified = minimise(*rows, objective, {.residual = 1e-9});
        ASSERT_TRUE(certified.converged);
        EXPECT_LE(distance(nearer, {certified.weights.begin(), certified.weights.end()}),
                  certified.distance_bound + 1e-9 / 4)
            << name(loss) << " " << name(set);
      }
    }
  }
}

// Beyond what 64 bits can tell.
TEST(BoundedProximal, TakesMoreDigitsWhereTheyAreNeeded) {
  const auto rows = make_rows({.rows = 40, .dimension = 2}, 4);
  const Problem problem = small_problem(Logistic{}, 2);
  EXPECT_TRUE(plan_proximal({problem, 2, 40, 0}, 1e-12, kExtendedUnit).has_value());
  EXPECT_FALSE(plan_proximal({problem, 2, 40, 0}, 1e-17, kExtendedUnit).has_value());
  Objective objective;
  objective.regulariser.l2 = 2;
  const auto near = minimise_surely(*rows, objective, 1e-12, 1);
  const auto nearer = minimise_surely(*rows, objective, 1e-17, 1);
  EXPECT_LE(distance(near, nearer), 1e-12);
  // The gradient at the nearer one, in quad.
  std::vector<Quad> gradient(2);
  BlockBuffer buffer;
  const RowBlock block = rows->block(0, buffer);
  for (std::size_t i = 0; i < block.rows; ++i) {
    const Quad y(block.labels[i]);
    Quad z = 0;
    for (std::size_t j = 0; j < 2; ++j) z += Quad(block.values[2 * i + j]) * Quad(nearer[j]);
    const Quad s = -y / (1 + exp(Quad(y * z)));
    for (std::size_t j = 0; j < 2; ++j) gradient[j] += s * Quad(block.values[2 * i + j]);
  }
  for (std::size_t j = 0; j < 2; ++j)
    EXPECT_LE(abs(Quad(gradient[j] + 2 * Quad(nearer[j]))), 1e-17 * (40 * 0.25 + 2) / 2);
}

// What holds for a number of rows holds for fewer, for a longer linear term and so on: plans are
// checked at the most there can be, and runs rest on that.
TEST(BoundedProximal, APlanForMoreRowsIsAPlanForFewer) {
  SeededSource bits(9);
  int possible = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Problem problem = small_problem(
        trial % 2 ? Loss(Logistic{}) : Loss(Huber{1}), 1 + bits.next_bits(10),
        trial % 3 ? ConvexSet(WholeSpace{}) : ConvexSet(L2Ball{5}), trial % 5 ? 0.0 : 1.0);
    const double l2 = std::exp2(uniform(bits, -8, 20));
    const double residual = std::exp2(uniform(bits, -45, -10));
    const double unit = trial % 2 ? kExtendedUnit : kQuadUnit;
    const double rows = std::exp2(uniform(bits, 0, 36));
    const double norm = std::exp2(uniform(bits, -5, 12));
    if (!plan_proximal({problem, l2, rows, norm}, residual, unit)) continue;
    ++possible;
    for (const double share : {0.0, 0.1, 0.999}) {
      EXPECT_TRUE(plan_proximal({problem, l2, share * rows, share * norm}, residual, unit));
      EXPECT_TRUE(plan_proximal({problem, l2, share * rows, norm}, residual * 1.9, unit));
    }
  }
  EXPECT_GT(possible, 300);
}

TEST(BoundedProximal, ALevelIsWhereTheRestAddsUp) {
  SeededSource bits(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<long double> values;
    for (std::size_t j = 0; j <= bits.next_bits(4); ++j) values.push_back(uniform(bits, -1, 1));
    const double total = uniform(bits, 0.01, 2);
    const long double level = level_of(values, total);
    long double sum = 0;
    for (const long double x : values) sum += x > level ? x - level : 0;
    EXPECT_NEAR(static_cast<double>(sum), total, 1e-15);
  }
}

// A residual that no solver in doubles certifies: the training ends all the same, with the weights
// that it promises.
TEST(AMissOfTheFastSolver, NeverShows) {
  const auto rows = make_rows({.rows = 300, .dimension = 3}, 6);
  for (const ConvexSet& set :
       std::vector<ConvexSet>{L2Ball{50}, L2Ball{0.4}, L1Ball{0.4}, Box{-9, 9}}) {
    const Problem problem = small_problem(Logistic{}, 3, set);
    OutputPerturbation method =
        calibrate_output(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6), 3);
    SeededSource bits(1);
    const std::vector<double> usual = train(method, problem, *rows, bits, {});
    method.residual = 1e-14;
    ASSERT_NO_THROW(validate(method, problem));
    Objective objective;
    objective.regulariser.l2 = method.l2;
    objective.set = set;
    ASSERT_FALSE(minimise(*rows, objective, {.residual = method.residual / 2}).converged);
    SeededSource again(1);
    const std::vector<double> released = train(method, problem, *rows, again, {});
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(released[j], usual[j], 1e-4);
  }
}

// Conditions under which nothing is proven to end in time are refused before anything is spent.
TEST(AMissOfTheFastSolver, IsRefusedWhereNoBoundIsProven) {
  const Epsilon epsilon(1);
  const Delta delta(1e-6);
  constexpr Neighbors kOne = Neighbors::add_remove;
  const Problem wide = small_problem(Logistic{}, 3, L2Ball{1e5});
  EXPECT_THROW(calibrate_output(wide, kOne, epsilon, delta, 1e-6), Error);
  EXPECT_NO_THROW(calibrate_output(wide, kOne, epsilon, delta, 0.01));
  const Problem cut_off = small_problem(Logistic{}, 2, cut(L2Ball{1}, {1, 1}, 0.5));
  EXPECT_THROW(calibrate_output(cut_off, kOne, epsilon, delta, 1), Error);
  EXPECT_THROW(calibrate_objective(cut_off, kOne, epsilon, delta), Error);
  EXPECT_THROW(calibrate_minima(cut_off, kOne, epsilon, delta), Error);
  const Problem plain = small_problem(Logistic{}, 3);
  OutputPerturbation method = calibrate_output(plain, kOne, epsilon, delta, 1);
  method.residual = 1e-28;
  EXPECT_THROW(validate(method, plain), Error);
  ObjectivePerturbation inside = calibrate_objective(plain, kOne, epsilon, delta);
  inside.residual = inside.scale * 0x1p-41;  // below the rounding of the draw
  EXPECT_THROW(validate(inside, plain), Error);
}

// What callers use: from the smallest epsilon to the largest, few features and many.
TEST(AMissOfTheFastSolver, NeedsNoRefusalInOrdinaryPlans) {
  for (const double epsilon : {0.001, 0.1, 1.0, 10.0, 30.0}) {
    for (const std::size_t dimension : {1UL, 100UL, 5000UL, 100'000UL}) {
      for (const double norm : {0.1, 1.0, 10.0, 1000.0}) {
        Problem problem = small_problem(Logistic{}, dimension);
        problem.row_norm = norm;
        for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
          SCOPED_TRACE(testing::Message() << epsilon << " " << dimension << " " << norm);
          EXPECT_NO_THROW(calibrate_objective(problem, neighbors, Epsilon(epsilon), Delta(1e-9)));
          EXPECT_NO_THROW(calibrate_objective(problem, neighbors, Epsilon(epsilon), Delta(0)));
          EXPECT_NO_THROW(calibrate_output(problem, neighbors, Epsilon(epsilon), Delta(1e-9),
                                           10 * norm * norm));
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal::learn
