// The head: what a witness keeps of a ledger, and how an older copy or a shortened one is told.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

class HeadTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "ledger"; }

  void run_sql(const std::string& sql) const {
    sqlite3* handle = nullptr;
    sqlite3_open(path().c_str(), &handle);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(handle);
  }

  const TemporaryFolder folder_{Place::memory};
};

TEST_F(HeadTest, IsTheLastEntryThatIsOnDisk) {
  Ledger ledger(path());
  EXPECT_EQ(ledger.head(), Head{});
  ledger.open_account(account_of(1));
  EXPECT_EQ(ledger.head().seq, 1);
  auto held = reserve(ledger, request_of("a", 0.25));
  EXPECT_EQ(ledger.head().seq, 2);
  const Head reserved = ledger.head();
  settle(ledger, std::move(held), "{}");
  EXPECT_EQ(ledger.head().seq, 3);
  EXPECT_EQ(Ledger(path()).head(), ledger.head());
  EXPECT_TRUE(ledger.contains(reserved));
  EXPECT_TRUE(ledger.contains(ledger.head()));
}

TEST_F(HeadTest, StaysWhereItWasIfATransactionIsUndone) {
  Ledger ledger(path());
  ledger.open_account(account_of(1));
  const std::vector<Request> too_much = {request_of("a", 0.6), request_of("b", 0.5)};
  EXPECT_EQ(code_of([&] { ledger.reserve_together(too_much); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(ledger.head().seq, 1);
  ask(ledger, request_of("c", 0.5), "{}");
  EXPECT_EQ(Ledger(path()).head(), ledger.head());
}

TEST_F(HeadTest, GoesWithWhatOthersAppend) {
  Ledger ledger(path());
  ledger.open_account(account_of(1));
  Ledger other(path());
  ask(other, request_of("a", 0.25), "{}");
  EXPECT_EQ(ledger.head().seq, 1);
  EXPECT_TRUE(ledger.contains(other.head()));
  ask(ledger, request_of("b", 0.25), "{}");
  EXPECT_EQ(ledger.head().seq, 5);
}

TEST_F(HeadTest, AnOlderCopyDoesNotContainIt) {
  const std::filesystem::path copy = folder_ / "copy";
  {
    Ledger ledger(path());
    ledger.open_account(account_of(1));
  }
  std::filesystem::copy_file(path(), copy);
  Head head;
  {
    Ledger ledger(path());
    EXPECT_TRUE(ledger.contains(Head{}));
    ask(ledger, request_of("a", 0.25), "{}");
    head = ledger.head();
  }
  Ledger older(copy);
  EXPECT_FALSE(older.contains(head));
  // As many entries, but not these.
  ask(older, request_of("b", 0.25), "{}");
  EXPECT_EQ(older.head().seq, head.seq);
  EXPECT_FALSE(older.contains(head));
}

TEST_F(HeadTest, AnEntryThatKeptItsHashAloneIsNoticed) {
  Ledger ledger(path());
  ledger.open_account(account_of(1));
  ask(ledger, request_of("a", 0.25), "{}");
  const Head head = ledger.head();
  run_sql("DROP TRIGGER entry_no_update; UPDATE entry SET epsilon_total = 0 WHERE seq = 3");
  EXPECT_EQ(code_of([&] { ledger.contains(head); }), ErrorCode::corrupt);
}

}  // namespace
}  // namespace shoal::ledger
