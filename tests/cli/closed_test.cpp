// A data set that a failure closed: every command that would read private data is refused with one
// sentence and spends nothing, whatever it asks, until the owner reopens it.
#include "support/ledger_requests.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/ledger/ledger.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using test::Ran;

class ClosedDataSet : public testing::Test {
 protected:
  void SetUp() override {
    std::string rows = "x,y\n";
    std::string ones = "p\n";
    for (int i = 0; i < 3000; ++i) {
      rows += i % 3 == 0 ? "0.5,1\n" : "-0.5,0\n";
      ones += "1\n";
    }
    write_file_durably(folder_ / "data.csv", rows, IfExists::refuse);
    write_file_durably(folder_ / "ones.csv", ones, IfExists::refuse);
    run("shoal init data.csv --neighbors replace_one --epsilon 100 --delta 1e-5");
    run("sed -i '/column.x/,/^$/ s/# bounds = .*/bounds = [-1, 1]/' data.toml");
    run("sed -i '/column.y/,/^$/ s/# bounds = .*/categories = [0, 1]/' data.toml");
    run(kStored);
    run("shoal holdout create h.state --policy data.toml --questions 5 --epsilon 1");
    run("shoal leaderboard create b.state --policy data.toml --submissions 5 --epsilon 1");
  }

  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }
  void run(const std::string& line) {
    const Ran ran = shell(line);
    ASSERT_EQ(ran.status, 0) << line << "\n" << ran.errors;
  }

  // As a request leaves the ledger whose work threw something.
  void fail_once() {
    const catalog::Policy policy = catalog::load_policy(folder_ / "data.toml");
    ledger::Ledger ledger(policy.ledger_place());
    ledger::Request request = test::request_of(fmt::format("failing {}", ++failures_), 0.001);
    request.lineage = policy.lineage;
    request.budget = {policy.epsilon, policy.delta, policy.failures_share()};
    request.max_failures = 1000;
    privacy::Reservation reservation = test::reserve(ledger, request);
    test::touch(reservation);
    ledger.settle_failure(std::move(reservation).spend(), "{}");
  }

  double spent() {
    const Ran ran = shell("shoal budget data.toml --format json");
    EXPECT_EQ(ran.status, 0) << ran.errors;
    return nlohmann::json::parse(ran.output).at("epsilon_spent").get<double>();
  }

  static constexpr const char* kStored =
      "shoal query data.toml 'SELECT COUNT(*) FROM data' --epsilon 0.1";

  test::TemporaryFolder folder_;
  int failures_ = 0;
};

// Every way to ask for something private; the first was answered before.
const std::vector<std::string>& requests() {
  static const std::vector<std::string> all = {
      "shoal query data.toml 'SELECT COUNT(*) FROM data' --epsilon 0.1",
      "shoal query data.toml 'SELECT COUNT(*) FROM data' --epsilon 0.1 --key mine",
      "shoal query data.toml 'SELECT SUM(x) FROM data WHERE y = 1' --epsilon 0.2",
      "shoal query data.toml 'SELECT AVG(x, bounds => AUTO) FROM data' --epsilon 8",
      "shoal query data.toml 'SELECT COUNT(*) FROM data GROUP BY x' --epsilon 0.5 --delta 1e-6",
      "echo 'SELECT COUNT(*) FROM data' | shoal shell data.toml --epsilon 0.1",
      "shoal train data.toml --target y --epsilon 1 -o model.json",
      "shoal train data.toml --target x --model mean --epsilon 1 -o mean.json",
      "shoal train data.toml --target y --epsilon 1 --evaluate-epsilon 0.5 -o evaluated.json",
      "shoal synthesize data.toml --epsilon 1 --delta 1e-6 -o synthetic.csv",
      "shoal holdout create other.state --policy data.toml --questions 5 --epsilon 1",
      "shoal holdout ask h.state --train-value 0.5 --marginal y=1",
      "shoal holdout ask h.state --train-value 0.5 --predictions ones.csv --label y",
      "shoal leaderboard create other.board --policy data.toml --submissions 5 --epsilon 1",
      "shoal leaderboard submit b.state --predictions ones.csv --label y --name one",
  };
  return all;
}

TEST_F(ClosedDataSet, EveryRequestIsRefusedInOneSentenceUntilItIsReopened) {
  fail_once();
  const double before = spent();
  for (const std::string& request : requests()) {
    const Ran ran = shell(request);
    EXPECT_EQ(ran.status, error_door(ErrorCode::refused_by_policy).exit_status) << request << "\n"
                                                                                << ran.errors;
    EXPECT_EQ(ran.errors, fmt::format("shoal: refused_by_policy: {}\n", ledger::kClosedSentence))
        << request;
    EXPECT_EQ(ran.output, "") << request;
  }
  EXPECT_EQ(spent(), before);
  for (const char* made : {"model.json", "synthetic.csv", "other.state", "other.board"})
    EXPECT_FALSE(std::filesystem::exists(folder_ / made)) << made;
  // Plans read no private data, and what was spent may be known.
  EXPECT_EQ(shell("shoal explain data.toml 'SELECT COUNT(*) FROM data' --epsilon 1").status, 0);

  const Ran asked = shell("shoal reopen data.toml </dev/null");
  EXPECT_EQ(asked.status, error_door(ErrorCode::invalid_argument).exit_status);
  EXPECT_NE(asked.output.find("1 request failed since the data set was last opened"),
            std::string::npos)
      << asked.output;
  run("shoal reopen data.toml --yes --note 'looked at it'");
  for (const std::string& request : requests()) {
    const Ran ran = shell(request);
    EXPECT_EQ(ran.status, 0) << request << "\n" << ran.errors;
  }
}

TEST_F(ClosedDataSet, ThePolicySaysHowManyFailuresCloseIt) {
  run("sed -i 's/^\\[budget\\]/[budget]\\nmax_failures = 2/' data.toml");
  fail_once();
  run(kStored);
  run("shoal train data.toml --target y --epsilon 1 -o model.json");
  run("shoal holdout ask h.state --train-value 0.5 --marginal y=1");
  fail_once();
  const Ran ran = shell(kStored);
  EXPECT_NE(ran.errors.find(ledger::kClosedSentence), std::string::npos) << ran.errors;
}

}  // namespace
}  // namespace shoal
