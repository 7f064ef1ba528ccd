// The breaker: failures close a lineage to every request until its owner reopens it.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

class BreakerTest : public ::testing::Test {
 protected:
  BreakerTest() { ledger_.open_account(account_of(10)); }

  StoredAnswer fail(const std::string& key, int max_failures = 1) {
    Request request = request_of(key, 0.5);
    request.max_failures = max_failures;
    privacy::Reservation reservation = reserve(ledger_, request);
    test::touch(reservation);
    return ledger_.settle_failure(std::move(reservation).spend(), "it failed");
  }

  // The error that a request meets; none if it is reserved or answered.
  std::optional<Error> refusal(const Request& request) {
    try {
      ledger_.reserve(request);
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }

  static Request asked(const std::string& key, int max_failures = 1) {
    Request request = request_of(key, 0.25);
    request.max_failures = max_failures;
    return request;
  }

  void expect_closed(const Request& request) {
    const auto error = refusal(request);
    ASSERT_TRUE(error.has_value()) << request.key;
    EXPECT_EQ(error->code(), ErrorCode::refused_by_policy);
    EXPECT_EQ(error->what(), kClosedSentence);
  }

  TemporaryFolder folder_{Place::memory};
  Ledger ledger_{folder_ / "ledger"};
};

TEST_F(BreakerTest, OneFailureClosesToEveryRequest) {
  ask(ledger_, request_of("answered", 0.25), "found");
  const privacy::Reservation open = reserve(ledger_, request_of("open", 0.25));
  EXPECT_FALSE(ledger_.is_closed(kLineage, 1));
  EXPECT_EQ(fail("bad").answer, "it failed");
  EXPECT_TRUE(ledger_.is_closed(kLineage, 1));
  const std::int64_t spent = total_units(ledger_);
  EXPECT_EQ(spent, units(1));  // the failure keeps its charge

  expect_closed(asked("new"));
  expect_closed(request_of("answered", 0.25));
  expect_closed(request_of("bad", 0.5));
  expect_closed(request_of("open", 0.25));
  // Whatever else is wrong with a request must not show.
  Request wrong = asked("answered");
  wrong.digest = "another";
  expect_closed(wrong);
  Request large = asked("large");
  large.event = privacy::event::Pure{1000};
  expect_closed(large);
  const std::vector<Request> together = {asked("one"), asked("two")};
  EXPECT_EQ(code_of([&] { ledger_.reserve_together(together); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(total_units(ledger_), spent);
  // Another process sees it too.
  Ledger other(folder_ / "ledger");
  EXPECT_EQ(code_of([&] { other.reserve(asked("new")); }), ErrorCode::refused_by_policy);
}

TEST_F(BreakerTest, WhatWasReservedEarlierCanBeSettled) {
  privacy::Reservation open = reserve(ledger_, request_of("open", 0.25));
  privacy::Reservation unused = reserve(ledger_, request_of("unused", 0.25));
  fail("bad");
  EXPECT_EQ(settle(ledger_, std::move(open), "late").answer, "late");
  ledger_.cancel(std::move(unused));
  EXPECT_EQ(total_units(ledger_), units(0.75));
}

TEST_F(BreakerTest, ThePolicySaysHowManyFailuresClose) {
  fail("bad 1", 3);
  EXPECT_EQ(refusal(asked("a", 3)), std::nullopt);
  expect_closed(asked("b", 1));
  fail("bad 2", 3);
  EXPECT_FALSE(ledger_.is_closed(kLineage, 3));
  fail("bad 3", 3);
  EXPECT_TRUE(ledger_.is_closed(kLineage, 3));
  expect_closed(asked("c", 3));
  EXPECT_EQ(refusal(asked("d", 4)), std::nullopt);
}

TEST_F(BreakerTest, TheOwnerReopens) {
  fail("bad");
  const std::vector<Failure> failures = ledger_.failures(kLineage);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].request_key, "bad");
  EXPECT_EQ(failures[0].description, "SELECT COUNT(*) FROM people");
  EXPECT_EQ(failures[0].entry, 2);
  EXPECT_EQ(failures[0].time.size(), 20u);
  ledger_.reopen(kLineage, "a disk was full");
  EXPECT_TRUE(ledger_.failures(kLineage).empty());
  EXPECT_FALSE(ledger_.is_closed(kLineage, 1));
  EXPECT_EQ(refusal(asked("new")), std::nullopt);
  // The failed request stays failed: asking again gives the same text, unpaid.
  const auto again = ledger_.reserve(request_of("bad", 0.5));
  EXPECT_EQ(std::get<StoredAnswer>(again).answer, "it failed");
  EXPECT_EQ(ledger_.stored(kLineage, "bad", "digest")->answer, "it failed");
  EXPECT_EQ(ledger_.spends(kLineage)[0].state, "failed");
  fail("bad again");
  expect_closed(asked("newer"));
  EXPECT_EQ(ledger_.failures(kLineage).size(), 1u);
  EXPECT_EQ(code_of([&] { Ledger verified(folder_ / "ledger"); }), std::nullopt);
}

TEST_F(BreakerTest, LineagesFailOnTheirOwn) {
  Account other = account_of(10);
  other.lineage = "other";
  ledger_.open_account(other);
  fail("bad");
  Request request = asked("new");
  request.lineage = "other";
  EXPECT_EQ(refusal(request), std::nullopt);
  EXPECT_FALSE(ledger_.is_closed("other", 1));
  EXPECT_EQ(code_of([&] { ledger_.reopen("nobody", ""); }), ErrorCode::not_found);
}

TEST_F(BreakerTest, AFailureClosesItsReservationOnce) {
  privacy::Reservation mine = reserve(ledger_, request_of("mine", 0.25));
  fail("bad");
  ledger_.reopen(kLineage, "");
  test::touch(mine);
  const std::int64_t entry = mine.entry();
  EXPECT_EQ(ledger_.settle_failure(std::move(mine).spend(), "it failed").entry, entry);
  ledger_.reopen(kLineage, "");
  EXPECT_EQ(ledger_.spends(kLineage)[0].state, "failed");
}

TEST_F(BreakerTest, AStoredAnswerIsThatOfTheSameRequest) {
  ask(ledger_, request_of("a", 0.25), "found");
  EXPECT_EQ(ledger_.stored(kLineage, "a", "digest")->answer, "found");
  EXPECT_EQ(code_of([&] { ledger_.stored(kLineage, "a", "another"); }), ErrorCode::conflict);
  EXPECT_FALSE(ledger_.stored(kLineage, "b", "another"));
}

TEST(ReservedKeys, AreThoseThatShoalMakes) {
  for (const char* key : {"same-1", "automatic-x", "state/1/turn/2", "same-"})
    EXPECT_TRUE(is_reserved_key(key)) << key;
  for (const char* key : {"", "same", "Same-1", "mine", "state", "my same-1"})
    EXPECT_FALSE(is_reserved_key(key)) << key;
}

}  // namespace
}  // namespace shoal::ledger
