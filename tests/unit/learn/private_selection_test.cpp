#include "learn/selection_runs.hpp"
#include "support/choice_law.hpp"
#include "support/learning_rows.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

using test::make_rows;
using test::SeededSource;
using test::uniform;

Problem problem_of(std::size_t dimension) {
  Problem problem;
  problem.dimension = dimension;
  problem.row_norm = 1;
  return problem;
}

Method candidate(const Problem& problem, double epsilon, double l2, double delta = 0) {
  return calibrate_objective(problem, Neighbors::add_remove, Epsilon(epsilon), Delta(delta),
                             {.l2 = l2});
}

// The law of the best of K runs, each with this law of results in rising order.
std::vector<double> best_of(std::span<const double> chances, double q) {
  std::vector<double> best;
  long double below = 0;
  for (const double chance : chances) {
    const long double upto = below + chance;
    best.push_back(static_cast<double>((std::log1p(-q * upto) - std::log1p(-q * below)) /
                                       std::log1p(-static_cast<long double>(q))));
    below = upto;
  }
  return best;
}

double largest_loss(const std::vector<double>& p, const std::vector<double>& q) {
  double most = 0;
  for (std::size_t k = 0; k < p.size(); ++k)
    most = std::max(most, std::fabs(std::log(p[k] / q[k])));
  return most;
}

// Runs of three results whose chances differ by up to e^epsilon: the best of K never loses more
// than 2 epsilon, and a rare result below a less rare best one nearly that. Anything below 1.9
// would be caught.
TEST(PrivateSelection, TheBestOfKLosesAtMostTwice) {
  SeededSource bits(3);
  for (const double epsilon : {0.1, 1.0}) {
    const double e = std::exp(epsilon);
    double most = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double top = std::pow(10, -uniform(bits, 0.5, 3));
      const double middle = std::pow(10, -uniform(bits, 0, 3)) * top;
      const double up = bits.next_bit() ? e : 1 / e;
      const double down = bits.next_bit() ? 1 / up : uniform(bits, 1 / e, e);
      const std::vector<double> p = {1 - middle - top, middle, top};
      const std::vector<double> r = {1 - middle * up - top * down, middle * up, top * down};
      if (r[0] <= 0 || largest_loss(p, r) > epsilon * (1 + 1e-9)) continue;
      const double q = 1 - top * std::pow(10, -uniform(bits, 0, 4));
      const double loss = largest_loss(best_of(p, q), best_of(r, q));
      EXPECT_LE(loss, 2 * epsilon * (1 + 1e-6));
      most = std::max(most, loss);
    }
    EXPECT_GT(most, 1.9 * epsilon);
  }
}

// Leaky runs: with chance d the result tells which table it was. The exact hockey-stick divergence
// of the best of K at 2 epsilon stays within d E[K], and a leak that is best nearly reaches it.
TEST(PrivateSelection, ALeakCostsItsDeltaOnceARun) {
  const double epsilon = 0.5;
  const double e = std::exp(epsilon);
  for (const double scale : {0.5, 4.0, 60.0}) {
    const double q = std::exp(-1 / scale);
    for (const double d : {1e-3, 1e-5}) {
      // Two results of randomized response, and two leaks above or below them.
      for (const bool above : {true, false}) {
        std::vector<double> p = {(1 - d) / (1 + e), (1 - d) * e / (1 + e)};
        std::vector<double> r = {p[1], p[0]};
        p.insert(above ? p.end() : p.begin(), {d, 0});
        r.insert(above ? r.end() : r.begin(), {0, d});
        const std::vector<double> first = best_of(p, q);
        const std::vector<double> second = best_of(r, q);
        double delta = 0;
        for (std::size_t k = 0; k < first.size(); ++k)
          delta += std::max(0.0, first[k] - std::exp(2 * epsilon) * second[k]);
        EXPECT_LE(delta, d * mean_runs_up(scale) * (1 + 1e-6));
        if (above) {
          EXPECT_GT(delta, 0.9 * d * mean_runs_up(scale));
        }
      }
    }
  }
}

// 20,000 draws; a chi-square as large has a chance of 1e-4.
TEST(PrivateSelection, TheNumberOfRunsHasItsLaw) {
  SeededSource bits(4);
  const double scale = 3;
  std::vector<double> logs;
  double sum = 0;
  for (int k = 1; k <= 400; ++k) sum += std::exp(-k / scale) / k;
  double rest = 1;
  for (int k = 1; k <= 8; ++k) {
    logs.push_back(-k / scale - std::log(k * sum));
    rest -= std::exp(logs.back());
  }
  logs.push_back(std::log(rest));
  std::vector<int> counts(9);
  double mean = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t runs = sample_run_count(scale, bits);
    ASSERT_GE(runs, 1);
    ++counts[static_cast<std::size_t>(std::min<std::int64_t>(runs, 9) - 1)];
    mean += static_cast<double>(runs) / 20'000;
  }
  EXPECT_GT(test::fit_of(counts, logs), 1e-4);
  EXPECT_NEAR(mean, mean_runs_up(scale), 0.08);  // 6 standard errors
}

TEST(PrivateSelection, ARowMovesAScoreByAStepsWorth) {
  MemoryRows rows(1, 1, 1, LabelKind::sign);
  EXPECT_EQ(static_cast<long long>(held_out_score(Logistic{}, rows, std::vector<double>{1})), 0);
  rows.add_dense(std::vector<double>{1}, 1);
  EXPECT_EQ(static_cast<long long>(held_out_score(Logistic{}, rows, std::vector<double>{1})), 0);
  EXPECT_EQ(static_cast<long long>(held_out_score(Logistic{}, rows, std::vector<double>{-1})),
            -kScoreSteps);
  MemoryRows numbers(1, 1, 1, LabelKind::number);
  numbers.add_dense(std::vector<double>{0.5}, 0);
  EXPECT_EQ(static_cast<long long>(held_out_score(Squared{}, numbers, std::vector<double>{2})),
            -kScoreSteps / 4);
  for (const double far : {1e9, 1e300, std::nan("")}) {
    EXPECT_EQ(static_cast<long long>(held_out_score(Squared{}, numbers, std::vector<double>{far})),
              -kScoreSteps);
  }
}

// A quarter of the rows, within six standard deviations, and every row in one part.
TEST(PrivateSelection, RowsAreSplitByACoin) {
  for (const bool sparse : {false, true}) {
    const auto rows = make_rows({.rows = 10'000, .sparse = sparse}, 2);
    SeededSource bits(5);
    const SplitRows split = split_rows(*rows, bits);
    EXPECT_EQ(split.training->row_count() + split.held_out->row_count(), 10'000);
    EXPECT_NEAR(static_cast<double>(split.held_out->row_count()), 2500, 260);
  }
}

TEST(PrivateSelection, FindsTheBetterCandidateAndPaysTwice) {
  test::TemporaryFolder folder;
  ledger::Ledger ledger(folder.path() / "ledger.db");
  ledger.open_account(test::account_of(100, 0));
  const Problem problem = problem_of(5);
  const double epsilon = 4;
  const double half = epsilon / 2;
  // The first is all noise.
  const PrivateSelection selection =
      calibrate_selection(problem, {candidate(problem, 0.001, 1e5), candidate(problem, half, 2)},
                          Epsilon(epsilon), Delta(0), run_scale_of(30));
  const privacy::Event event = privacy_event(selection, problem);
  EXPECT_EQ(event, privacy::Event(privacy::event::Pure{epsilon}));
  int better = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    ledger::Request request = test::request_of("key" + std::to_string(seed), 1);
    request.event = event;
    request.budget = {Epsilon(100), Delta(0), Delta(0)};
    privacy::Reservation reservation = test::reserve(ledger, request);
    test::touch(reservation);
    SeededSource bits(seed);
    const FittedBest best = fit_best(problem, selection, TrainingRows(make_rows({}, 9)),
                                     std::move(reservation), bits, {.threads = 1});
    ASSERT_EQ(best.fitted.weights.size(), 5) << best.fitted.failure;
    better += best.chosen == 1 ? 1 : 0;
  }
  EXPECT_GE(better, 9);  // 5 of 6 in the mean: a single run takes either
  // Not with a reservation for something else.
  ledger::Request request = test::request_of("other", 1);
  privacy::Reservation other = test::reserve(ledger, request);
  test::touch(other);
  SeededSource bits(1);
  EXPECT_THROW(fit_best(problem, selection, TrainingRows(make_rows({}, 9)), std::move(other), bits),
               Error);
}

TEST(PrivateSelection, RefusesWhatPublicFactsShow) {
  const Problem problem = problem_of(5);
  const auto refused = [&](std::vector<Method> list, double delta) {
    try {
      calibrate_selection(problem, std::move(list), Epsilon(2), Delta(delta), run_scale_of(5));
    } catch (const Error& failure) {
      return failure.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_THROW(run_scale_of(0.5), Error);
  EXPECT_THROW(run_scale_of(1e9), Error);
  EXPECT_GE(mean_runs_up(run_scale_of(7)), 7);
  EXPECT_LT(mean_runs_up(run_scale_of(7)), 7.001);
  EXPECT_TRUE(refused({}, 0));
  EXPECT_TRUE(refused({candidate(problem, 1.01, 5)}, 0));  // dearer than half
  EXPECT_TRUE(refused({candidate(problem, 1, 5, 1e-6)}, 0));
  // One for each relation: the sum would be a promise about neither.
  const Method adding = calibrate_output(problem, Neighbors::add_remove, Epsilon(1), Delta(0), 5);
  const Method exchanging =
      calibrate_output(problem, Neighbors::replace_one, Epsilon(1), Delta(0), 5);
  EXPECT_FALSE(refused({adding, adding}, 0));
  EXPECT_FALSE(refused({exchanging, exchanging}, 0));
  EXPECT_TRUE(refused({adding, exchanging}, 0));
  EXPECT_TRUE(refused({candidate(problem, 1, 5, 1e-6)}, 4.9e-6));
  EXPECT_FALSE(refused({candidate(problem, 1, 5, 1e-6)}, 5.1e-6));
  PrivateSelection less = calibrate_selection(problem, {candidate(problem, 1, 5)}, Epsilon(2),
                                              Delta(0), run_scale_of(5));
  less.score_scale *= 0.999;
  EXPECT_THROW(privacy_event(less, problem), Error);
}

TEST(PrivateSelection, ChargesDeltaOnceARun) {
  const Problem problem = problem_of(5);
  const double run_scale = run_scale_of(9);
  const CandidateCost cost = candidate_cost(Epsilon(2), Delta(1e-6), run_scale);
  EXPECT_EQ(cost.epsilon, 1);
  EXPECT_NEAR(cost.delta * 9, 1e-6, 1e-12);
  const PrivateSelection selection =
      calibrate_selection(problem, {candidate(problem, cost.epsilon, 5, cost.delta)}, Epsilon(2),
                          Delta(1e-6), run_scale);
  const privacy::Event event = privacy_event(selection, problem);
  const auto& charged = std::get<privacy::event::EpsilonDelta>(event.node());
  EXPECT_EQ(charged.epsilon, 2);
  EXPECT_LE(charged.delta, 1e-6);
  EXPECT_GT(charged.delta, 0.999e-6);
}

// Rows without a label are split as well, so that both parts have as many slots when one is
// exchanged for a row that has a label: the coins fall alike, here at the end.
TEST(PrivateSelection, RowsWithoutALabelHaveACoin) {
  int different = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    MemoryRows labelled(1, 1, 1, LabelKind::sign);
    MemoryRows without(1, 1, 1, LabelKind::sign);
    for (int i = 0; i < 10; ++i) {
      labelled.add_dense(std::vector{0.5}, 1);
      if (i < 9) without.add_dense(std::vector{0.5}, 1);
    }
    without.skip_row();
    SeededSource first(seed);
    SeededSource second(seed);
    const SplitRows a = split_rows(labelled, first);
    const SplitRows b = split_rows(without, second);
    EXPECT_EQ(a.training->slot_count(), b.training->slot_count());
    EXPECT_EQ(a.held_out->slot_count(), b.held_out->slot_count());
    different += a.training->row_count() != b.training->row_count() ? 1 : 0;
  }
  EXPECT_GT(different, 0);
}

}  // namespace
}  // namespace shoal::learn
