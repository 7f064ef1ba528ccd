// Checkpoints: a ledger that starts at one says what a ledger that read everything says.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

constexpr const char* kOther = "other-data";

Options every(int entries) {
  Options options;
  options.checkpoint_every = entries;
  return options;
}

Request in_lineage(const char* lineage, const std::string& key, double epsilon) {
  Request request = request_of(key, epsilon);
  request.lineage = lineage;
  request.max_failures = 3;
  return request;
}

void fail(Ledger& ledger, const Request& request) {
  privacy::Reservation held = reserve(ledger, request);
  test::touch(held);
  ledger.settle_failure(std::move(held).spend(), "it failed");
}

// Everything that a ledger says of a lineage.
std::string said_of(Ledger& ledger, const std::string& lineage) {
  std::string text = ledger.account(lineage) ? ledger.account(lineage)->unit : "no account";
  text += " " + std::to_string(ledger.total(lineage).epsilon_units.value_or(-1));
  text += " " + std::to_string(ledger.spend_count(lineage));
  for (const Spend& spend : ledger.spends(lineage))
    text += " " + std::to_string(spend.entry) + spend.state;
  for (const Failure& failure : ledger.failures(lineage))
    text += " failure of " + failure.request_key;
  return text;
}

TEST(Checkpoints, SayWhatTheEntriesBeforeThemSay) {
  const TemporaryFolder folder(Place::memory);
  for (const int entries : {1, 2, 3, 5, 1000}) {
    const std::filesystem::path path = folder / ("ledger " + std::to_string(entries));
    Account other = account_of(5);
    other.lineage = kOther;
    Ledger(path, every(entries)).open_account(account_of(10));
    Ledger(path, every(entries)).open_account(other);
    for (int i = 0; i < 12; ++i) {
      const char* lineage = i % 3 == 0 ? kOther : kLineage;
      const std::string key = std::to_string(i);
      // Open over several calls, and closed by another ledger than that which made it.
      Ledger kept(path, every(entries));
      privacy::Reservation held = reserve(kept, in_lineage(lineage, "held " + key, 0.01));
      Ledger ledger(path, every(entries));
      if (i % 5 == 4) {
        fail(ledger, in_lineage(lineage, key, 0.01));
      } else {
        ask(ledger, in_lineage(lineage, key, 0.01), "answer");
      }
      if (i == 9) ledger.reopen(kLineage, "looked");
      if (i % 2 == 0) {
        kept.cancel(std::move(held));
      } else {
        settle(kept, std::move(held), "late");
      }
      for (const char* name : {kLineage, kOther}) {
        Ledger again(path, every(entries));
        EXPECT_EQ(said_of(again, name), said_of(ledger, name)) << entries << " at " << i;
        EXPECT_EQ(said_of(again, name), said_of(kept, name)) << entries << " at " << i;
      }
      EXPECT_EQ(Ledger(path).verify(), Ledger(path).head());
    }
  }
}

TEST(Checkpoints, CountWhatIsNotListed) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", every(3));
  ledger.open_account(account_of(10));
  for (int i = 0; i < 30; ++i) ask(ledger, request_of("key " + std::to_string(i), 0.01), "{}");
  Ledger again(folder / "ledger");
  EXPECT_EQ(again.spend_count(kLineage), 30);
  const std::vector<Spend> last = again.last_spends(kLineage, 4);
  ASSERT_EQ(last.size(), 4u);
  EXPECT_EQ(last.front().request_key, "key 26");
  EXPECT_EQ(last.back().request_key, "key 29");
  EXPECT_EQ(again.spends(kLineage).size(), 30u);
}

TEST(Checkpoints, AreForgottenWithATransactionThatIsUndone) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", every(1));
  ledger.open_account(account_of(1));
  const std::vector<Request> too_much = {request_of("a", 0.6), request_of("b", 0.5)};
  EXPECT_EQ(code_of([&] { ledger.reserve_together(too_much); }), ErrorCode::budget_exceeded);
  EXPECT_EQ(ledger.head().seq, 1);
  ask(ledger, request_of("a", 0.6), "{}");
  EXPECT_EQ(ledger.verify(), ledger.head());
  EXPECT_EQ(ledger.spend_count(kLineage), 1);
}

TEST(Checkpoints, AStoredAnswerIsGivenWithoutWriting) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", every(2));
  ledger.open_account(account_of(1));
  EXPECT_FALSE(ledger.answered(request_of("a", 0.1)));
  ask(ledger, request_of("a", 0.1), "found");
  const Head head = ledger.head();
  EXPECT_EQ(ledger.answered(request_of("a", 0.1))->answer, "found");
  EXPECT_EQ(ledger.head(), head);
  Request other = request_of("a", 0.1);
  other.digest = "another";
  EXPECT_EQ(code_of([&] { ledger.answered(other); }), ErrorCode::conflict);
  fail(ledger, request_of("b", 0.1));
  EXPECT_EQ(code_of([&] { ledger.answered(request_of("a", 0.1)); }), ErrorCode::refused_by_policy);
}

}  // namespace
}  // namespace shoal::ledger
