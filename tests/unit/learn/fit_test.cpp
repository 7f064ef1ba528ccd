#include "learn/methods.hpp"
#include "support/learning_rows.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/fit.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace shoal::learn {
namespace {

using test::make_rows;
using test::SeededSource;

Problem problem_of(std::size_t dimension) {
  Problem problem;
  problem.dimension = dimension;
  problem.row_norm = 1;
  return problem;
}

class Fit : public ::testing::Test {
 protected:
  privacy::Reservation reserve(const privacy::Event& event,
                               Neighbors neighbors = Neighbors::add_remove) {
    ledger::Request request = test::request_of("key" + std::to_string(++keys_), 1);
    request.lineage = lineage_of(neighbors);
    request.event = event;
    request.budget = {Epsilon(kMaxEpsilon), Delta(0.5), Delta(0.25)};
    privacy::Reservation reservation = test::reserve(ledger_, request);
    test::touch(reservation);
    return reservation;
  }

  void SetUp() override {
    for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      ledger::Account account = test::account_of(kMaxEpsilon, 0.5);
      account.budget.failures = Delta(0.25);
      account.lineage = lineage_of(neighbors);
      account.neighbors = neighbors;
      ledger_.open_account(account);
    }
  }
  static std::string lineage_of(Neighbors neighbors) {
    return test::kLineage + std::string(to_string(neighbors));
  }

  test::TemporaryFolder folder_;
  ledger::Ledger ledger_{folder_.path() / "ledger.db"};
  int keys_ = 0;
};

TEST_F(Fit, LearnsWhatThereIsToLearn) {
  const Problem problem = problem_of(5);
  const Method objective =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(2), Delta(1e-6));
  const Method pure = calibrate_objective(problem, Neighbors::replace_one, Epsilon(4), Delta(0));
  const Method output =
      calibrate_output(problem, Neighbors::add_remove, Epsilon(2), Delta(1e-6), 20);
  const Method minima = calibrate_minima(problem, Neighbors::add_remove, Epsilon(2), Delta(1e-6));
  const Method gradient =
      calibrate_gradient(problem, Neighbors::add_remove, Epsilon(2), Delta(1e-6));
  const Method sampled =
      calibrate_sampled(problem, Neighbors::replace_one, Epsilon(4), Delta(1e-6));
  const Method prefix = calibrate_prefix(problem, Neighbors::add_remove, Epsilon(4), Delta(1e-6));
  const Method bolt_on =
      calibrate_bolt_on(problem, Neighbors::replace_one, Epsilon(4), Delta(1e-6), {.l2 = 20});
  for (const Method& method :
       {objective, pure, output, minima, gradient, sampled, prefix, bolt_on}) {
    SeededSource bits(3);
    const Fitted fitted = fit(problem, method, TrainingRows(make_rows({.rows = 8000}, 11)),
                              reserve(privacy_event(method, problem), neighbors_of(method)), bits);
    const auto test_rows = make_rows({.rows = 8000}, 11);
    BlockBuffer buffer;
    int right = 0;
    for (std::size_t b = 0; b < test_rows->block_count(); ++b) {
      const RowBlock block = test_rows->block(b, buffer);
      for (std::size_t i = 0; i < block.rows; ++i) {
        double z = 0;
        for (std::size_t j = 0; j < 5; ++j) z += block.values[i * 5 + j] * fitted.weights[j];
        right += z * block.labels[i] > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(right, 7200) << name(method);
  }
}

TEST_F(Fit, RefusesAReservationForSomethingElse) {
  const Problem problem = problem_of(5);
  const Method method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(2), Delta(1e-6));
  SeededSource bits(3);
  EXPECT_THROW(fit(problem, method, TrainingRows(make_rows({}, 1)),
                   reserve(privacy::event::EpsilonDelta{1, 1e-6}), bits),
               Error);
  // The same event, of an account for the other relation: it would promise half of it.
  EXPECT_THROW(fit(problem, method, TrainingRows(make_rows({}, 1)),
                   reserve(privacy_event(method, problem), Neighbors::replace_one), bits),
               Error);
  // Rows whose bounds are not the problem's.
  EXPECT_THROW(fit(problem, method, TrainingRows(make_rows({.row_norm = 2}, 1)),
                   reserve(privacy_event(method, problem)), bits),
               Error);
  // Labels that need not be +1 or -1.
  EXPECT_THROW(fit(problem, method, TrainingRows(make_rows({.kind = LabelKind::number}, 1)),
                   reserve(privacy_event(method, problem)), bits),
               Error);
}

TEST_F(Fit, PrivateOdditiesNeverFail) {
  const Problem problem = problem_of(5);
  const Method method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6));
  SeededSource bits(5);
  std::vector<std::unique_ptr<MemoryRows>> odd;
  for (int i = 0; i < 5; ++i)
    odd.push_back(std::make_unique<MemoryRows>(5, 1.0, 1.0, LabelKind::sign));
  const double nan = std::nan("");
  odd[1]->add_dense(std::vector<double>{nan, 1e308, -1e308, 1, 0}, nan);
  for (int i = 0; i < 100; ++i) odd[2]->add_dense(std::vector<double>{1, 0, 0, 0, 0}, 1);
  for (int i = 0; i < 3; ++i) odd[3]->add_dense(std::vector<double>(5, 0.0), 1);
  odd[4]->add_dense(std::vector<double>(5, INFINITY), -INFINITY);
  for (auto& rows : odd) {
    const Fitted fitted = fit(problem, method, TrainingRows(std::move(rows)),
                              reserve(privacy_event(method, problem)), bits);
    ASSERT_EQ(fitted.weights.size(), 5u) << fitted.failure;
    for (const double w : fitted.weights) EXPECT_TRUE(std::isfinite(w));
  }
}

class DrySource final : public random::BitSource {
 public:
  void fill(std::span<unsigned char>) override {
    throw Error(ErrorCode::unavailable, "no randomness");
  }
  std::uint64_t next_bits(int) override { throw Error(ErrorCode::unavailable, "no randomness"); }
};

// Settled with a failure, the spend cannot be tried again.
TEST_F(Fit, AFailureGivesNoWeightsAndKeepsTheSpend) {
  const Problem problem = problem_of(5);
  const Method method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6));
  DrySource bits;
  Fitted fitted = fit(problem, method, TrainingRows(make_rows({}, 1)),
                      reserve(privacy_event(method, problem)), bits);
  EXPECT_TRUE(fitted.weights.empty());
  EXPECT_EQ(fitted.failure, "no randomness");
  EXPECT_EQ(ledger_.settle(std::move(fitted.spent), "failed").answer, "failed");
}

TEST_F(Fit, ASetIsKept) {
  Problem problem = problem_of(5);
  problem.set = L2Ball{0.5};
  problem.regulariser.l1 = 3;
  const Method method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(5), Delta(1e-6));
  SeededSource bits(6);
  const Fitted fitted = fit(problem, method, TrainingRows(make_rows({.rows = 2000}, 3)),
                            reserve(privacy_event(method, problem)), bits);
  ASSERT_EQ(fitted.weights.size(), 5u) << fitted.failure;
  EXPECT_TRUE(contains(problem.set, fitted.weights, 1e-12));
}

// What the noise inside the objective was, seen from the weights: -grad J. It must be normal with
// the spec's sigma (the output noise is far smaller), and it depends on no row. The statistic is
// Kolmogorov's at 1500 draws; above 2.15 / sqrt(n) with chance 2e-4 if the law is right.
double distance_from_normal(const ObjectivePerturbation& method, double claimed) {
  const Problem problem = problem_of(1);
  MemoryRows rows(1, 1, 1, LabelKind::sign);
  for (int i = 0; i < 12; ++i) rows.add_dense(std::vector<double>{i < 8 ? 1.0 : 0.4}, i % 3 - 0.5);
  SeededSource bits(77);
  std::vector<double> chances;
  for (int i = 0; i < 1500; ++i) {
    const double w = train(method, problem, rows, bits, {.threads = 1})[0];
    double gradient = method.l2 * w;
    BlockBuffer buffer;
    const RowBlock block = rows.block(0, buffer);
    for (std::size_t k = 0; k < block.rows; ++k)
      gradient += slope(problem.loss, block.values[k] * w, block.labels[k]) * block.values[k];
    chances.push_back(0.5 * std::erfc(gradient / claimed / std::sqrt(2.0)));
  }
  std::sort(chances.begin(), chances.end());
  double worst = 0;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const double n = static_cast<double>(chances.size());
    worst = std::max({worst, (static_cast<double>(i) + 1) / n - chances[i],
                      chances[i] - static_cast<double>(i) / n});
  }
  return worst * std::sqrt(static_cast<double>(chances.size()));
}

TEST(ObjectiveTraining, DrawsTheLawThatWasProven) {
  const Problem problem = problem_of(1);
  const ObjectivePerturbation method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6));
  EXPECT_LT(distance_from_normal(method, method.scale), 2.15);
  ObjectivePerturbation half = method;
  half.scale /= 2;
  EXPECT_GT(distance_from_normal(half, method.scale), 4);
}

// A source with one byte of seed has 256 streams: 64 fits then meet again with chance 0.9997.
TEST(ObjectiveTraining, ASeedOfOneByteIsCaught) {
  const Problem problem = problem_of(2);
  const ObjectivePerturbation method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6));
  const auto rows = make_rows({.rows = 50, .dimension = 2}, 4);
  const auto distinct = [&](bool one_byte) {
    SeededSource outer(12);
    std::set<std::vector<double>> seen;
    for (int i = 0; i < 64; ++i) {
      SeededSource inner(outer.next_bits(one_byte ? 8 : 60));
      seen.insert(train(method, problem, *rows, inner, {.threads = 1}));
    }
    return seen.size();
  };
  EXPECT_EQ(distinct(false), 64);
  EXPECT_LT(distinct(true), 64);
}

// The bits drawn do not depend on the rows.
TEST(ObjectiveTraining, NoiseDoesNotDependOnTheRows) {
  const Problem problem = problem_of(5);
  const ObjectivePerturbation method =
      calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1e-6));
  SeededSource first(9);
  SeededSource second(9);
  train(method, problem, *make_rows({.rows = 10}, 1), first, {.threads = 1});
  train(method, problem, *make_rows({.rows = 5000}, 2), second, {.threads = 1});
  EXPECT_EQ(first.next_u64(), second.next_u64());
}

}  // namespace
}  // namespace shoal::learn
