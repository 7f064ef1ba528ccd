// Many at once: threads and processes on one file never spend more than there is, and never pay a
// key twice.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace shoal::ledger
