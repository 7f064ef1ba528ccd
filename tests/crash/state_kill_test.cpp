// Processes that ask one holdout at the same time are killed with kill -9, hundreds of times, at a
// random moment of their lives (SHOAL_KILLS, or 240). A worker notes an answer, with the number of
// its turn, only when ask_holdout() has returned it: then it has left. In the end: the state opens;
// no two answers are of one turn; as many questions are counted as have answers that left, or more;
// and all that was paid is what the holdout cost when it was made.
//
// No alarm here is due to chance: what is checked holds for every schedule.
#include "support/child_process.hpp"
#include "support/kills.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/session/adaptive_files.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace shoal {
namespace {

using namespace shoal::test;

constexpr int kWorkers = 3;
constexpr int kUsualKills = 240;
constexpr int kLongestLifeMilliseconds = 120;
constexpr int kRows = 400;

constexpr const char* kPolicy = R"(
[dataset]
name = "held"
lineage = "held"

[privacy]
unit = "row"
neighbors = "replace_one"

[budget]
epsilon = 5
delta = 0
ledger = "h.ledger"

[table.held]
source = "held.csv"
format = "csv"

[table.held.column.x]
type = "integer"
bounds = [0, 1]
)";

const session::RowNumbers kNumbers{std::vector<double>(kRows, 0.5)};

// Asks until it is killed.
int work(const std::filesystem::path& folder) {
  const int journal = ::open((folder / "journal").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  for (;;) {
    try {
      const session::HoldoutReply reply = session::ask_holdout(folder / "h.state", 0.5, kNumbers);
      const std::string line = fmt::format("{}\n", reply.status.asked);
      if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 1;
    } catch (const Error& error) {
      // Somebody else has the turn.
      if (error.code() != ErrorCode::unavailable) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

TEST(StateKill, EachTurnHasOneAnswerThatLeft) {
  const TemporaryFolder folder;
  {
    std::ofstream data(folder / "held.csv");
    data << "x\n";
    for (int i = 0; i < kRows; ++i) data << i % 2 << "\n";
    std::ofstream journal(folder / "journal");
    std::ofstream policy(folder / "held.toml");
    policy << kPolicy;
  }
  session::create_holdout(folder / "h.state",
                          {.rows = kRows,
                           .questions = 1'000'000,
                           .disagreements = 5,
                           .confidence = Confidence(0.95),
                           .epsilon = Epsilon(1),
                           .tolerance = 0.9},
                          {folder / "held.toml"});
  const auto paid = ledger::Ledger(folder / "h.ledger").total("held");

  const int kills = kills_or(kUsualKills);
  std::mt19937_64 random(20261116);
  for (int killed = 0; killed < kills; killed += kWorkers) {
    std::vector<pid_t> workers;
    for (int i = 0; i < kWorkers; ++i)
      workers.push_back(start_child([&] { return work(folder.path()); }));
    for (const pid_t worker : workers) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % kLongestLifeMilliseconds));
      ::kill(worker, SIGKILL);
      ASSERT_EQ(wait_for_child(worker).signal, SIGKILL) << "a worker ended by itself";
    }
  }

  std::set<std::int64_t> left;
  std::ifstream journal(folder / "journal");
  std::int64_t turn = 0;
  while (journal >> turn) EXPECT_TRUE(left.insert(turn).second) << "two answers of turn " << turn;
  const session::HoldoutReply last = session::ask_holdout(folder / "h.state", 0.5, kNumbers);
  std::printf("%zu answers left in %lld turns\n", left.size(),
              static_cast<long long>(last.status.asked));
  EXPECT_GT(left.size(), 10U);
  EXPECT_GE(last.status.asked, static_cast<std::int64_t>(left.size()) + 1);
  EXPECT_GT(last.status.asked, *left.rbegin());
  EXPECT_EQ(ledger::Ledger(folder / "h.ledger").total("held"), paid);
}

}  // namespace
}  // namespace shoal
