#include "learn/candidate_scores.hpp"
#include "learn/methods.hpp"
#include "support/choice_law.hpp"
#include "support/golden.hpp"
#include "support/learning_rows.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/risk.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::SeededSource;
using test::uniform;
using test::uniform_vector;

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Problem problem_of(const Loss& loss, std::size_t dimension, double radius = 2) {
  Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = 1;
  problem.set = L2Ball{radius};
  return problem;
}

MemoryRows rows_of(const Problem& problem) {
  return MemoryRows(problem.dimension, problem.row_norm, problem.label_bound,
                    bounds(problem.loss).two_classes ? LabelKind::sign : LabelKind::number);
}

// ln(P/Q) of neighbours spans at most epsilon, and of one row against none nearly that.
TEST(ExponentialChoice, TheLossOfNeighboursSpansWhatIsCharged) {
  SeededSource bits(5);
  for (const Loss& loss : {Loss(Logistic{}), Loss(Hinge{}), Loss(Huber{0.5}), Loss(Squared{})}) {
    for (const auto what : {CandidateLoss::loss, CandidateLoss::mistakes}) {
      if (what == CandidateLoss::mistakes && !bounds(loss).two_classes) continue;
      for (const Neighbors neighbors : {kAdd, kReplace}) {
        const Problem problem = problem_of(loss, 2);
        const double epsilon = 0.7;
        const ExponentialChoice method = calibrate_exponential(
            problem, neighbors, Epsilon(epsilon), grid_candidates(problem, 9), {.what = what});
        double widest = 0;
        for (int i = 0; i < 300; ++i) {
          MemoryRows first = rows_of(problem);
          MemoryRows second = rows_of(problem);
          const auto base = static_cast<int>(bits.next_bits(3));
          for (int k = 0; k < base; ++k) {
            const std::vector<double> x = uniform_vector(bits, 2, 1);
            const double y = uniform(bits, -1, 1);
            first.add_dense(x, y);
            second.add_dense(x, y);
          }
          // The first time the row that moves most, and its opposite.
          const std::vector<double> x =
              i == 0 ? std::vector<double>{1, 0} : uniform_vector(bits, 2, 1);
          const double y = i == 0 ? 1 : uniform(bits, -1, 1);
          first.add_dense(x, y);
          if (neighbors == kReplace) second.add_dense(std::vector<double>{-x[0], -x[1]}, y);
          const test::LossSpan span =
              test::loss_span(candidate_scores(method, problem, first, 1),
                              candidate_scores(method, problem, second, 1), method.scale);
          EXPECT_LE(span.most - span.least, epsilon * (1 + 1e-9)) << name(loss);
          EXPECT_LE(std::max(span.most, -span.least), epsilon * (1 + 1e-9));
          widest = std::max(widest, span.most - span.least);
        }
        // The Lipschitz bound is not reached by a loss that bends.
        if (bounds(loss).two_classes) {
          EXPECT_GT(widest, epsilon * 0.99) << name(loss);
        }
      }
    }
  }
}

// 4000 draws; the chance of a chi-square as large is below 1e-4 once in 10,000.
TEST(ExponentialChoice, DrawsTheLawThatWasProven) {
  const Problem problem = problem_of(Logistic{}, 1, 1);
  const ExponentialChoice method =
      calibrate_exponential(problem, kAdd, Epsilon(0.5), grid_candidates(problem, 7));
  ExponentialChoice half = method;
  half.scale /= 2;
  MemoryRows rows = rows_of(problem);
  for (int i = 0; i < 4; ++i) rows.add_dense(std::vector<double>{1}, 1);
  const std::vector<double> law =
      test::log_chances(candidate_scores(method, problem, rows, 1), method.scale);
  for (const ExponentialChoice& used : {method, half}) {
    SeededSource bits(31);
    std::vector<int> counts(7);
    for (int i = 0; i < 4000; ++i) {
      const double w = train(used, problem, rows, bits, {.threads = 1})[0];
      ++counts[static_cast<std::size_t>(std::lround(3 * w + 3))];
    }
    if (used == method) {
      EXPECT_GT(test::fit_of(counts, law), 1e-4);
    } else {
      EXPECT_LT(test::fit_of(counts, law), 1e-6);
    }
  }
}

// Exactly, from the law: never more than the bound, and of its order.
TEST(ExponentialChoice, TheExpectedLossHasABound) {
  SeededSource bits(12);
  const Problem problem = problem_of(Logistic{}, 1, 4);
  double closest = 0;
  for (int i = 0; i < 200; ++i) {
    const ExponentialChoice method =
        calibrate_exponential(problem, kAdd, Epsilon(uniform(bits, 0.05, 5)),
                              grid_candidates(problem, 2 + bits.next_bits(6)));
    MemoryRows rows = rows_of(problem);
    const auto count = bits.next_bits(6);
    for (std::uint64_t k = 0; k < count; ++k)
      rows.add_dense(std::vector<double>{uniform(bits, -1, 1)}, uniform(bits, -1, 2));
    const std::vector<Int128> scores = candidate_scores(method, problem, rows, 1);
    const std::vector<double> law = test::log_chances(scores, method.scale);
    const Int128 best = *std::max_element(scores.begin(), scores.end());
    double mean = 0;
    for (std::size_t k = 0; k < scores.size(); ++k)
      mean += std::exp(law[k]) * static_cast<double>(best - scores[k]);
    const double bound = expected_choice_loss(method, problem);
    EXPECT_LE(std::ldexp(mean, method.exponent), bound * (1 + 1e-9));
    closest = std::max(closest, std::ldexp(mean, method.exponent) / bound);
  }
  EXPECT_GT(closest, 0.2);
}

TEST(ExponentialChoice, AgreesWithGoldenValues) {
  int compared = 0;
  for (const auto& row : test::read_golden_text("learning")) {
    if (row[0] == "expmech_coeff") {  // e^(-c L), Lipschitz constant 1, diameter 2, replace_one
      Problem problem = problem_of(Huber{1}, 1, 1);
      problem.label_bound = 10;
      const ExponentialChoice method =
          calibrate_exponential(problem, kReplace, Epsilon(1), grid_candidates(problem, 101));
      EXPECT_NEAR(1 / std::ldexp(method.scale, method.exponent), std::stod(row[3]), 1e-6);
      ++compared;
    } else if (row[0] == "regexp_mu") {
      EXPECT_NEAR(regularised_exponential_mu_up(2.0 / 36177, 1e6, 1e-3) / std::stod(row[3]), 1,
                  1e-14);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2);
}

TEST(ExponentialChoice, FindsAGoodCandidate) {
  const Problem problem = problem_of(Logistic{}, 3, 4);
  const auto rows = test::make_rows({.rows = 4000, .dimension = 3}, 3);
  for (const auto what : {CandidateLoss::loss, CandidateLoss::mistakes}) {
    const ExponentialChoice method = calibrate_exponential(
        problem, kAdd, Epsilon(1), grid_candidates(problem, 9), {.what = what});
    SeededSource bits(4);
    const std::vector<double> weights = train(method, problem, *rows, bits, {.threads = 2});
    EXPECT_LT(empirical_risk(Logistic{}, *rows, weights), 0.5);
    EXPECT_TRUE(contains(problem.set, weights, 1e-9));
  }
}

TEST(ExponentialChoice, PrivateOdditiesNeverFail) {
  const Problem problem = problem_of(Squared{}, 2);
  const ExponentialChoice method =
      calibrate_exponential(problem, kAdd, Epsilon(1), grid_candidates(problem, 5));
  MemoryRows none = rows_of(problem);
  MemoryRows odd = rows_of(problem);
  odd.add_dense(std::vector<double>{std::nan(""), 1e308}, -INFINITY);
  for (const MemoryRows* rows : {&none, &odd}) {
    SeededSource bits(4);
    EXPECT_EQ(train(method, problem, *rows, bits, {}).size(), 2);
  }
}

TEST(ExponentialChoice, RefusesWhatPublicFactsShow) {
  const auto code_of = [](auto&& action) {
    try {
      action();
    } catch (const Error& failure) {
      return failure.code();
    }
    return ErrorCode::internal;
  };
  const Problem problem = problem_of(Logistic{}, 2);
  EXPECT_EQ(grid_candidates(problem, 3).size(), 2 * 5);  // the corners are outside the ball
  EXPECT_EQ(code_of([] { grid_candidates(problem_of(Logistic{}, 4), 3); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { grid_candidates(problem, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { grid_candidates(problem, 2000); }), ErrorCode::invalid_argument);
  Problem unbounded = problem;
  unbounded.set = WholeSpace{};
  EXPECT_EQ(code_of([&] { grid_candidates(unbounded, 9); }), ErrorCode::invalid_argument);
  const auto calibrated = [&](std::vector<double> list) {
    return code_of([&] { calibrate_exponential(problem, kAdd, Epsilon(1), std::move(list)); });
  };
  EXPECT_EQ(calibrated({1, 2, 3}), ErrorCode::invalid_argument);
  EXPECT_EQ(calibrated({1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(calibrated({1, 2, 3, NAN}), ErrorCode::invalid_argument);
  EXPECT_EQ(calibrated({1, 2, 1, 2}), ErrorCode::internal);  // none: a list may repeat itself
  ExponentialChoice method =
      calibrate_exponential(problem, kAdd, Epsilon(1), grid_candidates(problem, 5));
  method.scale *= 0.999;
  EXPECT_THROW(privacy_event(method, problem), Error);
}

}  // namespace
}  // namespace shoal::learn
