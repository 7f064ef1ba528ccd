// The ledger's promises to one process: totals in integers, one answer a key, what was touched
// stays spent, and an account that cannot change its meaning.
#include "ledger/store.hpp"
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "people.ledger"; }
  Ledger open_with(double epsilon, double delta = 0) const {
    Ledger ledger(path());
    ledger.open_account(account_of(epsilon, delta));
    return ledger;
  }

 private:
  TemporaryFolder folder_{Place::memory};
};

std::vector<std::string> states(Ledger& ledger) {
  std::vector<std::string> states;
  for (const Spend& spend : ledger.spends(kLineage)) states.push_back(spend.state);
  return states;
}

// ---- totals ----

TEST_F(LedgerTest, TenTimesATenthIsOne) {
  Ledger ledger = open_with(1);
  for (int i = 0; i < 10; ++i) ask(ledger, request_of("key " + std::to_string(i), 0.1), "{}");
  EXPECT_EQ(total_units(ledger), units(1));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("eleventh", 0.1)); }),
            ErrorCode::budget_exceeded);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("tiny", 1e-12)); }),
            ErrorCode::budget_exceeded);
  EXPECT_EQ(total_units(ledger), units(1));
  EXPECT_EQ(states(ledger), std::vector<std::string>(10, "settled"));
  EXPECT_EQ(states(*std::make_unique<Ledger>(path())).size(), 10u);
}

TEST_F(LedgerTest, FourHundredTimesAHundredthIsFour) {
  Ledger ledger = open_with(4);
  for (int i = 0; i < 400; ++i) reserve(ledger, request_of(std::to_string(i), 0.01));
  EXPECT_EQ(total_units(ledger), units(4));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("more", 0.01)); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(Ledger(path()).total(kLineage), ledger.total(kLineage));
}

// ---- several at once ----

TEST_F(LedgerTest, ReservesTogetherOrNotAtAll) {
  Ledger ledger = open_with(1);
  const std::vector<Request> too_much = {request_of("a", 0.6), request_of("b", 0.5)};
  EXPECT_EQ(code_of([&] { ledger.reserve_together(too_much); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(total_units(ledger), 0);
  EXPECT_TRUE(states(ledger).empty());
  // The same ledger goes on as if nothing had been.
  const std::vector<Request> enough = {request_of("a", 0.6), request_of("b", 0.4)};
  EXPECT_EQ(ledger.reserve_together(enough).size(), 2u);
  EXPECT_EQ(total_units(ledger), units(1));
  EXPECT_EQ(total_units(*std::make_unique<Ledger>(path())), units(1));
}

TEST_F(LedgerTest, WhatWasAnsweredReservesNothingBesides) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("a", 0.25), "{}");
  const std::vector<Request> again = {request_of("a", 0.25), request_of("b", 0.5)};
  const auto reserved = ledger.reserve_together(again);
  ASSERT_EQ(reserved.size(), 1u);
  EXPECT_EQ(std::get<StoredAnswer>(reserved[0]).answer, "{}");
  EXPECT_EQ(total_units(ledger), units(0.25));
  const std::vector<Request> second = {request_of("c", 0.25), request_of("a", 0.25)};
  EXPECT_EQ(std::get<StoredAnswer>(ledger.reserve_together(second)[1]).answer, "{}");
  EXPECT_EQ(total_units(ledger), units(0.5));
}

TEST_F(LedgerTest, FindsStoredAnswersByTheirKey) {
  Ledger ledger = open_with(1);
  EXPECT_FALSE(ledger.stored(kLineage, "a", "digest"));
  auto reservation = reserve(ledger, request_of("a", 0.25));
  EXPECT_FALSE(ledger.stored(kLineage, "a", "digest"));
  settle(ledger, std::move(reservation), "found");
  EXPECT_EQ(ledger.stored(kLineage, "a", "digest")->answer, "found");
  EXPECT_FALSE(ledger.stored("another", "a", "digest"));
  ledger.cancel(reserve(ledger, request_of("b", 0.25)));
  EXPECT_FALSE(ledger.stored(kLineage, "b", "digest"));
}

TEST_F(LedgerTest, ARefusedKeyIsFree) {
  Ledger ledger = open_with(0.5);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.6)); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(ask(ledger, request_of("key", 0.4), "{}").answer, "{}");
}

TEST_F(LedgerTest, AReservationCountsBeforeItIsSettledAndIfItIsDropped) {
  Ledger ledger = open_with(1);
  { const auto dropped = reserve(ledger, request_of("dropped", 0.7)); }
  EXPECT_EQ(total_units(ledger), units(0.7));
  EXPECT_EQ(Ledger(path()).total(kLineage).epsilon_units, units(0.7));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("other", 0.4)); }), ErrorCode::budget_exceeded);
}

TEST_F(LedgerTest, GaussianSpendsHaveNoPureTotal) {
  Ledger ledger = open_with(1, 1e-6);
  Request request = request_of("gaussian", 0.1);
  request.budget = {Epsilon(1), Delta(1e-6)};
  request.event = privacy::event::Zcdp{0.001};
  reserve(ledger, request);
  EXPECT_EQ(ledger.total(kLineage).epsilon_units, std::nullopt);
  EXPECT_EQ(ledger.total(kLineage).rho_units, 1'000'000'000'000);
  request.key = "pure";
  request.event = privacy::event::Pure{0.01};
  reserve(ledger, request);
  EXPECT_EQ(ledger.total(kLineage), ledger.repriced_total(kLineage));
  EXPECT_EQ(Ledger(path()).total(kLineage), ledger.total(kLineage));
}

TEST_F(LedgerTest, CancellingTheOnlyGaussianGivesThePureTotalBack) {
  Ledger ledger = open_with(1, 1e-6);
  Request request = request_of("gaussian", 0.1);
  request.budget = {Epsilon(1), Delta(1e-6)};
  request.event = privacy::event::Zcdp{0.001};
  ask(ledger, request_of("pure", 0.1), "{}");
  ledger.cancel(reserve(ledger, request));
  EXPECT_EQ(total_units(ledger), units(0.1));
  EXPECT_EQ(Ledger(path()).total(kLineage), ledger.total(kLineage));
}

TEST_F(LedgerTest, LineagesDoNotShareATotal) {
  Ledger ledger = open_with(1);
  Account other = account_of(1);
  other.lineage = "others";
  ledger.open_account(other);
  ask(ledger, request_of("key", 0.8), "one");
  Request request = request_of("key", 0.7);
  request.lineage = "others";
  EXPECT_EQ(ask(ledger, request, "two").answer, "two");
  EXPECT_EQ(total_units(ledger), units(0.8));
  EXPECT_EQ(ledger.total("others").epsilon_units, units(0.7));
  EXPECT_EQ(ledger.total("nobody"), privacy::Charge{});
}

TEST_F(LedgerTest, SpendsSayWhatWasAsked) {
  Ledger ledger = open_with(1);
  const StoredAnswer answer = ask(ledger, request_of("a", 0.1), "{}");
  ledger.cancel(reserve(ledger, request_of("b", 0.2)));
  reserve(ledger, request_of("c", 0.3));
  const std::vector<Spend> spends = ledger.spends(kLineage);
  ASSERT_EQ(spends.size(), 3u);
  EXPECT_EQ(states(ledger), (std::vector<std::string>{"settled", "cancelled", "reserved"}));
  EXPECT_EQ(spends[0].entry, answer.entry);
  EXPECT_EQ(spends[0].request_key, "a");
  EXPECT_EQ(spends[0].description, "SELECT COUNT(*) FROM people");
  EXPECT_EQ(spends[1].event, privacy::Event(privacy::event::Pure{0.2}));
  EXPECT_EQ(spends[2].charge, privacy::price(privacy::event::Pure{0.3}, Neighbors::add_remove));
}

// ---- keys ----

TEST_F(LedgerTest, ASettledKeyGivesItsAnswerAgainUnpaid) {
  // Bytes that a text file, a C string or JSON would change.
  const std::string answer("{\"x\": 1}\n\0\t\"\\ \xC3\xA9", 17);
  Ledger ledger = open_with(1);
  const StoredAnswer first = ask(ledger, request_of("key", 0.9), answer);
  EXPECT_EQ(first.answer, answer);
  Ledger other(path());
  for (Ledger* each : {&ledger, &other}) {
    const auto again = std::get<StoredAnswer>(each->reserve(request_of("key", 0.9)));
    EXPECT_EQ(again.answer, answer);
    EXPECT_EQ(again.entry, first.entry);
    EXPECT_EQ(total_units(*each), units(0.9));
  }
}

TEST_F(LedgerTest, AnotherQuestionUnderAKeyIsAConflict) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("key", 0.1), "{}");
  reserve(ledger, request_of("open", 0.1));
  for (const char* key : {"key", "open"}) {
    Request other = request_of(key, 0.1);
    other.digest = "other";
    EXPECT_EQ(code_of([&] { ledger.reserve(other); }), ErrorCode::conflict);
  }
  EXPECT_EQ(total_units(ledger), units(0.2));
}

TEST_F(LedgerTest, TheKeyOfACancelledRequestIsAConflict) {
  Ledger ledger = open_with(1);
  ledger.cancel(reserve(ledger, request_of("key", 0.1)));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.1)); }), ErrorCode::conflict);
  EXPECT_EQ(total_units(ledger), 0);
}

TEST_F(LedgerTest, AKeyInWorkIsUnavailable) {
  Ledger ledger = open_with(1);
  auto reservation = reserve(ledger, request_of("key", 0.1));
  Ledger other(path());
  EXPECT_EQ(code_of([&] { other.reserve(request_of("key", 0.1)); }), ErrorCode::unavailable);
  const ChildEnd child = run_in_child([&] {
    Ledger third(path());
    const auto code = code_of([&] { third.reserve(request_of("key", 0.1)); });
    return code == ErrorCode::unavailable ? 0 : 1;
  });
  EXPECT_EQ(child.status, 0);
  settle(ledger, std::move(reservation), "{}");
  EXPECT_TRUE(std::holds_alternative<StoredAnswer>(other.reserve(request_of("key", 0.1))));
}

TEST_F(LedgerTest, AnEmptyKeyOrLineageIsRefused) {
  Ledger ledger = open_with(1);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("", 0.1)); }), ErrorCode::invalid_argument);
  Account account = account_of(1);
  account.lineage = "";
  EXPECT_EQ(code_of([&] { ledger.open_account(account); }), ErrorCode::invalid_argument);
  EXPECT_EQ(total_units(ledger), 0);
}

// Leaves a reservation behind whose process is gone.
void reserve_and_die(const std::filesystem::path& path, const Request& request) {
  const ChildEnd child = run_in_child([&] {
    Ledger ledger(path);
    privacy::Reservation held = reserve(ledger, request);
    test::touch(held);
    return 0;
  });
  ASSERT_EQ(child.status, 0);
}

TEST_F(LedgerTest, TheKeyOfADeadProcessIsTakenOverUnpaid) {
  open_with(1);
  reserve_and_die(path(), request_of("key", 0.9));
  Ledger ledger(path());
  EXPECT_EQ(total_units(ledger), units(0.9));
  auto resumed = reserve(ledger, request_of("key", 0.9));
  EXPECT_EQ(total_units(ledger), units(0.9));
  EXPECT_EQ(resumed.event(), privacy::Event(privacy::event::Pure{0.9}));
  EXPECT_EQ(settle(ledger, std::move(resumed), "late").answer, "late");
  EXPECT_EQ(std::get<StoredAnswer>(ledger.reserve(request_of("key", 0.9))).answer, "late");
  EXPECT_EQ(Ledger(path()).total(kLineage), ledger.total(kLineage));
}

TEST_F(LedgerTest, TakenOverTheKeyIsInWorkAgain) {
  open_with(1);
  reserve_and_die(path(), request_of("key", 0.5));
  reserve_and_die(path(), request_of("key", 0.5));  // the second dies too
  Ledger ledger(path());
  const auto resumed = reserve(ledger, request_of("key", 0.5));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.5)); }), ErrorCode::unavailable);
  EXPECT_EQ(total_units(ledger), units(0.5));
}

TEST_F(LedgerTest, ATakenOverReservationCannotBeGivenBack) {
  open_with(1);
  reserve_and_die(path(), request_of("key", 0.5));
  Ledger ledger(path());
  auto resumed = reserve(ledger, request_of("key", 0.5));
  EXPECT_EQ(code_of([&] { ledger.cancel(std::move(resumed)); }), ErrorCode::internal);
  EXPECT_EQ(total_units(ledger), units(0.5));
}

// Takes a reservation over as another process would that cannot see this one alive.
void take_over(const std::filesystem::path& path, const privacy::Reservation& reservation) {
  const std::unique_ptr<Store> store = open_sqlite_store(path, {});
  ChainState chain(ChainState::From::first_entry);
  chain.advance(*store);
  Entry entry;
  entry.seq = chain.last_seq() + 1;
  entry.time = "2025-01-01T00:00:00Z";
  entry.lineage = kLineage;
  entry.kind = "resume";
  entry.reservation = reservation.entry();
  entry.holder = "another";
  entry.totals = chain.totals(kLineage);
  entry.hash = entry_hash(entry, chain.last_hash());
  store->transact([&] { store->append(entry); });
}

TEST_F(LedgerTest, WhoWasTakenOverCanNeitherSettleNorGiveBack) {
  Ledger ledger = open_with(1);
  auto first = reserve(ledger, request_of("first", 0.1));
  take_over(path(), first);
  EXPECT_EQ(code_of([&] { settle(ledger, std::move(first), "mine"); }), ErrorCode::conflict);
  auto second = reserve(ledger, request_of("second", 0.1));
  take_over(path(), second);
  EXPECT_EQ(code_of([&] { ledger.cancel(std::move(second)); }), ErrorCode::internal);
  EXPECT_EQ(total_units(ledger), units(0.2));
  EXPECT_EQ(states(ledger), std::vector<std::string>(2, "reserved"));
}

// ---- cancel and settle ----

TEST_F(LedgerTest, CancelGivesBackWhatWasNotTouched) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("kept", 0.3), "{}");
  ledger.cancel(reserve(ledger, request_of("key", 0.7)));
  EXPECT_EQ(total_units(ledger), units(0.3));
  EXPECT_EQ(total_units(*std::make_unique<Ledger>(path())), units(0.3));
  EXPECT_EQ(ask(ledger, request_of("next", 0.7), "{}").answer, "{}");
}

TEST_F(LedgerTest, WhatWasTouchedIsSpent) {
  Ledger ledger = open_with(1);
  auto reservation = reserve(ledger, request_of("key", 0.7));
  test::touch(reservation);
  EXPECT_EQ(code_of([&] { ledger.cancel(std::move(reservation)); }), ErrorCode::internal);
  EXPECT_EQ(total_units(ledger), units(0.7));
  EXPECT_EQ(states(ledger), std::vector<std::string>{"reserved"});
}

// Two ledgers number their entries alike: a reservation of one finds an entry in the other.
TEST_F(LedgerTest, AReservationOfAnotherLedgerSettlesNothing) {
  Ledger ledger = open_with(1);
  const TemporaryFolder elsewhere;
  Ledger other(elsewhere / "other.ledger");
  other.open_account(account_of(1));
  auto here = reserve(ledger, request_of("key", 0.1));
  auto there = reserve(other, request_of("key", 0.1));
  EXPECT_EQ(code_of([&] { settle(ledger, std::move(there), "wrong"); }), ErrorCode::conflict);
  EXPECT_EQ(settle(ledger, std::move(here), "right").answer, "right");
}

// ---- accounts ----

TEST_F(LedgerTest, TheAccountIsPinned) {
  Ledger ledger = open_with(1, 1e-6);
  Account account = account_of(1, 1e-6);
  EXPECT_EQ(code_of([&] { ledger.open_account(account); }), std::nullopt);
  account.unit = "person_id";
  EXPECT_EQ(code_of([&] { ledger.open_account(account); }), ErrorCode::conflict);
  account = account_of(1, 1e-6);
  account.neighbors = Neighbors::replace_one;
  EXPECT_EQ(code_of([&] { ledger.open_account(account); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { ledger.open_account(account_of(1.1, 1e-6)); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { ledger.open_account(account_of(1, 1e-5)); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { ledger.open_account(account_of(0.5, 0)); }), std::nullopt);
  const Account held = Ledger(path()).account(kLineage).value();
  EXPECT_EQ(held.budget, account_of(1, 1e-6).budget);
  EXPECT_EQ(held.unit, "a row of people");
  EXPECT_EQ(held.neighbors, Neighbors::add_remove);
}

TEST_F(LedgerTest, TheSmallerTotalHolds) {
  Ledger ledger = open_with(1);
  Request request = request_of("key", 0.6);
  request.budget.epsilon = Epsilon(0.5);
  EXPECT_EQ(code_of([&] { ledger.reserve(request); }), ErrorCode::budget_exceeded);
  request.budget.epsilon = Epsilon(5);
  request.event = privacy::event::Pure{1.1};
  EXPECT_EQ(code_of([&] { ledger.reserve(request); }), ErrorCode::budget_exceeded);
  request.event = privacy::event::Pure{1};
  EXPECT_EQ(code_of([&] { ledger.reserve(request); }), std::nullopt);
}

TEST_F(LedgerTest, TheOwnerChangesTheTotal) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("a", 1), "{}");
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("b", 0.5)); }), ErrorCode::budget_exceeded);
  ledger.change_budget(kLineage, {Epsilon(1.5), Delta(0)});
  ask(ledger, request_of("b", 0.5), "{}");
  ledger.change_budget(kLineage, {Epsilon(0.5), Delta(0)});  // below what is spent
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("c", 0.01)); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(total_units(ledger), units(1.5));
  EXPECT_EQ(Ledger(path()).account(kLineage)->budget.epsilon, Epsilon(0.5));
}

TEST_F(LedgerTest, WithoutAnAccountNothingIsReserved) {
  Ledger ledger(path());
  EXPECT_EQ(ledger.account(kLineage), std::nullopt);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.1)); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] {
              ledger.change_budget(kLineage, {Epsilon(1), Delta(0)});
            }),
            ErrorCode::not_found);
}

// ---- any order of calls ----

// What the ledger must say after any calls: a total in integers and an answer or a state a key.
struct Model {
  std::int64_t total = 0;
  std::map<std::string, std::string> answers;
  std::map<std::string, std::int64_t> open;
  std::map<std::string, bool> cancelled;
};

struct Step {
  unsigned action = 0;
  unsigned key = 0;
  unsigned thousandths = 0;
};

void run_step(Ledger& ledger, Model& model, const Step& step, std::int64_t budget) {
  const std::string key = std::to_string(step.key);
  // A key stands for one question, whatever it asks for.
  const Request request = request_of(key, (1 + 37 * step.key % 100) / 1000.0);
  const std::int64_t cost = units((1 + 37 * step.key % 100) / 1000.0);
  const bool fresh =
      !model.answers.contains(key) && !model.open.contains(key) && !model.cancelled.contains(key);
  std::optional<std::variant<privacy::Reservation, StoredAnswer>> result;
  const auto code = code_of([&] { result.emplace(ledger.reserve(request)); });
  if (model.cancelled.contains(key)) {
    RC_ASSERT(code == ErrorCode::conflict);
  } else if (model.open.contains(key)) {
    RC_ASSERT(code == ErrorCode::unavailable);
  } else if (!fresh) {
    RC_ASSERT(std::get<StoredAnswer>(*result).answer == model.answers[key]);
  } else if (model.total + cost > budget) {
    RC_ASSERT(code == ErrorCode::budget_exceeded);
  } else {
    auto reservation = std::get<privacy::Reservation>(std::move(*result));
    if (step.action % 3 == 0) {
      ledger.cancel(std::move(reservation));
      model.cancelled[key] = true;
      return;
    }
    model.total += cost;
    if (step.action % 3 == 1) {
      model.open[key] = cost;
      return;
    }
    model.answers[key] = "answer " + std::to_string(step.thousandths);
    settle(ledger, std::move(reservation), model.answers[key]);
  }
}

RC_GTEST_PROP(LedgerProperty, AnyOrderOfCallsKeepsTheModel, ()) {
  const TemporaryFolder folder(Place::memory);
  const auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::build<Step>(rc::gen::set(&Step::action, rc::gen::inRange(0u, 12u)),
                           rc::gen::set(&Step::key, rc::gen::inRange(0u, 30u)),
                           rc::gen::set(&Step::thousandths, rc::gen::arbitrary<unsigned>())));
  std::vector<Ledger> ledgers;
  for (int i = 0; i < 2; ++i) ledgers.emplace_back(folder / "ledger");
  ledgers[0].open_account(account_of(0.5));
  Model model;
  for (const Step& step : steps) {
    Ledger& ledger = ledgers[step.action % 2];
    run_step(ledger, model, step, units(0.5));
    RC_ASSERT(total_units(ledgers[1 - step.action % 2]) == model.total);
    if (step.action == 11) ledgers[1] = Ledger(folder / "ledger");
  }
  Ledger again(folder / "ledger");
  RC_ASSERT(total_units(again) == model.total);
  RC_ASSERT(again.repriced_total(kLineage) == again.total(kLineage));
}

}  // namespace
}  // namespace shoal::ledger
