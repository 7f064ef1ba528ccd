// The ledger killed at every operation on its files: before it, after it, in the middle of a write,
// and by power loss. A child runs a fixed script and notes, in a journal of its own, what it was
// about to do, what returned, and which answers left. After each crash the parent opens the ledger
// and compares.
//
// Always: it opens; every spend whose reserve() had returned is there; nothing is there that was
// not asked for; every answer that left is stored, byte for byte, and asking again gives it unpaid;
// no key has two answers or two spends.
//
// No alarm here is due to chance: what power loss keeps is drawn from fixed seeds.
#include "support/child_process.hpp"
#include "support/crash_vfs.hpp"
#include "support/ledger_requests.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

constexpr double kBudget = 10;

// ---- the journal ----

// Lines "<word> <key>", each on disk when note() returns.
class Journal {
 public:
  explicit Journal(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() { ::close(fd_); }

  void note(const std::string& word, const std::string& key) const {
    const std::string line = word + " " + key + "\n";
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("cannot write the journal");
  }

 private:
  int fd_;
};

using Notes = std::map<std::string, std::set<std::string>>;  // word: keys

Notes read_notes(const std::filesystem::path& path) {
  Notes notes;
  std::ifstream stream(path);
  std::string word;
  std::string key;
  while (stream >> word >> key) notes[word].insert(key);
  return notes;
}

// ---- the script ----

// Each key has a cost of its own, and an answer of its own, long enough to need several pages.
double cost_of(const std::string& key) { return 0.001 * (1 + key.back() - 'a'); }
Request ask_for(const std::string& key) { return request_of(key, cost_of(key)); }
std::string answer_of(const std::string& key) { return "answer of " + std::string(1500, key[0]); }

privacy::Reservation reserve_noted(Ledger& ledger, const Journal& journal, const std::string& key) {
  journal.note("begun", key);
  privacy::Reservation reservation = reserve(ledger, ask_for(key));
  journal.note("reserved", key);
  return reservation;
}

void ask_noted(Ledger& ledger, const Journal& journal, const std::string& key) {
  settle(ledger, reserve_noted(ledger, journal, key), answer_of(key));
  journal.note("left", key);
}

void cancel_noted(Ledger& ledger, const Journal& journal, const std::string& key) {
  privacy::Reservation reservation = reserve_noted(ledger, journal, key);
  journal.note("cancelling", key);
  ledger.cancel(std::move(reservation));
  journal.note("cancelled", key);
}

// How long the log grows before it is folded into the file while in use: the default is never
// reached here.
constexpr int kDefaultPages = 1000;
constexpr int kFewPages = 12;

sqlite3* last_opened = nullptr;

int remember_opened(sqlite3* handle, char** /*message*/, const void* /*routines*/) {
  last_opened = handle;
  return SQLITE_OK;
}

Ledger open_folding(const std::filesystem::path& path, int pages) {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(remember_opened));
  Options options;
  options.vfs = crash_vfs();
  options.checkpoint_every = 3;
  Ledger ledger(path, options);
  sqlite3_wal_autocheckpoint(last_opened, pages);
  return ledger;
}

void run_script(const std::filesystem::path& path, int pages, const Journal& journal) {
  {
    Ledger ledger = open_folding(path, pages);
    ledger.open_account(account_of(kBudget));
    ask_noted(ledger, journal, "a");
    cancel_noted(ledger, journal, "b");
    ask_noted(ledger, journal, "c");
  }  // closing folds the log into the file and removes it
  Ledger ledger = open_folding(path, pages);
  Ledger other = open_folding(path, pages);
  ask_noted(other, journal, "d");
  reserve_noted(ledger, journal, "e");  // never settled
  ledger.change_budget(kLineage, {Epsilon(kBudget), Delta(0)});
  if (std::get<StoredAnswer>(ledger.reserve(ask_for("a"))).answer != answer_of("a"))
    throw std::runtime_error("another answer");
  ask_noted(ledger, journal, "f");
}

// ---- what must hold after a crash ----

class Verifier {
 public:
  Verifier(const std::filesystem::path& path, const Notes& notes) : path_(path), notes_(notes) {}

  void verify() {
    expect_sound_database();
    Ledger ledger(path_);
    EXPECT_EQ(ledger.verify(), ledger.head());
    expect_spends(ledger);
    expect_answers(ledger);
    finish(ledger);
    Ledger again(path_);
    EXPECT_EQ(again.verify(), again.head());
    EXPECT_EQ(again.total(kLineage), ledger.total(kLineage));
    expect_answers(again);
  }

 private:
  const std::set<std::string>& noted(const char* word) { return notes_[word]; }

  void expect_sound_database() const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, nullptr);
    ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW) << sqlite3_errmsg(handle);
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(handle);
  }

  void expect_spends(Ledger& ledger) {
    std::int64_t total = 0;
    for (const Spend& spend : ledger.spends(kLineage)) {
      const auto [place, is_first] = state_of_.emplace(spend.request_key, spend.state);
      EXPECT_TRUE(is_first) << "two spends of " << spend.request_key;
      EXPECT_TRUE(noted("begun").contains(spend.request_key)) << spend.request_key;
      EXPECT_EQ(spend.charge,
                privacy::price(ask_for(spend.request_key).event, Neighbors::add_remove));
      if (spend.state == "cancelled") {
        EXPECT_TRUE(noted("cancelling").contains(spend.request_key));
      } else {
        total += units(cost_of(spend.request_key));
      }
    }
    for (const std::string& key : noted("reserved"))
      EXPECT_TRUE(state_of_.contains(key)) << "the spend of " << key << " is lost";
    for (const std::string& key : noted("left")) EXPECT_EQ(state_of_[key], "settled") << key;
    for (const std::string& key : noted("cancelled")) EXPECT_EQ(state_of_[key], "cancelled") << key;
    EXPECT_EQ(total_units(ledger), total);
    EXPECT_EQ(ledger.repriced_total(kLineage), ledger.total(kLineage));
  }

  void expect_answers(Ledger& ledger) {
    const privacy::Charge before = ledger.total(kLineage);
    for (const std::string& key : noted("left")) {
      const auto result = ledger.reserve(ask_for(key));
      const auto* stored = std::get_if<StoredAnswer>(&result);
      ASSERT_NE(stored, nullptr) << "the answer of " << key << " is lost";
      EXPECT_TRUE(stored->answer == answer_of(key)) << "another answer of " << key;
    }
    EXPECT_EQ(ledger.total(kLineage), before);
  }

  // Every request goes on as if nothing had been: paid once, answered once.
  void finish(Ledger& ledger) {
    ledger.open_account(account_of(kBudget));
    for (const std::string& key : noted("begun")) {
      if (noted("cancelling").contains(key)) continue;
      const bool was_there = state_of_.contains(key);
      const std::int64_t before = total_units(ledger);
      auto result = ledger.reserve(ask_for(key));
      EXPECT_EQ(total_units(ledger), before + (was_there ? 0 : units(cost_of(key)))) << key;
      if (std::holds_alternative<privacy::Reservation>(result)) {
        EXPECT_FALSE(noted("left").contains(key));
        settle(ledger, std::get<privacy::Reservation>(std::move(result)), answer_of(key));
      }
      notes_["left"].insert(key);
    }
    for (const std::string& key : noted("cancelled")) {
      EXPECT_EQ(code_of([&] { ledger.reserve(ask_for(key)); }), ErrorCode::conflict) << key;
    }
  }

  std::filesystem::path path_;
  Notes notes_;
  std::map<std::string, std::string> state_of_;  // of each key, as found
};

// ---- the sweep ----

struct Sweep {
  Fault fault = Fault::none;
  std::uint64_t seed = 0;
  int pages = kDefaultPages;
  bool crash_again = false;  // at some operation of the next opening, too

  // Runs the script with a fault at every operation in turn until it comes through; returns the
  // number of operations.
  int run() const {
    for (int at = 1; at < 5000; ++at) {
      SCOPED_TRACE("crash at operation " + std::to_string(at));
      const TemporaryFolder folder(Place::memory);
      const ChildEnd end = crash_in_child(
          at, [&] { run_script(folder / "ledger", pages, Journal(folder / "journal")); });
      if (crash_again) crash_in_child(1 + at % 40, [&] { open_folding(folder / "ledger", pages); });
      Verifier(folder / "ledger", read_notes(folder / "journal")).verify();
      if (end.status == 0) return at - 1;
      if (::testing::Test::HasFailure()) return 0;
    }
    ADD_FAILURE() << "the script never came through";
    return 0;
  }

 private:
  template <typename Action>
  ChildEnd crash_in_child(int at, Action&& action) const {
    const ChildEnd end = run_in_child([&] {
      plan_crash({fault, at, seed + static_cast<std::uint64_t>(at)});
      action();
      return 0;
    });
    EXPECT_TRUE(end.status == 0 || end.signal == SIGKILL) << "the script failed by itself";
    return end;
  }
};

constexpr std::uint64_t kNextSeed = 1'000'000;

TEST(CrashSweep, KilledBeforeEveryOperation) {
  EXPECT_GT((Sweep{Fault::kill_before, 0}.run()), 100);
}

TEST(CrashSweep, KilledAfterEveryOperation) { EXPECT_GT((Sweep{Fault::kill_after, 0}.run()), 100); }

TEST(CrashSweep, KilledInTheMiddleOfEveryWrite) {
  EXPECT_GT((Sweep{Fault::kill_half, 0}.run()), 100);
}

TEST(CrashSweep, KilledAgainWhileRecovering) {
  EXPECT_GT((Sweep{Fault::kill_half, 0, kDefaultPages, true}.run()), 100);
}

TEST(CrashSweep, PowerLostAfterEveryOperation) {
  for (std::uint64_t i = 0; i < 5 && !HasFailure(); ++i)
    EXPECT_GT((Sweep{Fault::power_loss, i * kNextSeed}.run()), 50);
}

TEST(CrashSweep, PowerLostAgainWhileRecovering) {
  for (std::uint64_t i = 5; i < 7 && !HasFailure(); ++i)
    EXPECT_GT((Sweep{Fault::power_loss, i * kNextSeed, kDefaultPages, true}.run()), 50);
}

TEST(CrashSweep, KilledWhileTheLogIsFoldedIntoTheFile) {
  EXPECT_GT((Sweep{Fault::kill_half, 0, kFewPages}.run()), 150);
}

TEST(CrashSweep, PowerLostWhileTheLogIsFoldedIntoTheFile) {
  for (std::uint64_t i = 7; i < 10 && !HasFailure(); ++i)
    EXPECT_GT((Sweep{Fault::power_loss, i * kNextSeed, kFewPages}.run()), 100);
}

// ---- a file of format 1 ----

void write_old_ledger(const std::filesystem::path& path) {
  std::ifstream file(test::source_folder() + "/tests/golden/ledger_format_1.sql");
  const std::string sql(std::istreambuf_iterator<char>(file), {});
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
}

// Opened, and so brought up to date, and spent from, with a fault at every operation in turn.
// Returns the number of operations.
int sweep_old_ledger(Fault fault, std::uint64_t seed) {
  constexpr const char* kOld = "old-people";
  for (int at = 1; at < 5000; ++at) {
    SCOPED_TRACE("crash at operation " + std::to_string(at));
    const TemporaryFolder folder(Place::memory);
    write_old_ledger(folder / "ledger");
    Request request = request_of("new", 0.25);
    request.lineage = kOld;
    request.budget.delta = Delta(1e-6);
    const ChildEnd end = run_in_child([&] {
      plan_crash({fault, at, seed + static_cast<std::uint64_t>(at)});
      const Journal journal(folder / "journal");
      Ledger ledger = open_folding(folder / "ledger", kDefaultPages);
      reserve(ledger, request);
      journal.note("reserved", "new");
      return 0;
    });
    EXPECT_TRUE(end.status == 0 || end.signal == SIGKILL) << "the script failed by itself";
    Ledger ledger(folder / "ledger");
    const std::size_t spends = ledger.spends(kOld).size();
    EXPECT_TRUE(spends == 4 || (spends == 3 && read_notes(folder / "journal")["reserved"].empty()));
    const std::int64_t old_rho = 250'345'939'140'443;
    const std::int64_t new_rho = privacy::price(request.event, Neighbors::replace_one).rho_units;
    EXPECT_EQ(ledger.total(kOld).rho_units, old_rho + (spends == 4 ? new_rho : 0));
    EXPECT_EQ(ledger.repriced_total(kOld).rho_units, ledger.total(kOld).rho_units);
    if (end.status == 0) return at - 1;
    if (::testing::Test::HasFailure()) return 0;
  }
  ADD_FAILURE() << "the script never came through";
  return 0;
}

TEST(CrashSweep, KilledWhileAnOldFileIsBroughtUpToDate) {
  EXPECT_GT(sweep_old_ledger(Fault::kill_half, 0), 20);
}

TEST(CrashSweep, PowerLostWhileAnOldFileIsBroughtUpToDate) {
  for (std::uint64_t i = 10; i < 13 && !HasFailure(); ++i)
    EXPECT_GT(sweep_old_ledger(Fault::power_loss, i * kNextSeed), 10);
}

}  // namespace
}  // namespace shoal::ledger
