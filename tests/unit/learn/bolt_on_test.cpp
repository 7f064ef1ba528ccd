#include "learn/bolt_on_run.hpp"
#include "learn/bounded_proximal.hpp"
#include "learn/methods.hpp"
#include "support/golden.hpp"
#include "support/learning_rows.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace shoal::learn {
namespace {

using test::SeededSource;
using test::uniform;
using test::uniform_vector;

constexpr Neighbors kReplace = Neighbors::replace_one;

Problem problem_of(const Loss& loss, std::size_t dimension) {
  Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = 1;
  return problem;
}

BoltOnDescent method_of(const Problem& problem, double l2, std::int64_t passes,
                        std::int64_t batch) {
  return calibrate_bolt_on(problem, kReplace, Epsilon(1), Delta(1e-6),
                           {.l2 = l2, .passes = passes, .batch = batch});
}

std::vector<std::uint64_t> rotated(std::size_t rows, std::size_t first) {
  std::vector<std::uint64_t> order(rows);
  for (std::size_t i = 0; i < rows; ++i) order[i] = (i + first) % rows;
  return order;
}

double distance(const std::vector<long double>& a, const std::vector<long double>& b) {
  long double squares = 0;
  for (std::size_t j = 0; j < a.size(); ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
  return static_cast<double>(std::sqrt(squares));
}

// Where all slopes stay 1 in size, an exchanged label moves the weights by exactly 2 L / l2 for
// every size of a batch and every number of passes: divided by the size, as is often done, the
// noise would be far too little.
TEST(BoltOnSensitivity, IsReachedForEveryBatch) {
  const Problem problem = problem_of(HuberisedHinge{0.5}, 1);
  const double l2 = 1200;
  for (const std::int64_t batch : {1, 10, 50}) {
    for (const std::int64_t passes : {1, 7}) {
      const BoltOnDescent method = method_of(problem, l2, passes, batch);
      double most = 0;
      for (const std::size_t first : {0u, 3u, 199u}) {
        MemoryRows rows(1, 1, 1, LabelKind::sign);
        MemoryRows other(1, 1, 1, LabelKind::sign);
        for (int i = 0; i < 200; ++i) {
          rows.add_dense(std::vector<double>{1}, i % 2 ? 1 : -1);
          other.add_dense(std::vector<double>{1}, i % 2 || i == 0 ? 1 : -1);
        }
        const auto order = rotated(200, first);
        most = std::max(most, distance(run_bolt_on(method, problem, rows, order).weights,
                                       run_bolt_on(method, problem, other, order).weights));
      }
      EXPECT_LE(most, 2 / l2 * (1 + 1e-9)) << batch;
      EXPECT_GT(most, 0.99 * 2 / l2) << batch;
      EXPECT_GE(bolt_on_distance_up(method, problem), most);
      if (batch > 1) {
        EXPECT_GT(most, 5 * 2 / (l2 * static_cast<double>(batch)));
      }
    }
  }
}

TEST(BoltOnSensitivity, HoldsForAnyRows) {
  SeededSource bits(8);
  double closest = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Loss loss = trial % 2 ? Loss(Logistic{}) : Loss(HuberisedHinge{0.5});
    Problem problem = problem_of(loss, 3);
    if (trial % 3 == 0) problem.set = L2Ball{0.5};
    const double l2 = std::exp2(uniform(bits, -2, 7));
    const BoltOnDescent method =
        method_of(problem, l2, 1 + trial % 4, 1 + static_cast<std::int64_t>(bits.next_bits(4)));
    const std::size_t count = 1 + bits.next_bits(6);
    MemoryRows rows(3, 1, 1, LabelKind::sign);
    MemoryRows other(3, 1, 1, LabelKind::sign);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<double> x = uniform_vector(bits, 3, 1);
      rows.add_dense(x, i % 2 ? 1 : -1);
      other.add_dense(i == 0 ? uniform_vector(bits, 3, 1) : x, i % 2 || i == 0 ? 1 : -1);
    }
    const auto order = rotated(count, bits.next_bits(5) % count);
    const double moved = distance(run_bolt_on(method, problem, rows, order).weights,
                                  run_bolt_on(method, problem, other, order).weights);
    EXPECT_LE(moved, bolt_on_distance_up(method, problem));
    closest = std::max(closest, moved * l2 / 2);
  }
  EXPECT_GT(closest, 0.5);
}

// A row that is exchanged for one without a label is as if its gradient were 0: the number of steps
// and their size stay, and half of the distance is enough.
TEST(BoltOnSensitivity, HoldsForARowThatLosesItsLabel) {
  const Problem problem = problem_of(HuberisedHinge{0.5}, 1);
  const double l2 = 1200;
  const BoltOnDescent method = method_of(problem, l2, 3, 10);
  MemoryRows rows(1, 1, 1, LabelKind::sign);
  MemoryRows other(1, 1, 1, LabelKind::sign);
  for (int i = 0; i < 200; ++i) {
    rows.add_dense(std::vector<double>{1}, 1);
    if (i < 199) other.add_dense(std::vector<double>{1}, 1);
  }
  other.skip_row();
  ASSERT_EQ(other.slot_count(), 200);
  const auto whole = run_bolt_on(method, problem, rows, rotated(200, 7)).weights;
  const double moved =
      distance(whole, run_bolt_on(method, problem, other, rotated(200, 7)).weights);
  EXPECT_LE(moved, 1 / l2 * (1 + 1e-9));
  EXPECT_GT(moved, 0.99 / l2);
  SeededSource bits(1);
  EXPECT_EQ(train(method, problem, other, bits, {}).size(), 1);
}

// The same recursion in long double.
TEST(BoltOnRounding, IsWithinItsBound) {
  const Problem problem = problem_of(Logistic{}, 6);
  const auto rows = test::make_rows({.rows = 700, .dimension = 6}, 5);
  const BoltOnDescent method = method_of(problem, 20, 3, 8);
  const BoltOnRun run = run_bolt_on(method, problem, *rows, rotated(700, 40));
  BlockBuffer buffer;
  const RowBlock block = rows->block(0, buffer);
  const auto order = rotated(700, 40);
  std::vector<long double> w(6);
  const long double pull = 20.0L / 700;
  long double t = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t first = 0; first < 700; first += 8) {
      std::vector<long double> sum(6);
      for (std::size_t i = first; i < std::min<std::size_t>(first + 8, 700); ++i) {
        const double* x = block.values + order[i] * 6;
        long double z = 0;
        for (std::size_t j = 0; j < 6; ++j) z += static_cast<long double>(x[j]) * w[j];
        const auto y = static_cast<long double>(block.labels[order[i]]);
        const long double s = -y / (1 + std::exp(y * z));
        for (std::size_t j = 0; j < 6; ++j) sum[j] += s * static_cast<long double>(x[j]);
      }
      t += 1;
      const long double step = std::min(1 / (0.25L + pull), 1 / (pull * t));
      for (std::size_t j = 0; j < 6; ++j) w[j] = (1 - step * pull) * w[j] - step / 8 * sum[j];
    }
  }
  double off = 0;
  for (std::size_t j = 0; j < 6; ++j)
    off += static_cast<double>((w[j] - run.weights[j]) * (w[j] - run.weights[j]));
  EXPECT_LE(std::sqrt(off), run.error);
  EXPECT_LE(run.error, method.error);
  EXPECT_LE(run.error, 1e-9);
}

// The number of rows alone decides how many digits a run has: with more of them the bound of what
// rounding does is kept, and the weights stay what they are.
TEST(BoltOnRounding, MoreDigitsAreTakenWhereTheyAreNeeded) {
  const Problem problem = problem_of(Logistic{}, 6);
  const auto rows = test::make_rows({.rows = 700, .dimension = 6}, 5);
  BoltOnDescent method = method_of(problem, 20, 3, 8);
  const BoltOnRun usual = run_bolt_on(method, problem, *rows, rotated(700, 40));
  double before = usual.error;
  for (const double error : {1e-12, 1e-17}) {
    method.error = error;
    const BoltOnRun run = run_bolt_on(method, problem, *rows, rotated(700, 40));
    EXPECT_LE(run.error, error);
    EXPECT_LE(distance(run.weights, usual.weights), run.error + usual.error);
    EXPECT_LT(run.error, before);
    before = run.error;
  }
  method.error = 1e-30;
  EXPECT_THROW(validate(method, problem), Error);
  // The number of steps is bounded for any number of rows.
  const BoltOnDescent many = method_of(problem, 20, 1000, 1);
  EXPECT_LE(bolt_on_error_up(many, problem, 0x1p36, kQuadUnit), many.error);
}

// 2 L / (gamma n) of the golden values, in sum form, and the noise that it needs.
TEST(BoltOnCalibration, AgreesWithGoldenValues) {
  const Problem problem = problem_of(Logistic{}, 1);
  int compared = 0;
  for (const auto& row : test::read_golden_text("learning")) {
    const double expected = row.size() > 3 ? std::atof(row[3].c_str()) : 0;
    const BoltOnDescent method = method_of(problem, 36177 * 1e-3, 5, 20);
    if (row[0] == "bolton_sc_decr") {
      EXPECT_GE(bolt_on_distance_up(method, problem), expected);
      EXPECT_LE(bolt_on_distance_up(method, problem), expected * 1.002);
      ++compared;
    } else if (row[0] == "outpert_gauss" && row[1].starts_with("n=36177 Lambda=0.001 ")) {
      const double sigma = std::ldexp(method.output.scale, method.output.exponent);
      EXPECT_GE(sigma, expected);
      EXPECT_LE(sigma, expected * 1.03);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2);
}

TEST(BoltOnCalibration, WhatNoProofCoversIsRefused) {
  const auto calibrate = [](const Problem& problem, Neighbors neighbors, double l2,
                            std::int64_t passes = 5, std::int64_t batch = 10) {
    calibrate_bolt_on(problem, neighbors, Epsilon(1), Delta(1e-6),
                      {.l2 = l2, .passes = passes, .batch = batch});
  };
  const Problem plain = problem_of(Logistic{}, 3);
  EXPECT_NO_THROW(calibrate(plain, kReplace, 10));
  EXPECT_THROW(calibrate(plain, Neighbors::add_remove, 10), Error);
  EXPECT_THROW(calibrate(plain, kReplace, 0), Error);
  EXPECT_THROW(calibrate(plain, kReplace, 10, 0), Error);
  EXPECT_THROW(calibrate(plain, kReplace, 10, 5, 0), Error);
  EXPECT_THROW(calibrate(problem_of(Hinge{}, 3), kReplace, 10), Error);
  EXPECT_THROW(calibrate(problem_of(Softmax{3}, 3), kReplace, 10), Error);
  Problem other = plain;
  other.regulariser.l1 = 1;
  EXPECT_THROW(calibrate(other, kReplace, 10), Error);
  other = plain;
  other.set = L1Ball{1};
  EXPECT_THROW(calibrate(other, kReplace, 10), Error);
  BoltOnDescent less = method_of(plain, 10, 5, 10);
  less.output.scale *= 0.99;
  EXPECT_THROW(validate(less, plain), Error);
  less = method_of(plain, 10, 5, 10);
  less.l2 /= 2;
  EXPECT_THROW(validate(less, plain), Error);
  EXPECT_EQ(
      privacy_event(calibrate_bolt_on(plain, kReplace, Epsilon(2), Delta(0), {.l2 = 10}), plain),
      privacy::Event(privacy::event::Pure{2}));
}

TEST(BoltOnTraining, LearnsAndTakesAnyRows) {
  const Problem problem = problem_of(Logistic{}, 5);
  const BoltOnDescent method = calibrate_bolt_on(problem, kReplace, Epsilon(4), Delta(1e-6),
                                                 {.l2 = 30, .passes = 10, .batch = 20});
  SeededSource bits(3);
  const auto rows = test::make_rows({.rows = 8000}, 11);
  const auto weights = train(method, problem, *rows, bits, {});
  BlockBuffer buffer;
  int right = 0;
  for (std::size_t b = 0; b < rows->block_count(); ++b) {
    const RowBlock block = rows->block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      double z = 0;
      for (std::size_t j = 0; j < 5; ++j) z += block.values[i * 5 + j] * weights[j];
      right += z * block.labels[i] > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(right, 7200);
  const MemoryRows none(5, 1.0, 1.0, LabelKind::sign);
  EXPECT_EQ(train(method, problem, none, bits, {}).size(), 5);
}

}  // namespace
}  // namespace shoal::learn
