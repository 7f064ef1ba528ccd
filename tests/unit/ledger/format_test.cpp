// Ledgers of older formats: they open, say what they said, cannot be changed unnoticed, and go on.
#include "support/ledger_requests.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

constexpr const char* kOld = "old-people";

class FormatTest : public ::testing::Test {
 protected:
  explicit FormatTest(const char* name = "ledger_format_1.sql") {
    std::ifstream file(test::source_folder() + "/tests/golden/" + name);
    run_sql(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  std::filesystem::path path() const { return folder_ / "ledger"; }

  void run_sql(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }

  std::optional<ErrorCode> opening() const {
    return code_of([&] { Ledger ledger(path()); });
  }

  static Request old_request(std::string key, privacy::Event event) {
    return {kOld,
            std::move(key),
            "digest",
            "SELECT COUNT(*) FROM people",
            "policy",
            {Epsilon(10), Delta(1e-6)},
            std::move(event)};
  }

  int user_version() const {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(handle, "PRAGMA user_version", -1, &statement, nullptr),
              SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const int version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return version;
  }

  // Changes entry 4 in one way after the other, and expects each to be noticed.
  void expect_changes_noticed(const std::vector<const char*>& changes) const {
    const std::filesystem::path copy = path().string() + ".copy";
    std::filesystem::copy_file(path(), copy);
    for (const char* change : changes) {
      run_sql("DROP TRIGGER entry_no_update; UPDATE entry SET " + std::string(change) +
              " WHERE seq = 4");
      EXPECT_EQ(opening(), ErrorCode::corrupt) << change;
      std::filesystem::copy_file(copy, path(), std::filesystem::copy_options::overwrite_existing);
    }
    EXPECT_EQ(opening(), std::nullopt);
  }

 private:
  TemporaryFolder folder_{Place::memory};
};

TEST_F(FormatTest, TheTotalIsWhatWasCharged) {
  Ledger ledger(path());
  const privacy::Charge total = ledger.total(kOld);
  EXPECT_EQ(total.epsilon_units, std::nullopt);
  EXPECT_EQ(total.rho_units, 250'345'939'140'443);
  EXPECT_EQ(total.delta_units, 0);
  EXPECT_EQ(total.gaussian_units, std::nullopt);  // not known of the old charges
  const auto account = ledger.account(kOld);
  ASSERT_TRUE(account.has_value());
  EXPECT_EQ(account->neighbors, Neighbors::replace_one);
  EXPECT_EQ(account->budget.failures, Delta(0));
  EXPECT_EQ(account->budget.rule, privacy::Rule::zcdp);
}

// The old sensitivities are those of replace_one: doubling them again would charge the count 1
// instead of 0.5.
TEST_F(FormatTest, OldEventsArePricedAsTheyWereMeant) {
  Ledger ledger(path());
  EXPECT_EQ(ledger.repriced_total(kOld).rho_units, ledger.total(kOld).rho_units);
  const std::vector<Spend> spends = ledger.spends(kOld);
  ASSERT_EQ(spends.size(), 3u);
  for (const Spend& spend : spends) EXPECT_EQ(spend.accountant, 1);
  EXPECT_EQ(spends[0].charge.epsilon_units, units(0.5));
}

TEST_F(FormatTest, NewSpendsFollowTheOldOnes) {
  {
    Ledger ledger(path());
    reserve(ledger, old_request("new", privacy::event::DiscreteLaplace{2, 1, 1}));
    reserve(ledger, old_request("doubled", privacy::event::DiscreteLaplace{4, 1}));
  }
  Ledger again(path());
  const std::vector<Spend> spends = again.spends(kOld);
  ASSERT_EQ(spends.size(), 5u);
  EXPECT_EQ(spends[3].accountant, privacy::kAccountantVersion);
  // A count under replace_one costs what it did before; without a replace_sensitivity it is
  // doubled.
  EXPECT_EQ(spends[3].charge.epsilon_units, spends[0].charge.epsilon_units);
  EXPECT_EQ(spends[3].charge.rho_units, spends[0].charge.rho_units);
  EXPECT_EQ(spends[4].charge.epsilon_units, units(0.5));
  EXPECT_EQ(again.total(kOld).rho_units, 250'345'939'140'443 + 2 * spends[0].charge.rho_units);
  EXPECT_EQ(again.repriced_total(kOld).rho_units, again.total(kOld).rho_units);
  again.cancel(reserve(again, old_request("given back", privacy::event::Pure{1})));
  EXPECT_EQ(opening(), std::nullopt);
}

TEST_F(FormatTest, AnOldReservationCanBeGivenTheAnswerItHas) {
  Ledger ledger(path());
  Request request =
      old_request("cedeef54e96b177598a2a17f947d14d8", privacy::event::DiscreteLaplace{2, 1, 1});
  request.digest = "eda91331440f357ac09f373a7749c7373b8c0d8c281f0a5f8d6b38359ebb7844";
  const auto answer = ledger.reserve(request);
  ASSERT_TRUE(std::holds_alternative<StoredAnswer>(answer));
  EXPECT_EQ(std::get<StoredAnswer>(answer).entry, 2);
}

TEST_F(FormatTest, OldEntriesAreHeldByTheChain) {
  ASSERT_EQ(opening(), std::nullopt);  // now it has the new columns
  expect_changes_noticed(
      {"rho_units = rho_units - 1", "epsilon_total = epsilon_total - 1", "body = body || ' '",
       "gaussian_units = 0", "delta_units = 0", "delta_total = 0", "gaussian_total = 0",
       "other_total = 0",
       "delta_units = 0, gaussian_units = 0, delta_total = 0, gaussian_total = 0, other_total = "
       "0"});
}

TEST_F(FormatTest, TheFileSaysThatItIsOfTheNewFormat) {
  EXPECT_EQ(user_version(), 1);
  ASSERT_EQ(opening(), std::nullopt);
  EXPECT_EQ(user_version(), 4);
}

class Format2Test : public FormatTest {
 protected:
  Format2Test() : FormatTest("ledger_format_2.sql") {}

  // As its entries were asked for.
  static Request request(const std::string& key, privacy::Event event) {
    Request request = old_request(key, std::move(event));
    request.digest = "digest of " + key;
    request.budget.failures = Delta(5e-7);
    return request;
  }
};

TEST_F(Format2Test, SaysWhatItSaid) {
  EXPECT_EQ(user_version(), 2);
  Ledger ledger(path());
  EXPECT_EQ(user_version(), 4);
  EXPECT_EQ(ledger.total(kOld).rho_units, 154'547'581'644'755);
  EXPECT_EQ(ledger.repriced_total(kOld), ledger.total(kOld));
  EXPECT_EQ(ledger.account(kOld)->budget.epsilon, Epsilon(8));
  EXPECT_EQ(ledger.stored(kOld, "count", "digest of count")->answer, "{\"answer\": 1}");
  std::vector<std::string> states;
  for (const Spend& spend : ledger.spends(kOld)) states.push_back(spend.state);
  EXPECT_EQ(states, (std::vector<std::string>{"settled", "cancelled", "settled", "reserved"}));
  EXPECT_TRUE(ledger.failures(kOld).empty());
}

TEST_F(Format2Test, GoesOnWithTheNewKinds) {
  {
    Ledger ledger(path());
    // Its process is gone: the reservation is taken over, and fails.
    privacy::Reservation open = reserve(ledger, request("open", privacy::event::Pure{0.25}));
    test::touch(open);
    ledger.settle_failure(std::move(open).spend(), "it failed");
    EXPECT_EQ(code_of([&] {
                ledger.reserve(request("count", privacy::event::DiscreteLaplace{2, 1, 1}));
              }),
              ErrorCode::refused_by_policy);
    ledger.reopen(kOld, "looked");
    ask(ledger, request("new", privacy::event::Pure{0.25}), "found");
  }
  Ledger again(path());
  EXPECT_EQ(again.spends(kOld).size(), 5u);
  EXPECT_EQ(again.spends(kOld)[3].state, "failed");
  EXPECT_EQ(again.repriced_total(kOld), again.total(kOld));
}

TEST_F(Format2Test, StillRefusesASecondSpendOfAKeyAndASecondClosing) {
  ASSERT_EQ(opening(), std::nullopt);
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
  for (const char* sql :
       {"UPDATE entry SET epsilon_total = 0", "DELETE FROM entry WHERE seq = 9",
        "INSERT INTO entry SELECT 10, time, lineage, kind, reservation, request_key, "
        "request_digest, holder, body, epsilon_units, rho_units, epsilon_total, rho_total, "
        "unbounded_total, hash, delta_units, gaussian_units, delta_total, gaussian_total, "
        "other_total FROM entry WHERE seq = 2",
        "INSERT INTO entry SELECT 10, time, lineage, 'fail', reservation, request_key, "
        "request_digest, holder, body, epsilon_units, rho_units, epsilon_total, rho_total, "
        "unbounded_total, hash, delta_units, gaussian_units, delta_total, gaussian_total, "
        "other_total FROM entry WHERE seq = 3"}) {
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_CONSTRAINT) << sql;
  }
  sqlite3_close(handle);
}

TEST_F(Format2Test, OldEntriesAreHeldByTheChain) {
  ASSERT_EQ(opening(), std::nullopt);
  expect_changes_noticed({"rho_units = rho_units - 1", "delta_total = 1", "body = body || ' '",
                          "gaussian_units = NULL", "kind = 'restore'", "delta_units = NULL"});
}

}  // namespace
}  // namespace shoal::ledger
