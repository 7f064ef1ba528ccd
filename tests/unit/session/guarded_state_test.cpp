// States are paid for when made and go through each turn once, whatever is copied or crashes.
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/session/guarded_state.hpp>

#include <gtest/gtest.h>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;

class GuardedState : public testing::Test {
 protected:
  NewState request(double epsilon = 1) const {
    return {file(),
            folder_.path() / "l.ledger",
            "data-1",
            {Epsilon(2), Delta(0)},
            "one row",
            "holdout",
            "{}",
            "a holdout",
            privacy::event::Pure{epsilon}};
  }
  fs::path file() const { return folder_.path() / "h.state"; }
  void create() const {
    create_state(request(), [] { return std::string(R"({"n": 0})"); });
  }
  double spent() const {
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
  EXPECT_EQ(code([&] { create_state(request(3), [] { return std::string("{}"); }); }),
            ErrorCode::budget_exceeded);
  EXPECT_THROW(
      create_state(request(), []() -> std::string { throw Error(ErrorCode::io, "no bits"); }),
      Error);
  EXPECT_DOUBLE_EQ(spent(), 0);
  NewState nowhere = request();
  nowhere.file = folder_.path() / "missing" / "h.state";
  EXPECT_THROW(create_state(nowhere, [] { return std::string("{}"); }), Error);
  EXPECT_DOUBLE_EQ(spent(), 0);
  create();
  EXPECT_EQ(code([&] { create(); }), ErrorCode::conflict);
  EXPECT_DOUBLE_EQ(spent(), 1);
}

TEST_F(GuardedState, TwoOfOneTotalShareIt) {
  create();
  NewState other = request(1.5);
  other.file = folder_.path() / "other.state";
  EXPECT_EQ(code([&] { create_state(other, [] { return std::string("{}"); }); }),
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
