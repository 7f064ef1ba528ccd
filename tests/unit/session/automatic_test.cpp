// Automatic bounds through the whole flow: what is found, what it costs, what the ledger keeps.
#include "session/search.hpp"
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/file.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shoal::session {
namespace {

using test::code_of;

constexpr const char* kPolicy = R"([dataset]
name = "trips"
lineage = "trips"
[privacy]
unit = "person"
neighbors = "{}"
[budget]
epsilon = 8
delta = 1e-4
ledger = "trips.ledger"
[query]
time_steps = 0
[table.trips]
source = "trips.csv"
format = "csv"
person_column = "person_id"
max_rows_per_person = 8
[table.trips.column.person_id]
type = "integer"
[table.trips.column.city]
type = "text"
[table.trips.column.fare]
type = "real"
[table.trips.column.change]
type = "integer"
[table.trips.column.tip]
type = "real"
bounds = [0, 1000]
[table.trips.column.rare]
type = "real"
)";

// 3,000 people. Person p was in 1 + p % 4 cities, twice in each; fares lie in (5, 40], changes in
// [-7, 3], tips in (1, 12]; five people have a rare value.
std::string trips() {
  std::string text = "person_id,city,fare,change,tip,rare\n";
  for (int p = 0; p < 3000; ++p) {
    for (int c = 0; c <= p % 4; ++c) {
      const std::string row =
          fmt::format("{},c{},{},{},{},{}\n", p, (p + c) % 10, 5.5 + p % 70 / 2.0, (p + c) % 11 - 7,
                      1.5 + p % 22 / 2.0, p < 5 ? "77" : "");
      text += row + row;
    }
  }
  return text;
}

class AutomaticTest : public testing::Test {
 protected:
  void SetUp() override { use("add_remove"); }

  void use(const char* neighbors) {
    write_file_durably(folder_ / "trips.csv", trips(), IfExists::replace);
    write_file_durably(policy_path(), fmt::format(fmt::runtime(kPolicy), neighbors),
                       IfExists::replace);
  }

  std::filesystem::path policy_path() const { return folder_ / "trips.toml"; }

  Answer ask(const std::string& sql, double epsilon = 1, std::uint64_t seed = 1,
             std::string key = "") {
    test::SeededSource bits(seed);
    plan::QueryOptions options;
    options.epsilon = epsilon;
    return Session(policy_path()).query(sql, options, std::move(key), bits);
  }

  plan::Plan explain(const std::string& sql, double epsilon = 1) const {
    plan::QueryOptions options;
    options.epsilon = epsilon;
    return Session(policy_path()).explain(sql, options);
  }

  BudgetReport budget() const { return Session(policy_path()).budget(); }

  test::TemporaryFolder folder_{test::Place::memory};
};

constexpr int kDied = 3;

// Ends the process as soon as a search has been settled.
class DyingSource final : public random::BitSource {
 public:
  DyingSource(std::filesystem::path ledger, std::string key)
      : path_(std::move(ledger)), key_(std::move(key)) {}

  void fill(std::span<unsigned char> bytes) override {
    die_in_time();
    bits_.fill(bytes);
  }
  std::uint64_t next_bits(int count) override {
    die_in_time();
    return bits_.next_bits(count);
  }

 private:
  void die_in_time() {
    if (!ledger_ && std::filesystem::exists(path_)) ledger_.emplace(path_);
    if (ledger_ && ledger_->stored("trips", key_, key_)) ::_exit(kDied);
  }

  std::filesystem::path path_;
  std::string key_;
  std::optional<ledger::Ledger> ledger_;
  test::SeededSource bits_{1};
};

constexpr const char* kSum = "SELECT SUM(fare, bounds => AUTO) FROM trips";

TEST_F(AutomaticTest, FindsBoundsAndAnswersWithinTheEpsilonAsked) {
  const Answer answer = ask(kSum);
  ASSERT_EQ(answer.found.size(), 1u);
  EXPECT_EQ(answer.found[0].of, "fare");
  EXPECT_EQ(answer.found[0].bounds, (catalog::Bounds{4, 64}));
  EXPECT_EQ(answer.found[0].epsilon, 0.125);
  EXPECT_EQ(answer.columns[0].bounds, (catalog::Bounds{4, 64}));
  EXPECT_EQ(answer.epsilon, 1);
  const BudgetReport report = budget();
  EXPECT_EQ(report.epsilon_spent, 1);
  ASSERT_EQ(report.spends.size(), 2u);
  EXPECT_EQ(report.spends[0].charge.epsilon_units, test::units(0.875));
  EXPECT_EQ(report.spends[1].charge.epsilon_units, test::units(0.125));
  EXPECT_EQ(report.spends[1].description, "automatic bounds of fare");
  EXPECT_EQ(report.spends[0].state, "settled");
  EXPECT_EQ(report.spends[1].state, "settled");
}

TEST_F(AutomaticTest, AnExactRepeatIsTheSameAnswerAndFree) {
  Answer first = ask(kSum, 1, 1);
  first.repeated = true;  // and else the same
  EXPECT_EQ(ask(kSum, 1, 2), first);
  EXPECT_EQ(budget().epsilon_spent, 1);
}

TEST_F(AutomaticTest, LaterQuestionsUseWhatWasFoundAndSpendAllOnTheAnswer) {
  const Answer first = ask(kSum);
  // Neither WHERE nor FILTER makes another rule of it.
  const Answer second = ask("SELECT SUM(fare, bounds => AUTO) FROM trips WHERE city = 'c1'");
  const Answer third =
      ask("SELECT SUM(fare, bounds => AUTO) FILTER (WHERE city = 'c1') FROM trips");
  for (const Answer& later : {second, third}) {
    EXPECT_EQ(later.found[0].epsilon, 0);
    EXPECT_EQ(later.columns[0].bounds, (catalog::Bounds{4, 64}));
    EXPECT_DOUBLE_EQ(later.columns[0].noise[0].scale * later.columns[0].noise[0].step,
                     first.columns[0].noise[0].scale * first.columns[0].noise[0].step * 7 / 8);
  }
  EXPECT_EQ(budget().epsilon_spent, 3);
  EXPECT_EQ(budget().spends.size(), 4u);
}

TEST_F(AutomaticTest, DifferentExpressionsAreDifferentRules) {
  ask(kSum);
  EXPECT_EQ(ask("SELECT SUM(fare + 1, bounds => AUTO) FROM trips").found[0].epsilon, 0.125);
}

TEST_F(AutomaticTest, PricesAndDeclaresBeforeDataIsRead) {
  const plan::Plan before = explain(kSum);
  EXPECT_TRUE(plan::must_search(before));
  EXPECT_EQ(before.charge.epsilon_units, test::units(1));
  EXPECT_EQ(before.aggregates[0].bounds, std::nullopt);
  EXPECT_EQ(before.aggregates[0].expected_error, std::nullopt);
  ask(kSum);
  const plan::Plan after = explain(kSum);
  EXPECT_FALSE(plan::must_search(after));
  EXPECT_EQ(after.charge.epsilon_units, test::units(1));
  EXPECT_EQ(after.aggregates[0].bounds, (catalog::Bounds{4, 64}));
}

TEST_F(AutomaticTest, ReservesAllOrNothing) {
  ask("SELECT COUNT(*) FROM trips", 7.2);
  const double spent = budget().epsilon_spent;
  // The search alone would fit, and so would the answer.
  EXPECT_EQ(code_of([&] { ask(kSum, 0.81); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(budget().epsilon_spent, spent);
  EXPECT_EQ(budget().spends.size(), 1u);
  EXPECT_EQ(ask(kSum, 0.8).found[0].bounds, (catalog::Bounds{4, 64}));
}

TEST_F(AutomaticTest, TooFewPeopleAreSaidSoAndTheAnswersPartIsGivenBack) {
  const char* sql = "SELECT AVG(rare, bounds => AUTO) FROM trips";
  EXPECT_EQ(code_of([&] { ask(sql); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(budget().epsilon_spent, 0.125);
  EXPECT_EQ(code_of([&] { ask(sql, 1, 2); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(code_of([&] { explain(sql); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(budget().epsilon_spent, 0.125);
  ask("SELECT AVG(rare, bounds => (0, 100)) FROM trips");
}

TEST_F(AutomaticTest, DeclaredBoundsAreNarrowedAndNegativeValuesSeen) {
  const Answer answer = ask(
      "SELECT AVG(tip, bounds => AUTO), SUM(change, bounds => AUTO), MEDIAN(tip, bounds => AUTO), "
      "VAR_POP(fare, bounds => AUTO) FROM trips",
      4);
  ASSERT_EQ(answer.found.size(), 3u);
  EXPECT_EQ(answer.found[0].bounds, (catalog::Bounds{1, 16}));
  EXPECT_EQ(answer.found[1].bounds, (catalog::Bounds{-8, 4}));
  EXPECT_EQ(answer.found[2].bounds, (catalog::Bounds{4, 64}));
  EXPECT_EQ(answer.columns[2].bounds, (catalog::Bounds{1, 16}));
  double paid = 0;
  for (const AnswerFound& one : answer.found) paid += one.epsilon;
  EXPECT_LE(paid, 0.5);
  EXPECT_GT(paid, 0.499);
  EXPECT_LE(answer.epsilon, 4);
}

TEST_F(AutomaticTest, FindsHowManyGroupsOfAPersonCount) {
  const std::string sql =
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = AUTO) city, COUNT(*) FROM "
      "trips{} GROUP BY city";
  const Answer first = ask(fmt::format(fmt::runtime(sql), ""), 2);
  ASSERT_EQ(first.found.size(), 1u);
  EXPECT_EQ(first.found[0].of, "\"city\"");
  EXPECT_EQ(first.found[0].max_groups, 4);
  EXPECT_EQ(first.found[0].epsilon, 0.25);
  EXPECT_EQ(first.rows.size(), 10u);
  const Answer later = ask(fmt::format(fmt::runtime(sql), " WHERE fare > 10"), 2);
  EXPECT_EQ(later.found[0].max_groups, 4);
  EXPECT_EQ(later.found[0].epsilon, 0);
}

TEST_F(AutomaticTest, GaussianAnswersStayWithinWhatWasDeclared) {
  test::SeededSource bits(1);
  plan::QueryOptions options;
  options.epsilon = 1;
  options.delta = 1e-6;
  options.noise = plan::NoiseChoice::gaussian;
  const Answer answer = Session(policy_path()).query(kSum, options, "", bits);
  EXPECT_EQ(answer.columns[0].noise[0].mechanism, "discrete_gaussian");
  EXPECT_EQ(answer.epsilon, 1);
  EXPECT_EQ(answer.delta, 1e-6);
}

TEST_F(AutomaticTest, ExchangeNeedsAndGetsMoreNoise) {
  use("replace_one");
  const Answer answer = ask(kSum);
  EXPECT_EQ(answer.found[0].bounds, (catalog::Bounds{4, 64}));
  EXPECT_EQ(budget().epsilon_spent, 1);
}

// A process that died left a search reserved, paid with another amount than this question's.
TEST_F(AutomaticTest, TakesOverASearchThatDied) {
  ask("SELECT COUNT(*) FROM trips", 0.5);
  const plan::Plan plan = explain(kSum);
  const test::ChildEnd end = test::run_in_child([&] {
    ledger::Ledger ledger(folder_ / "trips.ledger");
    plan::Search search = plan.automatic[0].search;
    search.epsilon_units = test::units(0.03);
    const std::string key = search_key(search.rule);
    const ledger::Request request{"trips",
                                  key,
                                  key,
                                  "automatic bounds of fare",
                                  "policy",
                                  {Epsilon(8), Delta(1e-4), Delta(5e-5)},
                                  plan::search_event(search)};
    return std::holds_alternative<privacy::Reservation>(ledger.reserve(request)) ? 0 : 1;
  });
  ASSERT_EQ(end.status, 0);
  EXPECT_EQ(budget().epsilon_spent, 0.53);
  const Answer answer = ask(kSum);
  EXPECT_TRUE(answer.found[0].bounds.has_value());
  EXPECT_EQ(budget().epsilon_spent, 1.405);
}

// A question died between its search and its answer: what it reserved for the answer is less than
// the whole epsilon, and answers it.
TEST_F(AutomaticTest, TakesOverAnAnswerThatDied) {
  const std::string key = search_key(explain(kSum).automatic[0].search.rule);
  const test::ChildEnd end = test::run_in_child([&] {
    DyingSource bits(folder_ / "trips.ledger", key);
    plan::QueryOptions options;
    options.epsilon = 1;
    Session(policy_path()).query(kSum, options, "", bits);
    return 0;
  });
  ASSERT_EQ(end.status, kDied);
  EXPECT_EQ(budget().epsilon_spent, 1);
  EXPECT_EQ(budget().spends[0].state, "reserved");
  EXPECT_EQ(budget().spends[1].state, "settled");
  const Answer answer = ask(kSum);
  EXPECT_EQ(answer.columns[0].bounds, (catalog::Bounds{4, 64}));
  EXPECT_EQ(budget().epsilon_spent, 1);
  EXPECT_EQ(budget().spends[0].state, "settled");
}

}  // namespace
}  // namespace shoal::session
