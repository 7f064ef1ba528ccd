// Ledgers that stay open between uses: the same ledger as one that was opened anew.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;
namespace fs = std::filesystem;

class OpenLedgersTest : public ::testing::Test {
 protected:
  OpenLedgersTest() { options_.keep = keep_open(); }
  fs::path path() const { return folder_ / "ledger"; }
  fs::path side(const char* suffix) const { return path().string() + suffix; }

  const TemporaryFolder folder_{Place::memory};
  Options options_;
};

TEST_F(OpenLedgersTest, SeesWhatOthersAppendedMeanwhile) {
  Ledger(path(), options_).open_account(account_of(1));
  // Closed, the last one would have folded its log.
  EXPECT_TRUE(fs::exists(side("-wal")));
  {
    Ledger other(path());
    ask(other, request_of("a", 0.25), "other's");
  }
  Ledger ledger(path(), options_);
  EXPECT_EQ(total_units(ledger), units(0.25));
  EXPECT_EQ(ledger.answered(request_of("a", 0.25))->answer, "other's");
  ask(ledger, request_of("b", 0.25), "{}");
  EXPECT_EQ(Ledger(path()).verify(), ledger.head());
}

TEST_F(OpenLedgersTest, AFileThatWasReplacedUnderneathIsOpenedAnew) {
  {
    Ledger ledger(path(), options_);
    ledger.open_account(account_of(1));
    ask(ledger, request_of("a", 0.25), "{}");
  }
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::rename(side(suffix), side(suffix).string() + ".old");
  Ledger(path()).open_account(account_of(2));
  Ledger ledger(path(), options_);
  EXPECT_EQ(ledger.head().seq, 1);
  EXPECT_EQ(ledger.account(kLineage)->budget.epsilon, Epsilon(2));
}

TEST_F(OpenLedgersTest, AFileThatIsGoneIsNotFound) {
  Ledger(path(), options_).open_account(account_of(1));
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(side(suffix));
  Options existing = options_;
  existing.create = false;
  EXPECT_EQ(code_of([&] { Ledger(path(), existing); }), ErrorCode::not_found);
}

TEST_F(OpenLedgersTest, AForkedProcessOpensItsOwn) {
  Ledger(path(), options_).open_account(account_of(1));
  const ChildEnd end = run_in_child([&] {
    Ledger ledger(path(), options_);
    ask(ledger, request_of("a", 0.25), "{}");
    return 0;
  });
  EXPECT_EQ(end.status, 0);
  Ledger ledger(path(), options_);
  EXPECT_EQ(total_units(ledger), units(0.25));
}

TEST_F(OpenLedgersTest, OneThatReadsAloneIsNotGivenToWriters) {
  Ledger(path()).open_account(account_of(1));
  Options reading = options_;
  reading.read_only = true;
  fs::permissions(path(), fs::perms(0400));
  { Ledger ledger(path(), reading); }
  fs::permissions(path(), fs::perms(0600));
  Ledger ledger(path(), options_);
  EXPECT_EQ(code_of([&] { ask(ledger, request_of("a", 0.25), "{}"); }), std::nullopt);
}

}  // namespace
}  // namespace shoal::ledger
