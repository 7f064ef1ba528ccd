#include "learn/certificate.hpp"
#include "support/learning_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::make_rows;
using test::RowsShape;
using Minimise = Solution (*)(const RowSource&, const Objective&, const SolverOptions&);

// The gradient of the smooth part, row by row in long double: an oracle of another making.
std::vector<long double> plain_gradient(const RowSource& rows, const Objective& objective,
                                        const std::vector<double>& w) {
  std::vector<long double> sum(w.size());
  BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      std::vector<long double> x(w.size());
      if (block.layout == RowLayout::sparse) {
        for (std::uint32_t k = block.begins[i]; k < block.begins[i + 1]; ++k)
          x[block.columns[k]] = block.values[k];
      } else {
        for (std::size_t j = 0; j < w.size(); ++j) x[j] = block.values[i * w.size() + j];
      }
      long double z = 0;
      for (std::size_t j = 0; j < w.size(); ++j) z += x[j] * w[j];
      const long double y = block.labels[i];
      long double s = 0;
      if (std::holds_alternative<Logistic>(objective.loss)) {
        s = -y / (1 + std::exp(y * z));
      } else {
        s = slope(objective.loss, static_cast<double>(z), static_cast<double>(y));
      }
      for (std::size_t j = 0; j < w.size(); ++j) sum[j] += s * x[j];
    }
  }
  for (std::size_t j = 0; j < w.size(); ++j) {
    sum[j] += static_cast<long double>(objective.regulariser.l2) * w[j];
    if (!objective.linear.empty()) sum[j] += objective.linear[j];
  }
  return sum;
}

double length(const std::vector<long double>& v) {
  long double sum = 0;
  for (const long double x : v) sum += x * x;
  return static_cast<double>(std::sqrt(sum));
}

TEST(Solvers, AllReachTheSamePointWithACertificate) {
  for (const bool sparse : {false, true}) {
    const auto rows = make_rows({.rows = 9000, .dimension = 7, .sparse = sparse}, 1);
    Objective objective;
    objective.regulariser.l2 = 0.5;
    objective.linear = {1, -2, 3, 0, 0, 1, 5};
    SolverOptions options;
    options.residual = 1e-7;
    const Solution best = minimise_newton(*rows, objective, options);
    for (const Minimise one :
         {minimise_newton, minimise_newton_cg, minimise_lbfgs, minimise_proximal}) {
      const Solution found = one(*rows, objective, options);
      EXPECT_TRUE(found.converged);
      EXPECT_LE(found.residual_bound, 1e-7);
      EXPECT_LE(length(plain_gradient(*rows, objective, found.weights)), found.residual_bound);
      for (std::size_t j = 0; j < 7; ++j)
        EXPECT_NEAR(found.weights[j], best.weights[j], 2 * found.distance_bound);
    }
  }
}

TEST(Solvers, EveryLossIsMinimised) {
  for (const Loss& loss : std::vector<Loss>{Logistic{}, HuberisedHinge{0.5}, HuberisedHinge{0.05},
                                            Squared{}, Huber{0.2}, LogCosh{}, Poisson{1, 1}}) {
    const LabelKind kind = bounds(loss).two_classes                ? LabelKind::sign
                           : std::holds_alternative<Poisson>(loss) ? LabelKind::count
                                                                   : LabelKind::number;
    const auto rows = make_rows({.rows = 3000, .kind = kind}, 2);
    for (const double l2 : {1e-3, 1.0, 100.0}) {
      Objective objective;
      objective.loss = loss;
      objective.regulariser.l2 = l2;
      objective.linear = {4, 3, 2, 1, -30};
      const Solution found = minimise(*rows, objective, {.residual = 1e-6});
      EXPECT_TRUE(found.converged) << name(loss) << " " << l2;
      EXPECT_LE(length(plain_gradient(*rows, objective, found.weights)), 1e-6) << name(loss);
    }
  }
}

// Rare features, hardly any l2 and a strong linear term: the minimum is far away, and on the way
// the gradient's norm hardly falls.
TEST(Solvers, FarMinimaAreReached) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::SeededSource bits(seed);
    MemoryRows rows(60, 1, 1, LabelKind::sign);
    for (int i = 0; i < 3000; ++i) {
      const auto often = static_cast<std::uint32_t>(bits.next_bits(3));
      const auto rare =
          static_cast<std::uint32_t>(8 + std::min<std::uint64_t>(51, bits.next_bits(16) % 997));
      rows.add_sparse(std::vector<std::uint32_t>{often, rare}, std::vector<double>{1, 1},
                      bits.next_bits(2) == 0 ? 1 : -1);
    }
    Objective objective;
    objective.regulariser.l2 = 0.02;
    objective.linear = test::uniform_vector(bits, 60, 12);
    const Solution found = minimise(rows, objective, {.residual = 1e-8});
    EXPECT_TRUE(found.converged) << seed;
    EXPECT_LT(found.iterations, 60);
  }
}

TEST(Solvers, ThreadsDoNotMatter) {
  const auto rows = make_rows({.rows = 40000, .dimension = 12, .sparse = true}, 3);
  Objective objective;
  objective.regulariser.l2 = 2;
  const Solution one = minimise(*rows, objective, {.residual = 1e-6, .threads = 1});
  for (const unsigned threads : {2U, 3U, 7U}) {
    const Solution many = minimise(*rows, objective, {.residual = 1e-6, .threads = threads});
    EXPECT_EQ(one.weights, many.weights);
  }
}

// The certificate's error bound against the oracle, and not absurdly above what is there.
TEST(Certificate, CoversTheRoundingOfAGradient) {
  for (const bool sparse : {false, true}) {
    const auto rows = make_rows({.rows = 20000, .dimension = 30, .sparse = sparse}, 4);
    Objective objective;
    objective.regulariser.l2 = 0.5;
    test::SeededSource bits(8);
    const RowPasses passes(*rows, objective.loss, 1);
    for (const double reach : {0.1, 3.0, 100.0}) {
      const std::vector<double> w = test::uniform_vector(bits, 30, reach);
      const std::vector<long double> exact = plain_gradient(*rows, objective, w);
      for (const Precision precision : {Precision::plain, Precision::extended}) {
        const CertifiedGradient got = certified_gradient(passes, objective, w, precision);
        std::vector<long double> off(exact);
        for (std::size_t j = 0; j < off.size(); ++j) off[j] -= got.gradient[j];
        EXPECT_LE(length(off), got.error);
        EXPECT_LE(got.error, 1e-8);
        EXPECT_LE(length(exact), got.norm_bound());
      }
    }
  }
}

TEST(Certificate, WhatIsNoNumberHasNoNorm) {
  const double nan = std::nan("");
  EXPECT_EQ(norm_up(std::vector<double>{nan, 0, 0}), INFINITY);
  EXPECT_EQ(norm_up(std::vector<double>{1, nan}), INFINITY);
  EXPECT_EQ(norm_up(std::vector<double>{-INFINITY, 0}), INFINITY);
  EXPECT_EQ(norm_up(std::vector<double>{0, -0.0}), 0);
  EXPECT_EQ(norm_up(std::vector<double>{}), 0);
}

TEST(Certificate, ExtendedPrecisionTakesOverWhereDoubleCannotTell) {
  const auto rows = make_rows({.rows = 20000}, 5);
  Objective objective;
  objective.regulariser.l2 = 1;
  const Solution found = minimise_newton(*rows, objective, {.residual = 1e-11});
  EXPECT_TRUE(found.converged);
  EXPECT_LE(length(plain_gradient(*rows, objective, found.weights)), 1e-11);
}

// J at a point, for objectives with an l1 part.
double objective_at(const RowSource& rows, const Objective& objective,
                    const std::vector<double>& w) {
  const RowPasses passes(rows, objective.loss, 1);
  double sum = static_cast<double>(passes.gradient(w, true).value);
  sum += value(objective.regulariser, w);
  for (std::size_t j = 0; j < objective.linear.size(); ++j) sum += objective.linear[j] * w[j];
  return sum;
}

TEST(Proximal, NoPointNearbyIsLower) {
  const auto rows = make_rows({.rows = 500}, 6);
  test::SeededSource bits(9);
  for (const ConvexSet& set : std::vector<ConvexSet>{
           WholeSpace{}, L2Ball{0.7}, Box{-0.2, 0.4}, L1Ball{0.9}, Simplex{0.6},
           cut(WholeSpace{}, {1, -1, 0, 2, -3}, -0.5), cut(L2Ball{0.7}, {1, -1, 0, 2, -3}, -0.5)}) {
    for (const double l1 : {0.0, 20.0}) {
      Objective objective;
      objective.regulariser = {1, l1};
      objective.linear = {1, -2, 3, 0, 10};
      objective.set = set;
      const Solution found = minimise(*rows, objective, {.residual = 1e-6});
      EXPECT_TRUE(found.converged) << name(set);
      EXPECT_TRUE(contains(set, found.weights, 1e-12));
      const double here = objective_at(*rows, objective, found.weights);
      for (int i = 0; i < 200; ++i) {
        std::vector<double> w = found.weights;
        for (double& x : w) x += test::uniform(bits, -0.05, 0.05);
        w = project(set, w);
        EXPECT_GE(objective_at(*rows, objective, w), here - 1e-9) << name(set);
      }
    }
  }
}

TEST(Solvers, WhatHasNoCertificateIsRefused) {
  const auto rows = make_rows({.rows = 10}, 7);
  Objective objective;
  EXPECT_THROW(minimise(*rows, objective, {}), Error);  // no l2
  objective.regulariser.l2 = 1;
  objective.loss = Hinge{};
  EXPECT_THROW(minimise(*rows, objective, {}), Error);
  objective.loss = Poisson{1, 1};
  EXPECT_THROW(minimise(*rows, objective, {}), Error);  // labels may be negative
  objective.loss = Softmax{3};
  EXPECT_THROW(minimise(*rows, objective, {}), Error);
  objective.loss = Logistic{};
  objective.linear = {1};
  EXPECT_THROW(minimise(*rows, objective, {}), Error);
}

TEST(Solvers, NoRowsAtAllStillHaveAMinimiser) {
  const MemoryRows rows(3, 1, 1, LabelKind::sign);
  Objective objective;
  objective.regulariser.l2 = 2;
  objective.linear = {2, 4, -6};
  const Solution found = minimise(rows, objective, {.residual = 1e-9});
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.weights[0], -1, 1e-9);
  EXPECT_NEAR(found.weights[2], 3, 1e-9);
}

}  // namespace
}  // namespace shoal::learn
