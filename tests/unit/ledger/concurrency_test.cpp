// Many at once: threads and processes on one file never spend more than there is, and never pay a
// key twice.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

constexpr int kWorkers = 4;
constexpr int kRequests = 40;  // of each worker, of epsilon 0.01: four times 0.4
constexpr double kTotal = 1;   // holds 100 of 160

// Asks for all of its keys; how many it got.
int spend_all(const std::filesystem::path& path, int worker) {
  Ledger ledger(path);
  ledger.open_account(account_of(kTotal));
  int spent = 0;
  for (int i = 0; i < kRequests; ++i) {
    const std::string key = std::to_string(worker) + " " + std::to_string(i);
    const auto code = code_of([&] { ask(ledger, request_of(key, 0.01), "{}"); });
    if (!code) ++spent;
    if (code && code != ErrorCode::budget_exceeded) return 255;
  }
  return spent;
}

void expect_exactly_spent(const std::filesystem::path& path, int reported) {
  Ledger ledger(path);
  EXPECT_EQ(reported, 100);
  EXPECT_EQ(total_units(ledger), units(kTotal));
  EXPECT_EQ(ledger.spends(kLineage).size(), 100u);
  EXPECT_EQ(ledger.repriced_total(kLineage), ledger.total(kLineage));
}

// They also race to make the file and the account.
TEST(LedgerConcurrency, ProcessesNeverExceedTheBudget) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int worker = 0; worker < kWorkers; ++worker) {
    children.push_back(start_child([&] { return spend_all(folder / "ledger", worker); }));
  }
  int spent = 0;
  for (const pid_t child : children) spent += wait_for_child(child).status;
  expect_exactly_spent(folder / "ledger", spent);
}

// SQLite itself does not wait while another process turns on the write-ahead log.
TEST(LedgerConcurrency, ManyMayMakeTheLedgerAtOnce) {
  for (int round = 0; round < 40; ++round) {
    const TemporaryFolder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(start_child([&] {
        Ledger(folder / "ledger").open_account(account_of(1));
        return 0;
      }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for_child(child).status, 0);
    EXPECT_TRUE(Ledger(folder / "ledger").account(kLineage).has_value());
  }
}

TEST(LedgerConcurrency, ThreadsNeverExceedTheBudget) {
  const TemporaryFolder folder;
  std::atomic<int> spent = 0;
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] { spent += spend_all(folder / "ledger", worker); });
  }
  for (std::thread& thread : threads) thread.join();
  expect_exactly_spent(folder / "ledger", spent);
}

TEST(LedgerConcurrency, TwoLedgersOnOneFileSeeEachOther) {
  const TemporaryFolder folder;
  Ledger one(folder / "ledger");
  Ledger two(folder / "ledger");
  one.open_account(account_of(1));
  two.open_account(account_of(1));
  auto reservation = reserve(one, request_of("a", 0.6));
  EXPECT_EQ(total_units(two), units(0.6));
  EXPECT_EQ(code_of([&] { two.reserve(request_of("b", 0.6)); }), ErrorCode::budget_exceeded);
  one.cancel(std::move(reservation));
  EXPECT_EQ(ask(two, request_of("b", 0.6), "{}").answer, "{}");
  EXPECT_TRUE(std::holds_alternative<StoredAnswer>(one.reserve(request_of("b", 0.6))));
}

// All threads ask for the same keys: one is let in, the others wait for its answer. Each key is
// paid once and has one answer.
TEST(LedgerConcurrency, AKeyIsPaidOnceHoweverManyAsk) {
  const TemporaryFolder folder;
  Ledger(folder / "ledger").open_account(account_of(1));
  std::vector<std::vector<std::string>> seen(kWorkers);
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      Ledger ledger(folder / "ledger");
      for (int i = 0; i < 5; ++i) {
        const Request request = request_of(std::to_string(i), 0.2);
        std::optional<std::string> answer;
        while (!answer) {
          const auto code = code_of([&] {
            auto result = ledger.reserve(request);
            if (auto* stored = std::get_if<StoredAnswer>(&result)) {
              answer = stored->answer;
            } else {
              answer = settle(ledger, std::get<privacy::Reservation>(std::move(result)),
                              "by " + std::to_string(worker))
                           .answer;
            }
          });
          if (code && code != ErrorCode::unavailable) return;
          std::this_thread::yield();
        }
        seen[static_cast<std::size_t>(worker)].push_back(*answer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answers : seen) EXPECT_EQ(answers, seen[0]);
  EXPECT_EQ(seen[0].size(), 5u);
  Ledger ledger(folder / "ledger");
  EXPECT_EQ(total_units(ledger), units(1));
}

// ---- one question from many ----

TEST(LedgerConcurrency, TheSameQuestionFromManyIsAnsweredOnceAndServedToAll) {
  constexpr int kProcesses = 50;
  const TemporaryFolder folder(Place::memory);
  const std::filesystem::path path = folder / "ledger";
  Ledger(path).open_account(account_of(1));
  Options patient;
  patient.key_patience = std::chrono::seconds(60);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(start_child([&] {
      Ledger ledger(path, patient);
      auto reserved = ledger.reserve(request_of("same", 0.5));
      if (const auto* stored = std::get_if<StoredAnswer>(&reserved))
        return stored->answer == "once" ? 0 : 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      settle(ledger, std::get<privacy::Reservation>(std::move(reserved)), "once");
      return 2;
    }));
  }
  std::map<int, int> ends;
  for (const pid_t child : children) ++ends[wait_for_child(child).status];
  EXPECT_EQ(ends, (std::map<int, int>{{0, kProcesses - 1}, {2, 1}}));
  Ledger ledger(path);
  EXPECT_EQ(total_units(ledger), units(0.5));
}

TEST(LedgerConcurrency, WhoeverWaitsForOneThatDiesTakesItsPlace) {
  const TemporaryFolder folder(Place::memory);
  const std::filesystem::path path = folder / "ledger";
  Ledger(path).open_account(account_of(1));
  const pid_t child = start_child([&] {
    Ledger ledger(path);
    const auto held = reserve(ledger, request_of("key", 0.5));
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    ::_exit(0);
    return 0;
  });
  Options patient;
  patient.key_patience = std::chrono::seconds(60);
  Ledger ledger(path, patient);
  while (ledger.spend_count(kLineage) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::thread reaper([&] { wait_for_child(child); });
  EXPECT_EQ(ask(ledger, request_of("key", 0.5), "mine").answer, "mine");
  reaper.join();
  EXPECT_EQ(total_units(ledger), units(0.5));
}

TEST(LedgerConcurrency, NobodyWaitsForLongerThanAsked) {
  const TemporaryFolder folder(Place::memory);
  Options patient;
  patient.key_patience = std::chrono::milliseconds(100);
  Ledger ledger(folder / "ledger", patient);
  ledger.open_account(account_of(1));
  const auto held = reserve(ledger, request_of("key", 0.5));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(ledger.reserve(request_of("key", 0.5)), KeyInWork);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace shoal::ledger
