// Tampering: whatever is changed in the file behind the ledger's back makes opening it fail.
//
// The chain has no secret: who rewrites every hash from some entry on, or puts an old copy back,
// is not noticed by it (docs/design/ledger.md). What it notices is everything less than that.
#include "ledger/sqlite_store.hpp"
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <vector>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

constexpr const char* kUnlock =
    "DROP TRIGGER entry_no_update; DROP TRIGGER entry_no_delete; PRAGMA ignore_check_constraints = "
    "ON;";

// Changes to the fields of an entry, one after the other.
std::vector<std::string> every_change() {
  return {"seq = seq + 100",
          "time = time || ' '",
          "lineage = lineage || 'x'",
          "kind = CASE kind WHEN 'resume' THEN 'budget' ELSE 'resume' END",
          "reservation = reservation + 1",
          "request_key = request_key || 'x'",
          "request_digest = request_digest || 'x'",
          "holder = holder || 'x'",
          "body = body || ' '",
          "epsilon_units = CASE WHEN epsilon_units IS NULL THEN 0 ELSE epsilon_units + 1 END",
          "epsilon_units = CASE WHEN epsilon_units IS NULL THEN 0 ELSE NULL END",
          "rho_units = rho_units + 1",
          "epsilon_total = epsilon_total + 1",
          "epsilon_total = epsilon_total - 1",
          "rho_total = rho_total - 1",
          "unbounded_total = unbounded_total + 1",
          "delta_units = delta_units + 1",
          "delta_units = NULL",
          "gaussian_units = CASE WHEN gaussian_units IS NULL THEN 0 ELSE gaussian_units + 1 END",
          "gaussian_units = CASE WHEN gaussian_units IS NULL THEN 0 ELSE NULL END",
          "delta_total = delta_total - 1",
          "delta_total = NULL",
          "gaussian_total = gaussian_total - 1",
          "gaussian_total = NULL",
          "other_total = other_total + 1",
          "other_total = NULL",
          "delta_units = NULL, gaussian_units = NULL, delta_total = NULL, gaussian_total = NULL, "
          "other_total = NULL",
          "hash = replace(replace(hash, '0', '1'), 'a', 'b')",
          "hash = upper(hash)",
          "hash = ''"};
}

class TamperTest : public ::testing::Test {
 protected:
  // Entries: 1 open, 2 reserve, 3 settle, 4 reserve, 5 cancel, 6 budget, 7 reserve, 8 settle, 9
  // reserve (Gaussian: no pure charge).
  TamperTest() {
    Ledger ledger(path());
    ledger.open_account(account_of(20, 1e-6));
    ask(ledger, request_of("a", 0.1), "{\"answer\": 1}");
    ledger.cancel(reserve(ledger, request_of("b", 0.2)));
    ledger.change_budget(kLineage, {Epsilon(10), Delta(1e-6)});
    ask(ledger, request_of("c", 0.3), "{\"answer\": 2}");
    Request gaussian = request_of("d", 0);
    gaussian.budget.delta = Delta(1e-6);
    gaussian.event = privacy::event::Zcdp{0.001};
    reserve(ledger, gaussian);
  }

  static constexpr int kEntries = 9;

  std::filesystem::path path() const { return folder_ / "ledger"; }

  int run_sql(const std::string& sql) const {
    sqlite3* handle = nullptr;
    sqlite3_open(path().c_str(), &handle);
    const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(handle);
    return code;
  }

  std::optional<ErrorCode> opening() const {
    return code_of([&] { Ledger ledger(path()); });
  }

  // Does it on the whole ledger, expects it to be noticed, and restores the file.
  void expect_noticed(const std::string& sql) const {
    const std::filesystem::path copy = folder_ / "copy";
    const auto replace = std::filesystem::copy_options::overwrite_existing;
    ASSERT_EQ(opening(), std::nullopt) << "before " << sql;
    std::filesystem::copy_file(path(), copy, replace);
    ASSERT_EQ(run_sql(kUnlock + sql), SQLITE_OK) << sql;
    EXPECT_EQ(opening(), ErrorCode::corrupt) << sql;
    std::filesystem::copy_file(copy, path(), replace);
  }

  // The entry, changed, with a hash that fits it.
  void rewrite(std::int64_t seq, const std::function<void(Entry&)>& change) const {
    Connection connection(path(), Access::write, "", 1000);
    connection.run(kUnlock);
    std::vector<Entry> entries;
    {
      Statement all(connection, "SELECT * FROM entry ORDER BY seq");
      while (all.step()) entries.push_back(read_entry(all));
    }
    std::string previous;
    for (Entry& entry : entries) {
      if (entry.seq == seq) change(entry);
      if (entry.seq >= seq) {
        entry.hash = entry_hash(entry, previous);
        write_back(connection, entry);
      }
      previous = entry.hash;
    }
  }

 private:
  static void write_back(Connection& connection, const Entry& entry) {
    Statement update(connection,
                     "UPDATE entry SET kind = ?2, lineage = ?3, reservation = ?4, "
                     "epsilon_units = ?5, epsilon_total = ?6, hash = ?7, body = ?8 WHERE seq = ?1");
    update.bind(1, entry.seq).bind(2, entry.kind).bind(3, entry.lineage);
    update.bind(4, entry.reservation);
    update.bind(5, entry.charge.epsilon_units);
    update.bind(6, entry.totals.epsilon_units).bind(7, entry.hash).bind(8, entry.body);
    update.step();
  }

  TemporaryFolder folder_{Place::memory};
};

TEST_F(TamperTest, SqlAloneCannotChangeAnEntry) {
  for (const char* sql :
       {"UPDATE entry SET epsilon_total = 0", "UPDATE entry SET body = '{}' WHERE seq = 3",
        "DELETE FROM entry", "DELETE FROM entry WHERE seq = 9",
        "INSERT INTO entry SELECT 0, time, lineage, 'budget', 0, '', '', '', body, NULL, 0, 0, 0, "
        "0, hash, 0, 0, 0, 0, 0 FROM entry WHERE seq = 1"}) {
    EXPECT_EQ(run_sql(sql), SQLITE_CONSTRAINT) << sql;
  }
  EXPECT_EQ(opening(), std::nullopt);
}

TEST_F(TamperTest, SqlAloneCannotAddASecondSpendOrAnswerOfAKey) {
  for (const char* seq : {"2", "3", "5"}) {
    EXPECT_EQ(
        run_sql(std::string("INSERT INTO entry SELECT 10, time, lineage, kind, reservation, "
                            "request_key, request_digest, holder, body, epsilon_units, rho_units, "
                            "epsilon_total, rho_total, unbounded_total, hash, delta_units, "
                            "gaussian_units, delta_total, gaussian_total, other_total FROM entry "
                            "WHERE seq = ") +
                seq),
        SQLITE_CONSTRAINT)
        << seq;
  }
}

TEST_F(TamperTest, EveryFieldOfEveryEntryIsHeldByTheChain) {
  for (int seq = 1; seq <= kEntries; ++seq) {
    for (const std::string& change : every_change()) {
      expect_noticed("UPDATE entry SET " + change + " WHERE seq = " + std::to_string(seq));
    }
  }
}

TEST_F(TamperTest, AMissingEntryIsNoticed) {
  for (int seq = 1; seq < kEntries; ++seq) {
    const std::string at = std::to_string(seq);
    expect_noticed("DELETE FROM entry WHERE seq = " + at);
    expect_noticed("DELETE FROM entry WHERE seq = " + at +
                   "; UPDATE entry SET seq = -seq WHERE seq > " + at +
                   "; UPDATE entry SET seq = -seq - 1 WHERE seq < 0");
  }
}

TEST_F(TamperTest, SwappedEntriesAreNoticed) {
  for (int seq = 1; seq < kEntries; ++seq) {
    const std::string at = std::to_string(seq);
    const std::string next = std::to_string(seq + 1);
    expect_noticed("UPDATE entry SET seq = 0 WHERE seq = " + at + "; UPDATE entry SET seq = " + at +
                   " WHERE seq = " + next + "; UPDATE entry SET seq = " + next + " WHERE seq = 0");
  }
}

TEST_F(TamperTest, ConsistentlySmallerTotalsAreNoticed) {
  expect_noticed(
      "UPDATE entry SET epsilon_units = epsilon_units - 1 WHERE seq = 2; "
      "UPDATE entry SET epsilon_total = epsilon_total - 1 WHERE seq >= 2");
}

TEST_F(TamperTest, AnAppendedEntryIsNoticed) {
  const std::string columns =
      "time, lineage, kind, reservation, 'forged', request_digest, holder, body, epsilon_units, "
      "rho_units, epsilon_total, rho_total, unbounded_total, hash, delta_units, gaussian_units, "
      "delta_total, gaussian_total, other_total FROM entry WHERE seq = ";
  for (const char* seq : {"1", "6"}) {
    expect_noticed(std::string("INSERT INTO entry SELECT 10, ") + columns + seq);
    expect_noticed(std::string("INSERT INTO entry SELECT 0, ") + columns + seq);
    expect_noticed(std::string("INSERT INTO entry SELECT -5, ") + columns + seq);
  }
}

// Even with hashes that fit, an entry must say what the entries before it add up to.
TEST_F(TamperTest, AHashThatFitsDoesNotMakeASumRight) {
  rewrite(9, [](Entry& entry) { entry.totals.epsilon_units -= 1; });
  EXPECT_EQ(opening(), ErrorCode::corrupt);
}

TEST_F(TamperTest, AHashThatFitsDoesNotMakeAChargeDisappear) {
  rewrite(7, [](Entry& entry) { entry.charge.epsilon_units = 1; });
  EXPECT_EQ(opening(), ErrorCode::corrupt);
}

TEST_F(TamperTest, AHashThatFitsDoesNotCloseAReservationTwice) {
  rewrite(5, [](Entry& entry) { entry.reservation = 99; });
  EXPECT_EQ(opening(), ErrorCode::corrupt);
}

TEST_F(TamperTest, AHashThatFitsDoesNotCancelAnotherLineagesSpend) {
  rewrite(5, [](Entry& entry) {
    entry.lineage = "other";
    entry.totals = {};
    entry.totals.epsilon_units = -units(0.2);
  });
  EXPECT_EQ(opening(), ErrorCode::corrupt);
}

// The older format has no delta and no Gaussian charge: an entry cannot go back to it.
TEST_F(TamperTest, AHashThatFitsDoesNotMakeAnEntryOlder) {
  rewrite(9, [](Entry& entry) { entry.format = 1; });
  ASSERT_EQ(run_sql("UPDATE entry SET delta_units = NULL, gaussian_units = NULL, delta_total = "
                    "NULL, gaussian_total = NULL, other_total = NULL WHERE seq = 9"),
            SQLITE_OK);
  EXPECT_EQ(opening(), ErrorCode::corrupt);
}

TEST_F(TamperTest, AnOpenLedgerNoticesWhatIsAppended) {
  Ledger ledger(path());
  ASSERT_EQ(
      run_sql("INSERT INTO entry SELECT 10, time, lineage, 'budget', 0, '', '', '', "
              "'{\"epsilon\":100,\"delta\":0,\"neighbors\":\"add_remove\",\"unit\":\"a row of "
              "people\"}', NULL, 0, 0, 0, 0, hash, 0, NULL, 0, 0, 0 FROM entry WHERE seq = 1"),
      SQLITE_OK);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("new", 0.1)); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { ledger.total(kLineage); }), ErrorCode::corrupt);
}

// ---- below the last checkpoint ----

// Opening starts at the last checkpoint. What is older is noticed when it is used, and by verify().
class OldEntryTest : public TamperTest {
 protected:
  OldEntryTest() {
    std::filesystem::remove(path());
    Ledger ledger(path(), often());
    ledger.open_account(account_of(20, 1e-6));
    ask(ledger, request_of("a", 0.1), "first");
    ledger.cancel(reserve(ledger, request_of("b", 0.2)));
    ask(ledger, request_of("c", 0.3), "second");
    run_in_child([&] {
      Ledger dying(path(), often());
      reserve(dying, request_of("left", 0.25));
      ask(dying, request_of("gone", 0.25), "given");
      return 0;
    });
    for (int i = 0; i < 4; ++i) ask(ledger, request_of(std::to_string(i), 0.01), "{}");
    entries_ = static_cast<int>(ledger.head().seq);
  }

  static Options often() {
    Options options;
    options.checkpoint_every = 4;
    return options;
  }

  std::optional<ErrorCode> verifying() const {
    return code_of([&] { Ledger(path(), often()).verify(); });
  }

  int entry_of(const std::string& kind, const std::string& key) const {
    Connection connection(path(), Access::write, "", 1000);
    Statement row(connection, "SELECT seq FROM entry WHERE kind = ?1 AND request_key = ?2");
    row.bind(1, std::string_view(kind)).bind(2, std::string_view(key));
    return row.step() ? static_cast<int>(row.integer(0)) : 0;
  }

  int entries_ = 0;
};

TEST_F(OldEntryTest, OpeningReadsNothingOlderThanTheLastCheckpoint) {
  EXPECT_EQ(run_sql(std::string(kUnlock) + "UPDATE entry SET time = 'never' WHERE seq = 3"), 0);
  EXPECT_EQ(code_of([&] {
              Ledger ledger(path(), often());
              ledger.total(kLineage);
              ask(ledger, request_of("new", 0.1), "{}");
            }),
            std::nullopt);
  EXPECT_EQ(verifying(), ErrorCode::corrupt);
}

TEST_F(OldEntryTest, VerifyingNoticesEveryChangeOfEveryEntry) {
  const std::filesystem::path copy = path().string() + ".copy";
  ASSERT_EQ(verifying(), std::nullopt);
  std::filesystem::copy_file(path(), copy);
  std::vector<std::string> changes;
  for (const std::string& change : every_change()) changes.push_back("UPDATE entry SET " + change);
  changes.emplace_back("DELETE FROM entry");
  for (int seq = 1; seq <= entries_; ++seq) {
    for (const std::string& change : changes) {
      // A ledger whose last entries were cut off is whole: Ledger::contains() is for that.
      if (seq == entries_ && change.starts_with("DELETE")) continue;
      ASSERT_EQ(run_sql(kUnlock + change + " WHERE seq = " + std::to_string(seq)), SQLITE_OK);
      EXPECT_EQ(verifying(), ErrorCode::corrupt) << change << " at " << seq;
      std::filesystem::copy_file(copy, path(), std::filesystem::copy_options::overwrite_existing);
    }
  }
}

TEST_F(OldEntryTest, AnAnswerThatWasChangedIsNotGivenAgain) {
  const std::string at = std::to_string(entry_of("settle", "a"));
  ASSERT_EQ(run_sql(kUnlock +
                    ("UPDATE entry SET body = replace(body, 'first', 'other') WHERE seq = " + at)),
            0);
  Ledger ledger(path(), often());
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("a", 0.1)); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { ledger.answered(request_of("a", 0.1)); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { ledger.spends(kLineage); }), ErrorCode::corrupt);
  EXPECT_EQ(std::get<StoredAnswer>(ledger.reserve(request_of("c", 0.3))).answer, "second");
}

TEST_F(OldEntryTest, AnAccountThatWasChangedIsNotUsed) {
  ASSERT_EQ(run_sql(std::string(kUnlock) +
                    "UPDATE entry SET body = replace(body, '20.0', '90.0') WHERE kind = 'open'"),
            0);
  Ledger ledger(path(), often());
  EXPECT_EQ(code_of([&] { ledger.account(kLineage); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("new", 0.1)); }), ErrorCode::corrupt);
}

// Without its closing, a reservation looks as if its process had died before it had an answer.
TEST_F(OldEntryTest, ASpendWhoseAnswerWasRemovedIsNotAnsweredAgain) {
  const std::string at = std::to_string(entry_of("settle", "gone"));
  ASSERT_EQ(run_sql(kUnlock + ("DELETE FROM entry WHERE seq = " + at)), 0);
  Ledger ledger(path(), often());
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("gone", 0.25)); }), ErrorCode::corrupt);
}

TEST_F(OldEntryTest, AnOldReservationIsTakenOverOnceAndSettled) {
  Ledger ledger(path(), often());
  EXPECT_EQ(ask(ledger, request_of("left", 0.25), "late").answer, "late");
  EXPECT_EQ(std::get<StoredAnswer>(ledger.reserve(request_of("left", 0.25))).answer, "late");
  EXPECT_EQ(verifying(), std::nullopt);
}

TEST_F(OldEntryTest, ACheckpointSaysWhatTheEntriesBeforeItSay) {
  const std::filesystem::path copy = path().string() + ".copy";
  std::filesystem::copy_file(path(), copy);
  for (const char* change : {"\"spends\":4|\"spends\":3", "\"account\":1|\"account\":0",
                             "\"failures\":[]|\"failures\":[3]", "\"totals\":[6|\"totals\":[9"}) {
    const std::string both = change;
    const std::size_t bar = both.find('|');
    rewrite(entry_of("checkpoint", "") + 5, [&](Entry& entry) {
      ASSERT_EQ(entry.kind, "checkpoint");
      const std::size_t at = entry.body.find(both.substr(0, bar));
      ASSERT_NE(at, std::string::npos) << entry.body;
      entry.body.replace(at, bar, both.substr(bar + 1));
    });
    EXPECT_EQ(verifying(), ErrorCode::corrupt) << change;
    std::filesystem::copy_file(copy, path(), std::filesystem::copy_options::overwrite_existing);
  }
}

}  // namespace
}  // namespace shoal::ledger
