// The ledger on a server, killed: the client at every exchange with the server, before and after
// it; the server at every exchange of the calls that spend; and both at random under several
// processes. Always: it opens and the chain verifies; every spend that had returned is there, and
// nothing that was not asked for; answers that left come back byte for byte, unpaid; no key is paid
// twice.
//
// No alarm here is due to chance: what is checked holds for every schedule.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace shoal::ledger {
namespace {

using namespace shoal::test;
using std::chrono::milliseconds;

// What a script got to know before it died: "<word> <key>", and for an answer that left its text.
class Journal {
 public:
  explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}

  void note(const std::string& word, const std::string& key) const {
    std::ofstream(path_, std::ios::app) << word << " " << key << std::endl;
  }

  std::set<std::string> keys(const std::string& wanted) const {
    std::set<std::string> found;
    std::ifstream lines(path_);
    std::string word;
    std::string key;
    while (lines >> word >> key) {
      if (word == wanted) found.insert(key);
    }
    return found;
  }

 private:
  std::filesystem::path path_;
};

std::string answer_of(const std::string& key) { return "the answer of " + key; }

// Spends, answers, gives back, and leaves one open.
void run_script(const std::string& place, const Options& options, const Journal& journal) {
  Ledger ledger(place, options);
  ledger.open_account(account_of(1));
  journal.note("opened", kLineage);
  privacy::Reservation asked = reserve(ledger, request_of("asked", 0.25));
  journal.note("reserved", "asked");
  settle(ledger, std::move(asked), answer_of("asked"));
  journal.note("left", "asked");
  privacy::Reservation back = reserve(ledger, request_of("back", 0.25));
  journal.note("reserved", "back");
  ledger.cancel(std::move(back));
  journal.note("cancelled", "back");
  const privacy::Reservation open = reserve(ledger, request_of("open", 0.125));
  journal.note("reserved", "open");
}

// Asks again with the key until the one who died is known to be gone, and ends what is open.
std::string finish(Ledger& ledger, const std::string& key, double epsilon) {
  for (int tries = 0; tries < 1000; ++tries) {
    try {
      auto held = ledger.reserve(request_of(key, epsilon));
      if (auto* stored = std::get_if<StoredAnswer>(&held)) return stored->answer;
      return settle(ledger, std::get<privacy::Reservation>(std::move(held)), answer_of(key)).answer;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::conflict) return "cancelled";
      if (error.code() != ErrorCode::unavailable) throw;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  throw std::runtime_error("a dead holder is taken for alive");
}

void check(const std::string& place, const Journal& journal, const std::string& when) {
  SCOPED_TRACE(when);
  Ledger ledger(place);
  if (journal.keys("opened").empty()) ledger.open_account(account_of(1));
  EXPECT_TRUE(ledger.account(kLineage));
  std::map<std::string, std::string> states;
  for (const Spend& spend : ledger.spends(kLineage))
    EXPECT_TRUE(states.emplace(spend.request_key, spend.state).second) << spend.request_key;
  for (const std::string& key : journal.keys("reserved")) EXPECT_TRUE(states.contains(key)) << key;
  for (const std::string& key : journal.keys("left")) EXPECT_EQ(states[key], "settled") << key;
  for (const std::string& key : journal.keys("cancelled"))
    EXPECT_EQ(states[key], "cancelled") << key;
  EXPECT_EQ(ledger.repriced_total(kLineage), ledger.total(kLineage));

  EXPECT_EQ(finish(ledger, "asked", 0.25), answer_of("asked"));
  const bool cancelled = finish(ledger, "back", 0.25) == "cancelled";
  EXPECT_EQ(finish(ledger, "open", 0.125), answer_of("open"));
  EXPECT_EQ(total_units(ledger), units(0.25) + units(0.125) + (cancelled ? 0 : units(0.25)));
}

TEST(ServerLedger, AClientKilledAtEveryExchange) {
  PostgresServer& server = PostgresServer::instance();
  const TemporaryFolder folder(Place::memory);
  bool completed = false;
  int at = 0;
  while (!completed) {
    ++at;
    server.run("DROP SCHEMA IF EXISTS swept CASCADE");
    const Journal journal(folder / fmt::format("journal_{}", at));
    const ChildEnd end = run_in_child([&] {
      Options options;
      int step = 0;
      options.step = [&] {
        if (++step == at) ::raise(SIGKILL);
      };
      run_script("postgresql:swept", options, journal);
      return 0;
    });
    completed = end.status == 0;
    ASSERT_TRUE(completed || end.signal == SIGKILL) << end.status;
    check("postgresql:swept", journal, fmt::format("killed at step {}", at));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(at, 60);
  std::printf("%d deaths\n", at - 1);
}

TEST(ServerLedger, AServerThatCrashesAtEveryExchangeOfASpend) {
  PostgresServer& server = PostgresServer::instance();
  const TemporaryFolder folder(Place::memory);
  bool completed = false;
  int crashes = 0;
  for (int at = 1; !completed; ++at) {
    server.run("DROP SCHEMA IF EXISTS swept CASCADE");
    Ledger("postgresql:swept").open_account(account_of(1));
    const Journal journal(folder / fmt::format("journal_{}", at));
    Options options;
    int step = 0;
    bool crashed = false;
    options.step = [&] {
      // Behind an exchange the server is as it is before the next one.
      if (journal.keys("opened").empty() || ++step != 2 * at - 1) return;
      crashed = true;
      server.crash();
      server.restart();
    };
    const auto code = code_of([&] { run_script("postgresql:swept", options, journal); });
    completed = !crashed;
    if (crashed) ++crashes;
    // A crash after the last exchange harms nobody.
    EXPECT_TRUE(!code || *code == ErrorCode::unavailable) << static_cast<int>(*code);
    check("postgresql:swept", journal, fmt::format("crashed before exchange {}", at));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(crashes, 25);
  std::printf("%d crashes\n", crashes);
}

// Asks one key after the other until it is killed, the one that it died on again first. A server
// that is gone is waited for.
int work(int worker, const Journal& journal) {
  int number = static_cast<int>(journal.keys("left").size()) + 1;
  while (true) {
    try {
      Options options;
      options.busy_milliseconds = 60'000;
      Ledger ledger("postgresql:crowd", options);
      while (true) {
        const std::string key = fmt::format("{}-{}", worker, number);
        journal.note("started", key);
        if (finish(ledger, key, 0.001) != answer_of(key)) return 1;
        journal.note("left", key);
        ++number;
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unavailable) throw;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
}

TEST(ServerLedger, ManyDeathsOfClientsAndSomeOfTheServer) {
  constexpr int kWorkers = 3;
  constexpr int kKills = 150;
  constexpr int kBetweenCrashes = 30;
  PostgresServer& server = PostgresServer::instance();
  const TemporaryFolder folder(Place::memory);
  server.run("DROP SCHEMA IF EXISTS crowd CASCADE");
  Ledger("postgresql:crowd").open_account(account_of(100));
  std::mt19937 random(7);
  std::vector<Journal> journals;
  std::vector<pid_t> workers;
  for (int i = 0; i < kWorkers; ++i) {
    journals.emplace_back(folder / fmt::format("journal_{}", i));
    workers.push_back(start_child([&] { return work(i, journals.back()); }));
  }
  for (int kill = 1; kill <= kKills; ++kill) {
    std::this_thread::sleep_for(milliseconds(random() % 60));
    if (kill % kBetweenCrashes == 0) {
      server.crash();
      std::this_thread::sleep_for(milliseconds(random() % 100));
      server.restart();
    }
    const std::size_t chosen = random() % kWorkers;
    ::kill(workers[chosen], SIGKILL);
    EXPECT_EQ(wait_for_child(workers[chosen]).signal, SIGKILL) << "a worker ended by itself";
    workers[chosen] = start_child([&] { return work(static_cast<int>(chosen), journals[chosen]); });
  }
  for (const pid_t worker : workers) {
    ::kill(worker, SIGKILL);
    EXPECT_EQ(wait_for_child(worker).signal, SIGKILL) << "a worker ended by itself";
  }
  Ledger ledger("postgresql:crowd");
  std::map<std::string, std::string> states;
  for (const Spend& spend : ledger.spends(kLineage))
    EXPECT_TRUE(states.emplace(spend.request_key, spend.state).second) << spend.request_key;
  EXPECT_EQ(total_units(ledger), static_cast<std::int64_t>(states.size()) * units(0.001));
  std::size_t left = 0;
  std::set<std::string> started;
  for (const Journal& journal : journals) {
    started.merge(journal.keys("started"));
    for (const std::string& key : journal.keys("left")) {
      ++left;
      EXPECT_EQ(states[key], "settled");
      EXPECT_EQ(finish(ledger, key, 0.001), answer_of(key));
    }
  }
  for (const auto& [key, state] : states) EXPECT_TRUE(started.contains(key)) << key;
  EXPECT_EQ(total_units(ledger), static_cast<std::int64_t>(states.size()) * units(0.001));
  std::printf("%zu keys paid, %zu answers left\n", states.size(), left);
  EXPECT_GT(left, 50u);
}

}  // namespace
}  // namespace shoal::ledger
