// Backups: one moment of a ledger in use, whole in one file.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

TEST(LedgerBackup, HasWhatIsInTheLogOfALedgerInUse) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger");
  ledger.open_account(account_of(1));
  for (int i = 0; i < 5; ++i) ask(ledger, request_of(std::to_string(i), 0.1), "answer");
  auto open = reserve(ledger, request_of("open", 0.25));
  Ledger(folder / "ledger").backup(folder / "backup");
  settle(ledger, std::move(open), "later");
  Ledger copy(folder / "backup");
  EXPECT_EQ(total_units(copy), units(0.75));
  EXPECT_EQ(copy.head().seq, ledger.head().seq - 1);
  EXPECT_EQ(copy.answered(request_of("3", 0.1))->answer, "answer");
  EXPECT_TRUE(ledger.contains(copy.head()));
  struct stat info {};
  ASSERT_EQ(::stat((folder / "backup").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(LedgerBackup, LeavesNothingBeside) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger");
  ledger.open_account(account_of(1));
  std::filesystem::create_directory(folder / "backups");
  ledger.backup(folder / "backups" / "one");
  std::ofstream(folder / "backups" / "two") << "mine";
  EXPECT_EQ(code_of([&] { ledger.backup(folder / "backups" / "two"); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { ledger.backup(folder / "missing" / "three"); }), ErrorCode::io);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "backups"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two"}));
}

// ---- when an answer may be seen ----

TEST(StoredAnswers, AreHiddenUntilTheirFirstAskerHasThem) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger");
  ledger.open_account(account_of(1));
  privacy::Reservation held = reserve(ledger, request_of("a", 0.1));
  test::touch(held);
  ledger.settle(std::move(held).spend(), "answer", std::chrono::milliseconds(200));
  const auto stored = Ledger(folder / "ledger").answered(request_of("a", 0.1));
  EXPECT_GT(stored->hidden_for, std::chrono::milliseconds(0));
  EXPECT_LE(stored->hidden_for, std::chrono::milliseconds(200));
  EXPECT_EQ(ledger.spends(kLineage)[0].state, "reserved");
  std::this_thread::sleep_for(stored->hidden_for + std::chrono::milliseconds(1));
  EXPECT_EQ(ledger.answered(request_of("a", 0.1))->hidden_for.count(), 0);
  EXPECT_EQ(ledger.spends(kLineage)[0].state, "settled");
}

}  // namespace
}  // namespace shoal::ledger
