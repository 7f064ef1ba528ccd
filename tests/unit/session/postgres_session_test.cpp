// The whole flow with the ledger on a server: `ledger = "postgresql:<schema>"` in the policy.
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/session/owner.hpp>
#include <shoal/session/session.hpp>

#include <gtest/gtest.h>

namespace shoal::session {
namespace {

class PostgresSession : public testing::Test {
 protected:
  void SetUp() override {
    server_.run("DROP SCHEMA IF EXISTS budgets CASCADE");
    std::string text = "id,age\n";
    for (int i = 0; i < 500; ++i) text += std::to_string(i) + "," + std::to_string(i % 100) + "\n";
    write_file_durably(folder_ / "people.csv", text, IfExists::refuse);
    InitRequest request;
    request.files = {folder_ / "people.csv"};
    request.delta = 0;
    request.ledger = "postgresql:budgets";
    init_policy(request);
  }

  // A key of its own each, so that each is paid.
  Answer ask(const char* key) const {
    plan::QueryOptions options;
    options.epsilon = 0.25;
    return Session(folder_ / "people.toml").query("SELECT COUNT(*) FROM people", options, key);
  }

  std::optional<ErrorCode> refusal(const char* key) const {
    try {
      ask(key);
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  }

  test::PostgresServer& server_ = test::PostgresServer::instance();
  test::TemporaryFolder folder_;
};

TEST_F(PostgresSession, SpendsOnTheServer) {
  const Session session(folder_ / "people.toml");
  EXPECT_FALSE(session.budget().opened);
  const Answer first = ask("a");
  EXPECT_EQ(to_json(ask("a")), to_json(first));
  ask("b");
  const BudgetReport report = session.budget();
  EXPECT_TRUE(report.opened);
  EXPECT_EQ(report.spends.size(), 2u);
  EXPECT_EQ(report.ledger, "postgresql:budgets");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "postgresql:budgets"));
  EXPECT_EQ(catalog::read_marks(folder_ / "people.csv").at(0).ledger, "postgresql:budgets");
  // Another policy over the same file shares the budget.
  InitRequest request;
  request.files = {folder_ / "people.csv"};
  request.output = folder_ / "again.toml";
  EXPECT_TRUE(init_policy(request).shared_budget);
  EXPECT_EQ(Session(folder_ / "again.toml").budget().spends.size(), 2u);
}

TEST_F(PostgresSession, ALedgerThatWasLostIsNoticed) {
  ask("a");
  server_.run("DROP SCHEMA budgets CASCADE");
  EXPECT_EQ(refusal("b"), ErrorCode::corrupt);
  EXPECT_THROW(Session(folder_ / "people.toml").budget(), Error);
  // One that was made anew does not know the budget either.
  ledger::Ledger made("postgresql:budgets");
  EXPECT_EQ(refusal("b"), ErrorCode::corrupt);
}

// A failover without the last commits, or an older dump that was restored.
TEST_F(PostgresSession, ALedgerWithoutItsLastEntryIsNoticed) {
  ask("a");
  ask("b");
  server_.run(
      "ALTER TABLE budgets.entry DISABLE TRIGGER ALL; "
      "DELETE FROM budgets.entry WHERE seq = (SELECT max(seq) FROM budgets.entry); "
      "ALTER TABLE budgets.entry ENABLE TRIGGER ALL");
  EXPECT_EQ(refusal("c"), ErrorCode::corrupt);
  EXPECT_EQ(refusal("a"), ErrorCode::corrupt);
}

TEST_F(PostgresSession, WithoutAServerNothingIsAnsweredOrSpent) {
  ask("a");
  const std::string port = std::getenv("PGPORT");
  ::setenv("PGPORT", "1", 1);
  EXPECT_EQ(refusal("b"), ErrorCode::unavailable);
  ::setenv("PGPORT", port.c_str(), 1);
  EXPECT_EQ(Session(folder_ / "people.toml").budget().spends.size(), 1u);
}

}  // namespace
}  // namespace shoal::session
