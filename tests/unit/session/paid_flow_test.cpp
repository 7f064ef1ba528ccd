// The paid flow: whatever the work throws, the asker gets one error, the spend stands, the ledger
// knows of the failure, and only the owner's log has the reason.
#include "session/paid_flow.hpp"

#include "support/file_faults.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::session {
namespace {

constexpr const char* kSecret = "the row of Ann";

class PaidFlowTest : public testing::Test {
 protected:
  void SetUp() override { ledger_.open_account(test::account_of(100)); }

  // Parts with these keys, reserved together; enough failures are allowed for the test to go on.
  std::vector<ledger::Reserved> reserve(const std::vector<std::string>& keys) {
    std::vector<ledger::Request> requests;
    for (const std::string& key : keys) {
      requests.push_back(test::request_of(key, 1));
      requests.back().max_failures = 1000;
    }
    return ledger_.reserve_together(requests);
  }

  PaidFlow flow(const std::vector<std::string>& keys) {
    return PaidFlow(account_, log_, clock_, "a test failed", reserve(keys));
  }

  static PaidWork done(privacy::Reservation&& reservation, std::string answer) {
    return {std::move(reservation).spend(), std::move(answer)};
  }

  // What the asker sees of a work that throws.
  std::string told(const std::string& key, const std::function<void()>& thrower) {
    PaidFlow one = flow({key});
    try {
      one.run(0, [&](privacy::Reservation&& reservation) {
        thrower();
        return done(std::move(reservation), "never");
      });
    } catch (const Error& error) {
      return std::string(error_door(error.code()).name) + ": " + error.what();
    }
    return "nothing was thrown";
  }

  std::string state_of(const std::string& key) {
    for (const ledger::Spend& spend : ledger_.spends(test::kLineage)) {
      if (spend.request_key == key) return spend.state;
    }
    return "none";
  }

  test::TemporaryFolder folder_;
  catalog::Witness witness_{folder_ / "witness", test::kLineage};
  AccountLedger account_{ledger::Ledger(folder_ / "ledger"), {Epsilon(100), Delta(0)}, {witness_}};
  ledger::Ledger& ledger_ = account_.ledger();
  OwnerLog log_{folder_ / "owner.log"};
  AnswerClock clock_{0};
};

struct NoException {};

TEST_F(PaidFlowTest, AnAnswerIsStoredAndGivenAgain) {
  PaidFlow first = flow({"k"});
  EXPECT_FALSE(first.known(0));
  const ledger::StoredAnswer stored = first.run(
      0, [&](privacy::Reservation&& reservation) { return done(std::move(reservation), "42"); });
  EXPECT_EQ(stored.answer, "42");
  PaidFlow again = flow({"k"});
  EXPECT_TRUE(again.known(0));
  int runs = 0;
  const auto count = [&](privacy::Reservation&& reservation) {
    ++runs;
    return done(std::move(reservation), "43");
  };
  EXPECT_EQ(again.run(0, count).answer, "42");
  EXPECT_EQ(runs, 0);
}

// Answers, repeated answers and failures: the witness has the last entry before any of them leaves.
TEST_F(PaidFlowTest, TheWitnessKnowsOfWhatLeaves) {
  PaidFlow first = flow({"k"});
  first.run(0,
            [&](privacy::Reservation&& reservation) { return done(std::move(reservation), "42"); });
  EXPECT_FALSE(witness_.read().has_value()) << "nothing has left yet";
  first.finish();
  EXPECT_EQ(witness_.read()->number, ledger_.head().seq);
  EXPECT_EQ(witness_.read()->hash, ledger_.head().hash);
  std::filesystem::remove(witness_.file());
  flow({"k"}).finish();
  EXPECT_EQ(witness_.read()->number, ledger_.head().seq);
  told("f", [] { throw std::runtime_error(kSecret); });
  EXPECT_EQ(witness_.read()->number, ledger_.head().seq);
}

// It is stored, so that the same request gives it again.
TEST_F(PaidFlowTest, AnAnswerThatNoWitnessKnowsOfDoesNotLeave) {
  PaidFlow one = flow({"k"});
  one.run(0,
          [&](privacy::Reservation&& reservation) { return done(std::move(reservation), "42"); });
  {
    const test::FileFault full(0, test::FileFault::Kind::fails);
    EXPECT_EQ(test::code_of([&] { one.finish(); }), ErrorCode::io);
  }
  PaidFlow again = flow({"k"});
  EXPECT_EQ(again.run(0, {}).answer, "42");
  again.finish();
}

TEST_F(PaidFlowTest, WhateverIsThrownIsToldAlike) {
  const std::string expected = "internal: " + std::string(kFailedSentence);
  const std::pair<const char*, std::function<void()>> kinds[] = {
      {"std", [] { throw std::runtime_error(kSecret); }},
      {"not_found", [] { throw Error(ErrorCode::not_found, kSecret); }},
      {"budget", [] { throw Error(ErrorCode::budget_exceeded, kSecret); }},
      {"conflict", [] { throw Error(ErrorCode::conflict, kSecret); }},
      {"memory", [] { throw std::bad_alloc(); }},
      {"logic", [] { std::vector<int>().at(3); }},
      {"number", [] { throw 7; }},
      {"own", [] { throw NoException{}; }},
      {"check", [] { SHOAL_CHECK(false); }}};
  for (const auto& [key, thrower] : kinds) {
    EXPECT_EQ(told(key, thrower), expected) << key;
    EXPECT_EQ(state_of(key), "failed") << key;
  }
  EXPECT_EQ(ledger_.failures(test::kLineage).size(), std::size(kinds));
  EXPECT_EQ(test::total_units(ledger_), test::units(1) * static_cast<long long>(std::size(kinds)));
  const std::string log = read_file(log_.path());
  EXPECT_NE(log.find(kSecret), std::string::npos) << "the owner learns the reason";
}

// The work may have given its reservation up before it throws, as release does.
TEST_F(PaidFlowTest, AFailureBehindTheNoiseIsSettledToo) {
  PaidFlow one = flow({"k"});
  EXPECT_EQ(test::code_of([&] {
              one.run(0, [&](privacy::Reservation&& reservation) -> PaidWork {
                const privacy::SpentReservation gone = std::move(reservation).spend();
                throw std::runtime_error(kSecret);
              });
            }),
            ErrorCode::internal);
  EXPECT_EQ(state_of("k"), "failed");
}

// Settling is a step like any other: here the ledger's folder is gone when the answer is stored.
TEST_F(PaidFlowTest, AFailureToSettleIsToldAlike) {
  PaidFlow one = flow({"k"});
  const auto too_late = [&](privacy::Reservation&& reservation) {
    ledger_ = ledger::Ledger(folder_ / "another ledger");
    return done(std::move(reservation), "42");
  };
  try {
    one.run(0, too_late);
    ADD_FAILURE() << "an answer left that is stored nowhere";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), kFailedSentence);
  }
  ledger::Ledger first(folder_ / "ledger");
  EXPECT_EQ(test::total_units(first), test::units(1)) << "what is not settled stays spent";
}

TEST_F(PaidFlowTest, AStoredFailureIsToldAgainUnpaid) {
  EXPECT_NE(told("k", [] { throw 1; }).find(kFailedSentence), std::string::npos);
  const auto before = test::total_units(ledger_);
  PaidFlow again = flow({"k"});
  ASSERT_TRUE(again.known(0));
  EXPECT_NE(again.run(0, {}).answer.find(kFailedSentence), std::string::npos);
  EXPECT_EQ(test::total_units(ledger_), before);
}

TEST_F(PaidFlowTest, PartsThatWereNotRunFailWithTheOneThatDid) {
  PaidFlow parts = flow({"answer", "search", "other search"});
  EXPECT_EQ(
      test::code_of([&] { parts.run(1, [](privacy::Reservation&&) -> PaidWork { throw 1; }); }),
      ErrorCode::internal);
  EXPECT_EQ(state_of("search"), "failed");
  // They are spent, and one failure is counted once.
  EXPECT_EQ(state_of("answer"), "settled");
  EXPECT_EQ(state_of("other search"), "settled");
  EXPECT_EQ(ledger_.failures(test::kLineage).size(), 1U);
  EXPECT_EQ(test::total_units(ledger_), test::units(1) * 3);
  EXPECT_NE(flow({"answer"}).run(0, {}).answer.find(kFailedSentence), std::string::npos);
}

TEST_F(PaidFlowTest, APartThatWasNotRunCanBeGivenBack) {
  PaidFlow parts = flow({"answer", "search"});
  parts.run(
      1, [&](privacy::Reservation&& reservation) { return done(std::move(reservation), "found"); });
  parts.give_back(0);
  EXPECT_EQ(state_of("answer"), "cancelled");
  EXPECT_EQ(test::total_units(ledger_), test::units(1));
}

TEST_F(PaidFlowTest, AFailureClosesTheDataSet) {
  EXPECT_NE(told("k", [] { throw 1; }).find(kFailedSentence), std::string::npos);
  for (const char* key : {"k", "another"}) {
    try {
      ledger_.reserve(test::request_of(key, 1));
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::refused_by_policy);
      EXPECT_EQ(std::string(error.what()), ledger::kClosedSentence);
    }
  }
  ledger_.reopen(test::kLineage, "looked");
  EXPECT_NO_THROW(ledger_.reserve(test::request_of("another", 1)));
}

// Answers and failures leave at a point of the grid: 8, 16, 32, ... milliseconds after the start.
TEST_F(PaidFlowTest, AFailureLeavesOnTheGrid) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  const AnswerClock clock(1);
  PaidFlow one(account_, log_, clock, "a test failed", reserve({"k"}));
  EXPECT_EQ(test::code_of([&] { one.run(0, [](privacy::Reservation&&) -> PaidWork { throw 1; }); }),
            ErrorCode::internal);
  const double took = Seconds(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(took, 0.008);
}

// The points after 0.6 seconds are 1.024, 2.048, ...: far enough from the end of such a work.
void work_for_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }

// Somebody who asks the key beside its asker would see when the work ended.
TEST_F(PaidFlowTest, AnAnswerIsHiddenUntilThePointAtWhichItLeaves) {
  const auto start = std::chrono::steady_clock::now();
  const AnswerClock clock(1);
  PaidFlow one(account_, log_, clock, "a test failed", reserve({"k"}));
  one.run(0, [&](privacy::Reservation&& reservation) {
    work_for_a_while();
    return done(std::move(reservation), "42");
  });
  EXPECT_GT(ledger_.answered(test::request_of("k", 1))->hidden_for, std::chrono::microseconds(0));
  EXPECT_EQ(state_of("k"), "reserved");
  PaidFlow beside(account_, log_, clock, "a test failed", reserve({"k"}));
  EXPECT_EQ(beside.run(0, {}).answer, "42");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1023));
  EXPECT_EQ(ledger_.answered(test::request_of("k", 1))->hidden_for.count(), 0);
  EXPECT_EQ(state_of("k"), "settled");
}

TEST_F(PaidFlowTest, AFailureIsHiddenUntilThePointAtWhichItLeaves) {
  const AnswerClock clock(1);
  std::chrono::microseconds hidden{0};
  PaidFlow one(account_, log_, clock, "a test failed", reserve({"k"}));
  std::thread beside([&] {
    ledger::Ledger other(folder_ / "ledger");
    ledger::Request request = test::request_of("k", 1);
    request.max_failures = 1000;
    for (int i = 0; i < 5000 && hidden.count() == 0; ++i) {
      if (const auto stored = other.answered(request)) hidden = stored->hidden_for;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(test::code_of([&] {
              one.run(0, [](privacy::Reservation&&) -> PaidWork {
                work_for_a_while();
                throw 1;
              });
            }),
            ErrorCode::internal);
  beside.join();
  EXPECT_GT(hidden.count(), 0);
}

}  // namespace
}  // namespace shoal::session
