// States are paid for when made and go through each turn once, whatever is copied or crashes.
#include "session/guarded_state.hpp"

#include "support/child_process.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;

class GuardedState : public testing::Test {
 protected:
  NewState request(double epsilon = 1) const {
    NewState state;
    state.file = file();
    state.place = {"data-1", folder_.path() / "l.ledger", {}};
    state.terms = {{Epsilon(2), Delta(0), Neighbors::replace_one, "one row"}, Delta(0)};
    state.kind = "holdout";
    state.description = "a holdout";
    state.event = privacy::event::Pure{epsilon};
    state.max_failures = 1000;
    return state;
  }
  fs::path file() const { return folder_.path() / "h.state"; }
  void create(const NewState& state, const std::function<std::string()>& make) const {
    create_state(state, OwnerLog(folder_.path() / "log"), AnswerClock(0), make);
  }
  void create() const {
    create(request(), [] { return std::string(R"({"n": 0})"); });
  }
  // Whether the state gives a turn.
  bool is_usable() const {
    try {
      StateTurn(file(), "holdout", 1000);
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::conflict || error.code() == ErrorCode::not_found)
          << error.what();
      return false;
    }
  }
  double spent() const {
    if (!fs::exists(folder_.path() / "l.ledger")) return 0;
    ledger::Ledger ledger(folder_.path() / "l.ledger");
    return static_cast<double>(*ledger.total("data-1").epsilon_units) * 1e-12;
  }
  template <class Action>
  static ErrorCode code(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  }

  test::TemporaryFolder folder_;
};

TEST_F(GuardedState, IsPaidForWhenItIsMade) {
  create();
  EXPECT_DOUBLE_EQ(spent(), 1);
  for (int i = 1; i <= 3; ++i) {
    StateTurn turn(file(), "holdout");
    turn.finish("{\"n\": " + std::to_string(i) + "}");
  }
  EXPECT_DOUBLE_EQ(spent(), 1);
  EXPECT_EQ(read_state(file(), "holdout").state, R"({"n":3})");
  EXPECT_EQ(read_state(file(), "holdout").turn, 3);
}

TEST_F(GuardedState, WhatFailsCostsNothing) {
  EXPECT_EQ(code([&] { create(request(3), [] { return std::string("{}"); }); }),
            ErrorCode::budget_exceeded);
  EXPECT_THROW(create(request(), []() -> std::string { throw Error(ErrorCode::io, "no bits"); }),
               Error);
  EXPECT_DOUBLE_EQ(spent(), 0);
  NewState nowhere = request();
  nowhere.file = folder_.path() / "missing" / "h.state";
  EXPECT_THROW(create(nowhere, [] { return std::string("{}"); }), Error);
  EXPECT_DOUBLE_EQ(spent(), 0);
  create();
  EXPECT_EQ(code([&] { create(); }), ErrorCode::conflict);
  EXPECT_DOUBLE_EQ(spent(), 1);
}

// A folder that can be entered and written and not read, such as a drop box, takes the state's name
// and cannot be made durable.
TEST_F(GuardedState, AFolderThatCannotBeSyncedCostsNothing) {
  const test::FileFault unreadable(0, test::FileFault::Kind::fails, "sync folder");
  EXPECT_EQ(code([&] { create(); }), ErrorCode::io);
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_DOUBLE_EQ(spent(), 0);
}

// Whatever fails on the way, and wherever the process ends: a state that can be used was paid for,
// and the next one that is made leaves nothing of it behind.
TEST_F(GuardedState, AStateExistsOnlyIfItsSpendDoes) {
  using Kind = test::FileFault::Kind;
  for (const Kind kind : {Kind::fails, Kind::ends_the_process}) {
    int usable = 0;
    for (int at = 0;; ++at) {
      const test::ChildEnd end = test::run_in_child([&] {
        const test::FileFault fault(at, kind);
        try {
          create();
        } catch (const Error&) {
          return 1;
        }
        return fault.steps() > at ? 2 : 0;
      });
      const bool was_usable = fs::exists(file()) && is_usable();
      usable += was_usable ? 1 : 0;
      if (was_usable) {
        EXPECT_DOUBLE_EQ(spent(), 1) << "step " << at;
      }
      if (end.status == 1 || end.signal == SIGKILL) {
        EXPECT_FALSE(was_usable) << "step " << at;
      }
      for (const auto& entry : fs::directory_iterator(folder_.path())) fs::remove(entry);
      if (end.status == 0) break;
      ASSERT_LT(at, 100);
    }
    EXPECT_EQ(usable, 1) << "the one that nothing happened to";
  }
}

TEST_F(GuardedState, ThatIsLeftBehindUnfinishedIsRemovedByTheNext) {
  test::run_in_child([&] {
    const test::FileFault fault(0, test::FileFault::Kind::ends_the_process, "name");
    create();
    return 0;
  });
  create();
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
}

TEST_F(GuardedState, OfALedgerThatDoesNotKnowItIsRefused) {
  create();
  fs::remove(folder_.path() / "l.ledger");
  NewState other = request();
  other.file = folder_.path() / "other.state";
  create(other, [] { return std::string("{}"); });
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::conflict);
  EXPECT_EQ(code([&] { read_paid_state(file(), "holdout"); }), ErrorCode::conflict);
}

TEST_F(GuardedState, IsReadableByItsOwnerAlone) {
  create();
  StateTurn(file(), "holdout").finish("{}");
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// An attempt whose process was taken for dead writes beside the one that took over: neither moves
// what the other wrote.
TEST_F(GuardedState, AnAttemptOfAnotherIsNotMoved) {
  create();
  const std::string old = read_file(file());
  {
    StateTurn turn(file(), "holdout");
    write_file_durably(file().string() + ".next-1", "another's", IfExists::replace);
    turn.finish(R"({"n": 1})");
  }
  EXPECT_EQ(read_state(file(), "holdout").state, R"({"n":1})");
  { const StateTurn next(file(), "holdout"); }
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find(".next-1"), std::string::npos) << entry.path();
}

TEST_F(GuardedState, TwoOfOneTotalShareIt) {
  create();
  NewState other = request(1.5);
  other.file = folder_.path() / "other.state";
  EXPECT_EQ(code([&] { create(other, [] { return std::string("{}"); }); }),
            ErrorCode::budget_exceeded);
}

TEST_F(GuardedState, ACopyIsRefused) {
  create();
  const std::string copy = read_file(file());
  { StateTurn(file(), "holdout").finish(R"({"n": 1})"); }
  const fs::path second = folder_.path() / "copy.state";
  write_file_durably(second, copy, IfExists::refuse);
  EXPECT_EQ(code([&] { StateTurn(second, "holdout"); }), ErrorCode::conflict);
  // Put back over the new one: the same.
  write_file_durably(file(), copy, IfExists::replace);
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::conflict);
}

TEST_F(GuardedState, OneTurnAtATime) {
  create();
  const StateTurn first(file(), "holdout");
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::unavailable);
}

TEST_F(GuardedState, AnUnfinishedTurnChangesNothing) {
  create();
  { const StateTurn turn(file(), "holdout"); }
  EXPECT_EQ(read_state(file(), "holdout").state, R"({"n":0})");
  StateTurn(file(), "holdout").finish(R"({"n": 1})");
  EXPECT_EQ(read_state(file(), "holdout").state, R"({"n":1})");
}

// A crash after the settlement and before the new file was moved into place.
TEST_F(GuardedState, ACrashAfterTheTurnWasSettledLosesNothing) {
  create();
  const std::string old = read_file(file());
  { StateTurn(file(), "holdout").finish(R"({"n": 1})"); }
  const std::string next = read_file(file());
  write_file_durably(file(), old, IfExists::replace);
  write_file_durably(file().string() + ".next-1", next, IfExists::replace);
  StateTurn turn(file(), "holdout");
  EXPECT_EQ(turn.info().state, R"({"n":1})");
  turn.finish(R"({"n": 2})");
  EXPECT_EQ(read_state(file(), "holdout").turn, 2);
}

// A crash before the settlement: what lies beside is no state whose answers left.
TEST_F(GuardedState, AFileBesideThatWasNotSettledIsNotUsed) {
  create();
  const std::string old = read_file(file());
  { StateTurn(file(), "holdout").finish(R"({"n": 1})"); }
  std::string forged = read_file(file());
  forged.replace(forged.find("\"n\":1"), 5, "\"n\":9");
  write_file_durably(file(), old, IfExists::replace);
  write_file_durably(file().string() + ".next-1", forged, IfExists::replace);
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::conflict);
}

// Nor is a file in place that is not what its last turn was settled with.
TEST_F(GuardedState, AChangedFileIsRefused) {
  create();
  { StateTurn(file(), "holdout").finish(R"({"n": 1})"); }
  std::string changed = read_file(file());
  changed.replace(changed.find("\"n\":1"), 5, "\"n\":0");
  write_file_durably(file(), changed, IfExists::replace);
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::conflict);
}

TEST_F(GuardedState, OtherFilesAreRefused) {
  create();
  EXPECT_EQ(code([&] { StateTurn(file(), "leaderboard"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code([&] { StateTurn(folder_.path() / "none", "holdout"); }), ErrorCode::not_found);
  write_file_durably(folder_.path() / "bad", "{}", IfExists::refuse);
  EXPECT_EQ(code([&] { StateTurn(folder_.path() / "bad", "holdout"); }), ErrorCode::corrupt);
  fs::remove(folder_.path() / "l.ledger");
  EXPECT_EQ(code([&] { StateTurn(file(), "holdout"); }), ErrorCode::not_found);
}

}  // namespace
}  // namespace shoal::session
