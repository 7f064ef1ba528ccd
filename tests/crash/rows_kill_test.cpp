// Rows are settled by many processes at once, and by processes that are killed with kill -9 at a
// random moment: one of them does it, no copy of private rows ever has its name without its budget
// marker, and what a killed process left is removed by the next.
//
// No alarm here is due to chance: what is checked holds for every schedule.
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/rows_manifest.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/session/session.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

namespace shoal {
namespace {

using namespace shoal::test;

constexpr int kRows = 100'000;
constexpr int kKills = 60;
constexpr int kLongestLifeMilliseconds = 400;
constexpr int kProcesses = 50;

constexpr const char* kPolicy = R"(
[dataset]
name = "people"
lineage = "people"

[privacy]
unit = "person"
neighbors = "add_remove"

[budget]
epsilon = 1
delta = 0
ledger = "people.ledger"

[engine]
threads = 2

[table.people]
source = "people.csv"
format = "csv"
person_column = "id"
max_rows_per_person = 2

[table.people.column.id]
type = "integer"

[table.people.column.name]
type = "text"
)";

void write_data(const std::filesystem::path& folder) {
  std::ofstream data(folder / "people.csv");
  data << "id,name\n";
  for (int i = 0; i < kRows; ++i) data << i * 7919LL % kRows << ",name of " << i << "\n";
  std::ofstream policy(folder / "people.toml");
  policy << kPolicy;
}

// A new question each time: a stored answer needs no rows.
int ask(const std::filesystem::path& folder, int number) {
  plan::QueryOptions options;
  options.epsilon = 0.01;
  session::Session(folder / "people.toml")
      .query("SELECT COUNT(*) FROM people", options, fmt::format("number {}", number));
  return 0;
}

TEST(RowsKill, NoCopyHasItsNameWithoutItsMarker) {
  const TemporaryFolder folder;
  write_data(folder.path());
  const std::filesystem::path data = folder / "people.csv";
  const std::filesystem::path rows = catalog::rows_folder(data);
  std::mt19937_64 random(20261119);
  int cut_short = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const pid_t worker = start_child([&] { return ask(folder.path(), kill); });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % kLongestLifeMilliseconds));
    ::kill(worker, SIGKILL);
    wait_for_child(worker);
    std::error_code ignored;
    if (!std::filesystem::exists(rows, ignored)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(rows)) {
      if (entry.path().extension() == ".parquet") {
        EXPECT_FALSE(catalog::read_marks(entry.path()).empty()) << entry.path();
      }
    }
    // Whoever settles next finds what was left, and no word of it.
    if (!std::filesystem::remove(rows / "rows.toml", ignored)) ++cut_short;
  }
  std::printf("%d of %d were cut short\n", cut_short, kKills);
  EXPECT_GT(cut_short, 5);
  ask(folder.path(), kKills);
  const std::string file = catalog::RowsManifest(data).settled().at(0).file;
  for (const auto& entry : std::filesystem::directory_iterator(rows)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "lock" || name == "rows.toml" || name.starts_with(file)) << name;
    EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }
}

TEST(RowsKill, FiftyProcessesSettleOnce) {
  const TemporaryFolder folder;
  write_data(folder.path());
  const catalog::Policy policy = catalog::load_policy(folder / "people.toml");
  const std::filesystem::path journal = folder / "journal";
  std::vector<pid_t> workers;
  for (int i = 0; i < kProcesses; ++i) {
    workers.push_back(start_child([&] {
      engine::open_engine(policy, std::array{&policy.tables[0]},
                          [&](const catalog::Table&, const std::filesystem::path&,
                              const std::function<void()>& give_name) {
                            std::ofstream(journal, std::ios::app) << "settled\n" << std::flush;
                            give_name();
                          });
      return 0;
    }));
  }
  for (const pid_t worker : workers) EXPECT_EQ(wait_for_child(worker).status, 0);
  EXPECT_EQ(read_file(journal), "settled\n");
}

}  // namespace
}  // namespace shoal
