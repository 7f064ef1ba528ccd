// Who opens a budget, with which terms, and which ledgers are believed: whatever the command, and
// in whatever order.
#include "session/account_ledger.hpp"

#include "support/child_process.hpp"
#include "support/code_of.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/session/adaptive_files.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/owner.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;
using test::code_of;

constexpr const char* kCount = "SELECT COUNT(*) FROM people";

class AccountLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream data(folder_ / "people.csv");
    data << "id,age\n";
    for (int i = 0; i < 200; ++i) data << i << "," << i % 90 << "\n";
  }

  static InitRequest request(const fs::path& data) {
    InitRequest request;
    request.files = {data};
    request.neighbors = Neighbors::replace_one;
    request.delta = 0;
    return request;
  }
  void init(double epsilon = 1) const {
    InitRequest asked = request(folder_ / "people.csv");
    asked.epsilon = epsilon;
    init_policy(asked);
  }
  fs::path policy_path() const { return folder_ / "people.toml"; }
  fs::path ledger_path() const { return folder_ / "people.ledger"; }

  void ask(double epsilon, const std::string& key = "") const {
    plan::QueryOptions options;
    options.epsilon = epsilon;
    Session(policy_path()).query(kCount, options, key);
  }
  void create_holdout(double epsilon, const std::string& name = "h.state",
                      const std::string& table = "people") const {
    session::create_holdout(folder_ / name,
                            {.rows = 200,
                             .questions = 5,
                             .disagreements = 2,
                             .confidence = Confidence(0.95),
                             .epsilon = Epsilon(epsilon)},
                            {policy_path(), table});
  }
  void create_watch(double epsilon, double budget, const std::string& name = "w.state") const {
    const mechanism::SparseGoal goal{
        .epsilon = Epsilon(epsilon),
        .sensitivity = {Sensitivity(1), mechanism::ScoreChange::two_sided}};
    const StreamPayment payment =
        file_payment(folder_ / "people.csv", "", "", {Epsilon(budget), Delta(0)}, "none.ledger");
    WatchFile::create(folder_ / name, mechanism::calibrate_sparse(goal), goal, "{}", payment);
  }
  void change(const std::string& from, const std::string& to) const {
    std::string policy = read_file(policy_path());
    policy.replace(policy.find(from), from.size(), to);
    write_file_durably(policy_path(), policy, IfExists::replace);
  }
  double spent() const { return Session(policy_path()).budget().epsilon_spent; }

  // Every command that spends from, or goes on with, the budget.
  std::vector<std::pair<std::string, std::function<void()>>> commands() const {
    return {{"query", [&] { ask(0.1, "new"); }},
            {"holdout create", [&] { create_holdout(0.1, "h2.state"); }},
            {"leaderboard create",
             [&] {
               create_leaderboard(folder_ / "b.state",
                                  {.rows = 200, .submissions = 5, .confidence = Confidence(0.95)},
                                  {policy_path()});
             }},
            {"watch create", [&] { create_watch(0.1, 0.1, "w2.state"); }},
            {"budget", [&] { Session(policy_path()).budget(); }},
            {"reopen", [&] { Session(policy_path()).reopen(""); }},
            {"accept", [&] { Session(policy_path()).accept_policy_budget(); }},
            {"init", [&] {
               InitRequest second = request(folder_ / "people.csv");
               second.output = folder_ / "second.toml";
               init_policy(second);
             }}};
  }
  void expect_corrupt(const std::string& why) const {
    for (const auto& [name, command] : commands())
      EXPECT_EQ(code_of(command), ErrorCode::corrupt) << why << ": " << name;
  }

  // Without its -wal, and with it.
  void copy_ledger(const fs::path& from, const fs::path& to) const {
    for (const char* part : {"", "-wal"}) {
      fs::remove(to.string() + part);
      if (fs::exists(from.string() + part)) fs::copy_file(from.string() + part, to.string() + part);
    }
    fs::remove(to.string() + "-shm");
  }

  test::TemporaryFolder folder_;
};

TEST_F(AccountLedgerTest, ALostBudgetIsOpenedByNoCommand) {
  init();
  ask(0.5);
  fs::remove(ledger_path());
  expect_corrupt("deleted");
  EXPECT_FALSE(fs::exists(ledger_path())) << "no command makes it";
  std::ofstream(ledger_path()).close();
  expect_corrupt("emptied");
  // One that other data share, without this budget.
  fs::remove(ledger_path());
  ledger::Ledger(ledger_path())
      .open_account({"others", {Epsilon(1), Delta(0)}, Neighbors::replace_one, "one row"});
  expect_corrupt("another");
}

// Of a policy with two tables, the one that was never asked about knows nothing of its own.
TEST_F(AccountLedgerTest, ALostBudgetIsNotOpenedThroughAnotherTable) {
  fs::copy_file(folder_ / "people.csv", folder_ / "others.csv");
  InitRequest both = request(folder_ / "people.csv");
  both.files.push_back(folder_ / "others.csv");
  init_policy(both);
  ask(1);
  fs::remove(ledger_path());
  plan::QueryOptions options;
  options.epsilon = 1;
  EXPECT_EQ(code_of([&] { Session(policy_path()).query("SELECT COUNT(*) FROM others", options); }),
            ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { create_holdout(0.1, "h.state", "others"); }), ErrorCode::corrupt);
}

TEST_F(AccountLedgerTest, AnOlderCopyIsRefused) {
  init();
  ask(0.25, "a");
  copy_ledger(ledger_path(), folder_ / "old");
  ask(0.25, "b");
  copy_ledger(ledger_path(), folder_ / "new");
  copy_ledger(folder_ / "old", ledger_path());
  expect_corrupt("an older copy");
  try {
    ask(0.1, "c");
  } catch (const Error& error) {
    for (const char* said : {"is behind its witness", "restore the newest", "-wal", "--new-budget"})
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
  }
  // One that went on from the old copy elsewhere, and is as long.
  ledger::Ledger forked(ledger_path());
  const auto account = *forked.account(Session(policy_path()).policy().lineage);
  for (int i = 0; i < 10; ++i) forked.change_budget(account.lineage, account.budget);
  expect_corrupt("a fork");
  copy_ledger(folder_ / "new", ledger_path());
  ask(0.1, "c");
  EXPECT_NEAR(spent(), 0.6, 1e-9);
}

// The turns of states are entries like any other.
TEST_F(AccountLedgerTest, AnOlderCopyIsRefusedAfterATurn) {
  init();
  create_holdout(0.5);
  const RowNumbers numbers{std::vector<double>(200, 0.5)};
  ask_holdout(folder_ / "h.state", 0.5, numbers);
  copy_ledger(ledger_path(), folder_ / "old");
  fs::copy_file(folder_ / "h.state", folder_ / "old.state");
  ask_holdout(folder_ / "h.state", 0.5, numbers);
  copy_ledger(folder_ / "old", ledger_path());
  for (const char* state : {"h.state", "old.state"}) {
    EXPECT_EQ(code_of([&] { ask_holdout(folder_ / state, 0.5, numbers); }), ErrorCode::corrupt);
    EXPECT_EQ(code_of([&] { holdout_status(folder_ / state); }), ErrorCode::corrupt);
  }
}

// A process that was killed leaves the last entries in the -wal file alone.
TEST_F(AccountLedgerTest, ALostOrDamagedWriteAheadLogIsNoticed) {
  init();
  ask(0.25, "a");
  test::run_in_child([&] {
    const ledger::Ledger reader(ledger_path());  // keeps the log from being folded in
    ask(0.25, "b");
    return ::raise(SIGKILL);
  });
  const fs::path log = ledger_path().string() + "-wal";
  ASSERT_GT(fs::file_size(log), 0U);
  copy_ledger(ledger_path(), folder_ / "kept");
  fs::remove(log);
  fs::remove(ledger_path().string() + "-shm");
  expect_corrupt("-wal deleted");
  int noticed = 0;
  for (std::uintmax_t at = 40; at < fs::file_size(folder_ / "kept-wal"); at += 997) {
    copy_ledger(folder_ / "kept", ledger_path());
    std::string bytes = read_file(log);
    bytes.at(at) ^= 1;
    write_file_durably(log, bytes, IfExists::replace);
    try {
      if (spent() < 0.5 - 1e-9) ADD_FAILURE() << "a spend was lost unnoticed, byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.what();
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 5);
  copy_ledger(folder_ / "kept", ledger_path());
  EXPECT_NEAR(spent(), 0.5, 1e-9);
}

TEST_F(AccountLedgerTest, AnEndThatWasCutOffIsNoticed) {
  init();
  ask(0.25, "a");
  ask(0.25, "b");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(ledger_path().c_str(), &database), SQLITE_OK);
  sqlite3_exec(database,
               "DROP TRIGGER entry_no_delete; DELETE FROM entry WHERE seq = (SELECT max(seq) FROM "
               "entry)",
               nullptr, nullptr, nullptr);
  sqlite3_close(database);
  expect_corrupt("the last entry cut off");
}

TEST_F(AccountLedgerTest, AWitnessThatIsGoneOrDamagedIsNoticedAndCanBeRenewed) {
  init();
  ask(0.25, "a");
  copy_ledger(ledger_path(), folder_ / "old");
  ask(0.25, "b");
  const std::string lineage = Session(policy_path()).policy().lineage;
  const fs::path witness = catalog::witness_path(folder_ / "people.csv", lineage);
  ASSERT_TRUE(fs::exists(witness));
  EXPECT_EQ(fs::status(witness).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::remove(witness);
  expect_corrupt("gone");
  Session(policy_path()).renew_witnesses();
  ask(0.1, "c");
  write_file_durably(witness, "damaged", IfExists::replace);
  expect_corrupt("damaged");
  Session(policy_path()).renew_witnesses();
  ask(0.1, "d");
  // One that can be read stays.
  copy_ledger(folder_ / "old", ledger_path());
  EXPECT_EQ(code_of([&] { Session(policy_path()).renew_witnesses(); }), ErrorCode::corrupt);
}

TEST_F(AccountLedgerTest, TheOwnersOwnWitnessIsKeptToo) {
  init();
  change("# witness = \"/mnt/other/people.witness\"", "witness = \"elsewhere/w\"");
  fs::create_directory(folder_ / "elsewhere");
  ask(0.25, "a");
  // Everything beside the data is put back.
  fs::create_directory(folder_ / "backup");
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.is_regular_file())
      fs::copy(entry.path(), folder_ / "backup" / entry.path().filename());
  ask(0.25, "b");
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.is_regular_file()) fs::remove(entry.path());
  for (const auto& entry : fs::directory_iterator(folder_ / "backup"))
    fs::copy(entry.path(), folder_ / entry.path().filename());
  // Whoever goes through the policy knows of it.
  for (const auto& [name, command] : commands()) {
    if (name == "watch create" || name == "init") continue;
    EXPECT_EQ(code_of(command), ErrorCode::corrupt) << name;
  }
}

TEST_F(AccountLedgerTest, AWitnessThatCannotBeWrittenIsKnownBeforeTheSpend) {
  init();
  change("# witness = \"/mnt/other/people.witness\"", "witness = \"elsewhere/w\"");
  EXPECT_EQ(code_of([&] { ask(0.25); }), ErrorCode::io);
  change("witness = \"elsewhere/w\"", "");
  EXPECT_NEAR(Session(policy_path()).budget().epsilon_spent, 0, 1e-12);
}

// Markers of earlier versions say neither the terms nor that there is a witness.
TEST_F(AccountLedgerTest, AnEarlierMarkerIsCompletedAtItsNextUse) {
  init();
  ask(0.25, "a");
  const fs::path data = folder_ / "people.csv";
  const std::string lineage = Session(policy_path()).policy().lineage;
  fs::remove(catalog::witness_path(data, lineage));
  write_file_durably(
      catalog::marker_path(data),
      fmt::format("[[budget]]\nlineage = \"{}\"\nledger = \"people.ledger\"\nopened = true\n",
                  lineage),
      IfExists::replace);
  EXPECT_NEAR(spent(), 0.25, 1e-9);
  ask(0.25, "b");
  const catalog::BudgetMark mark = catalog::read_marks(data).at(0);
  EXPECT_TRUE(mark.opened && mark.witnessed);
  ASSERT_TRUE(mark.terms.has_value());
  EXPECT_EQ(mark.terms->epsilon.value(), 1);
  EXPECT_TRUE(fs::exists(catalog::witness_path(data, lineage)));
}

TEST_F(AccountLedgerTest, NoOrderOfCommandsDecidesTheTotal) {
  init(1);
  EXPECT_EQ(code_of([&] { create_watch(0.5, 50); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { create_holdout(2); }), ErrorCode::budget_exceeded);
  // A policy that says more, or another thing.
  change("epsilon = 1.0", "epsilon = 50.0");
  EXPECT_EQ(code_of([&] { ask(0.1); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { create_holdout(0.1); }), ErrorCode::conflict);
  change("epsilon = 50.0", "epsilon = 0.5");
  create_watch(0.25, 0.25);
  ask(0.25);
  EXPECT_EQ(code_of([&] { ask(0.25, "more"); }), ErrorCode::budget_exceeded);
  // The account has the total of the marker; a policy that says less was no word of its owner.
  change("epsilon = 0.5", "epsilon = 1.0");
  ask(0.5, "again");
  EXPECT_NEAR(spent(), 1, 1e-9);
}

TEST_F(AccountLedgerTest, TheOwnerMayChangeTheTermsWhileNothingWasAsked) {
  init(1);
  change("epsilon = 1.0", "epsilon = 2.0");
  change("neighbors = \"replace_one\"", "neighbors = \"add_remove\"");
  Session(policy_path()).accept_policy_budget();
  ask(2);
  EXPECT_NEAR(spent(), 2, 1e-9);
}

TEST_F(AccountLedgerTest, InitMayReplaceTheTermsWhileNothingWasAsked) {
  init(1);
  InitRequest again = request(folder_ / "people.csv");
  again.epsilon = 3;
  again.person_column = "id";
  again.max_rows_per_person = 1;
  EXPECT_EQ(code_of([&] {
              InitRequest second = again;
              second.output = folder_ / "second.toml";
              init_policy(second);
            }),
            ErrorCode::conflict);
  again.replace = true;
  EXPECT_TRUE(init_policy(again).shared_budget);
  ask(3);
  EXPECT_EQ(Session(policy_path()).budget().unit, "one person (id)");
  EXPECT_NEAR(spent(), 3, 1e-9);
}

// Each of them finds no budget, and each has its own policy.
TEST_F(AccountLedgerTest, TwoInitsAtOnceMakeOneBudget) {
  for (int round = 0; round < 10; ++round) {
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
      children.push_back(test::start_child([&] {
        InitRequest mine = request(folder_ / "people.csv");
        mine.output = folder_ / fmt::format("p{}.toml", child);
        mine.replace = true;
        try {
          init_policy(mine);
        } catch (const Error& error) {
          return error.code() == ErrorCode::conflict ? 1 : 10;
        }
        return 0;
      }));
    }
    int refused = 0;
    for (const pid_t child : children) refused += test::wait_for_child(child).status;
    EXPECT_LE(refused, 1);
    EXPECT_EQ(catalog::read_marks(folder_ / "people.csv").size(), 1U);
    fs::remove(catalog::marker_path(folder_ / "people.csv"));
  }
}

// Two policies of two budgets, at the first question: one of them gets the data.
TEST_F(AccountLedgerTest, TwoFirstQuestionsAtOnceOpenOneBudget) {
  init();
  const std::string text = read_file(policy_path());
  const std::string lineage = Session(policy_path()).policy().lineage;
  for (int child = 0; child < 2; ++child) {
    std::string mine = text;
    mine.replace(mine.find(lineage), lineage.size(), fmt::format("lineage-{}", child));
    mine.replace(mine.find("people.ledger"), 13, fmt::format("l{}.ledger", child));
    write_file_durably(folder_ / fmt::format("p{}.toml", child), mine, IfExists::replace);
  }
  for (int round = 0; round < 10; ++round) {
    for (const char* name : {"people.csv.shoal", "l0.ledger", "l1.ledger"})
      fs::remove(folder_ / name);
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (entry.path().string().find(".witness-") != std::string::npos) fs::remove(entry);
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
      children.push_back(test::start_child([&] {
        plan::QueryOptions options;
        options.epsilon = 1;
        try {
          Session(folder_ / fmt::format("p{}.toml", child)).query(kCount, options);
        } catch (const Error& error) {
          return error.code() == ErrorCode::conflict ? 1 : 10;
        }
        return 0;
      }));
    }
    int refused = 0;
    for (const pid_t child : children) refused += test::wait_for_child(child).status;
    EXPECT_EQ(refused, 1);
  }
}

TEST_F(AccountLedgerTest, LookingWritesNothing) {
  init();
  ask(0.25);
  std::set<std::pair<std::string, fs::file_time_type>> before;
  const auto files = [&] {
    std::set<std::pair<std::string, fs::file_time_type>> all;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      all.insert({entry.path().string(), entry.last_write_time()});
    return all;
  };
  before = files();
  EXPECT_NEAR(spent(), 0.25, 1e-9);
  Session(policy_path()).failures();
  EXPECT_EQ(files(), before);
}

// A name is a name, also one that SQLite would read as a URI.
TEST_F(AccountLedgerTest, ALedgerCalledLikeAUriIsAFile) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const AccountTerms terms{{Epsilon(1), Delta(0), Neighbors::replace_one, "one row"}, Delta(0)};
  open_account({"stream", "file:l?mode=memory", {}}, terms);
  EXPECT_TRUE(fs::exists(folder_ / "file:l?mode=memory"));
  EXPECT_TRUE(existing_account({"stream", "file:l?mode=memory", {}}).has_value());
  fs::current_path(before);
}

}  // namespace
}  // namespace shoal::session
