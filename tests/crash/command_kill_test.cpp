// Every command that spends, or goes on with what was spent, killed with kill -9: processes ask,
// make holdouts and leaderboards, take their turns, watch streams and import, all of one budget,
// and end at a random moment or at a random step of their work on files. Kills: SHOAL_KILLS, or
// 300.
//
// A worker notes what leaves at the moment that it has it. In the end: every answer that left is
// stored and comes back byte for byte, unpaid; no turn of a state has two answers; a state that can
// be used was paid for; the sum of the spends is the total, and no worker saw it go down; a copy
// has its marker; whatever left is known to the witness; an older ledger is refused at every
// moment; and what was left behind is gone after the next command of its place.
//
// No alarm here is due to chance: what is checked holds for every schedule.
#include "support/child_process.hpp"
#include "support/file_faults.hpp"
#include "support/kills.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/process.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/witness.hpp>
#include <shoal/session/adaptive_files.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/session.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shoal {
namespace {

namespace fs = std::filesystem;
using namespace shoal::test;

constexpr int kUsualKills = 300;
constexpr int kWorkers = 4;
constexpr int kNames = 3;  // of states and copies of each kind
constexpr int kRows = 300;
constexpr int kLongestLifeMilliseconds = 250;
constexpr int kMostSteps = 60;  // of a worker's work on files before it ends
constexpr const char* kLineage = "killed";

constexpr const char* kPolicy = R"(
[dataset]
name = "people"
lineage = "killed"

[privacy]
unit = "row"
neighbors = "replace_one"

[budget]
epsilon = 1000
delta = 0
ledger = "people.ledger"
witness = "elsewhere/witness"

[query]
time_steps = 0

[table.people]
source = "people.csv"
format = "csv"

[table.people.column.x]
type = "integer"
bounds = [0, 1]
)";

const session::RowNumbers kNumbers{std::vector<double>(kRows, 0.5)};

class Worker {
 public:
  Worker(fs::path folder, std::uint64_t seed)
      : folder_(std::move(folder)),
        random_(seed),
        journal_(::open((folder_ / "journal").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {}

  // Works until it is killed.
  [[noreturn]] void run() {
    const std::vector<std::function<void()>> commands = {
        [&] { ask(); },   [&] { use_holdout(); }, [&] { use_leaderboard(); },
        [&] { watch(); }, [&] { import_copy(); }, [&] { look(); }};
    for (;;) {
      try {
        commands.at(random_() % commands.size())();
      } catch (const Error& error) {
        // Somebody else has it, is faster, or left it unfinished; or a state is used up.
        const bool expected =
            error.code() == ErrorCode::unavailable || error.code() == ErrorCode::conflict ||
            error.code() == ErrorCode::not_found || error.code() == ErrorCode::budget_exceeded;
        if (!expected) throw;
      }
    }
  }

 private:
  void note(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(journal_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot write the journal");
  }
  fs::path name(const char* kind) {
    return folder_ / fmt::format("{}{}", kind, random_() % kNames);
  }
  session::StateData data() const { return {folder_ / "people.toml"}; }
  static std::string id_of(const fs::path& state) {
    return nlohmann::json::parse(read_file(state)).at("id").get<std::string>();
  }

  void ask() {
    plan::QueryOptions options;
    options.epsilon = 0.001;
    const std::string key = fmt::format("{}-{}", process_identity(), random_());
    const session::Answer answer = session::Session(folder_ / "people.toml")
                                       .query("SELECT COUNT(*) FROM people", options, key);
    note(fmt::format("answer {} {}", key, session::to_json(answer)));
  }

  // A state that nobody finished, or that is used up, makes room for the next.
  void use(const fs::path& state, const std::function<void()>& create,
           const std::function<void()>& turn) {
    if (!fs::exists(state)) return create();
    try {
      turn();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable) throw;
      fs::remove(state);
    }
  }

  void use_holdout() {
    const fs::path state = name("holdout");
    use(
        state,
        [&] {
          session::create_holdout(state,
                                  {.rows = kRows,
                                   .questions = 6,
                                   .disagreements = 2,
                                   .confidence = Confidence(0.95),
                                   .epsilon = Epsilon(0.1),
                                   .tolerance = 0.9},
                                  data());
        },
        [&] {
          const std::string id = id_of(state);
          const auto reply = session::ask_holdout(state, 0.5, kNumbers);
          // Another may have replaced the state meanwhile: then the turn was of that one.
          if (id_of(state) == id) note(fmt::format("turn {} {}", id, reply.status.asked));
        });
  }

  void use_leaderboard() {
    const fs::path state = name("board");
    use(
        state,
        [&] {
          session::create_leaderboard(state,
                                      {.rows = kRows,
                                       .submissions = 6,
                                       .confidence = Confidence(0.95),
                                       .epsilon = Epsilon(0.1),
                                       .improvements = 2},
                                      data());
        },
        [&] {
          const std::string id = id_of(state);
          const auto board = session::submit(state, "mine", kNumbers);
          if (id_of(state) == id) note(fmt::format("turn {} {}", id, board.entries.size()));
        });
  }

  void watch() {
    const fs::path state = name("watch");
    use(
        state,
        [&] {
          const mechanism::SparseGoal goal{
              .epsilon = Epsilon(0.1),
              .hits = 20,
              .sensitivity = {Sensitivity(1), mechanism::ScoreChange::two_sided}};
          session::WatchFile::create(
              state, mechanism::calibrate_sparse(goal), goal, "{}",
              session::file_payment(folder_ / "people.csv", folder_ / "people.ledger", kLineage,
                                    {Epsilon(1000), Delta(0)}, ""));
        },
        [&] {
          const std::string id = id_of(state);
          session::WatchFile(state).run([&](mechanism::ThresholdWatch& watch) {
            for (int i = 0; i < 5 && watch.hits_left() > 0; ++i) {
              watch.ask(1000, 500);
              note(fmt::format("verdict {} {}", id, watch.asked()));
            }
          });
        });
  }

  void import_copy() {
    const fs::path copy = name("copy").replace_extension(".parquet");
    if (fs::exists(copy)) {
      if (!fs::exists(catalog::marker_path(copy))) note("unmarked " + copy.string());
      fs::remove(copy);
    }
    session::import_table({.policy = folder_ / "people.toml", .output = copy});
  }

  void look() {
    const double spent = session::Session(folder_ / "people.toml").budget().epsilon_spent;
    if (spent < seen_) note(fmt::format("fell {} {}", seen_, spent));
    seen_ = spent;
  }

  fs::path folder_;
  std::mt19937_64 random_;
  int journal_;
  double seen_ = 0;
};

class CommandKill : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream data(folder_ / "people.csv");
    data << "x\n";
    for (int i = 0; i < kRows; ++i) data << i % 2 << "\n";
    std::ofstream(folder_ / "people.toml") << kPolicy;
    std::ofstream(folder_ / "journal").close();
    fs::create_directory(folder_ / "elsewhere");
    fs::create_directory(folder_ / "older");
  }

  pid_t start() {
    const std::uint64_t seed = random_();
    const int step = random_() % 2 == 0 ? static_cast<int>(random_() % kMostSteps) : -1;
    return start_child([&] {
      const FileFault fault(step, FileFault::Kind::ends_the_process);
      Worker(folder_.path(), seed).run();
      return 0;
    });
  }

  void run_until_killed(int kills) {
    for (int killed = 0; killed < kills; killed += kWorkers) {
      std::vector<pid_t> workers;
      for (int i = 0; i < kWorkers; ++i) workers.push_back(start());
      for (const pid_t worker : workers) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(random_() % kLongestLifeMilliseconds));
        ::kill(worker, SIGKILL);
        ASSERT_EQ(wait_for_child(worker).signal, SIGKILL) << "a worker ended by itself";
      }
      if (killed % 40 == 0) expect_older_is_refused();
    }
  }

  // The ledger, with its log, as it was some rounds ago.
  void move_ledger(const fs::path& from, const fs::path& to) {
    for (const char* part : {"people.ledger", "people.ledger-wal", "people.ledger-shm"}) {
      fs::remove(to / part);
      if (fs::exists(from / part)) fs::copy_file(from / part, to / part);
    }
  }

  void expect_older_is_refused() {
    const fs::path older = folder_ / "older";
    const fs::path now = folder_ / "now";
    fs::create_directory(now);
    const auto seen = catalog::Witness(folder_ / "elsewhere/witness", kLineage).read();
    const bool moved_on = seen && seen_before_ > 0 && seen->number > seen_before_;
    if (moved_on) {
      move_ledger(folder_.path(), now);
      move_ledger(older, folder_.path());
      const ChildEnd end = run_in_child([&] {
        try {
          session::Session(folder_ / "people.toml").budget();
        } catch (const Error& error) {
          return error.code() == ErrorCode::corrupt ? 0 : 2;
        }
        return 1;
      });
      EXPECT_EQ(end.status, 0) << "an older ledger was believed";
      ++refused_;
      move_ledger(now, folder_.path());
    }
    move_ledger(folder_.path(), older);
    seen_before_ = seen ? seen->number : 0;
  }

  TemporaryFolder folder_;
  std::mt19937_64 random_{20261119};
  std::int64_t seen_before_ = 0;
  int refused_ = 0;
};

struct Left {
  std::map<std::string, std::string> answers;
  std::set<std::string> turns;
  std::size_t verdicts = 0;
};

Left read_journal(const fs::path& path) {
  Left left;
  std::ifstream journal(path);
  for (std::string line; std::getline(journal, line) && !journal.eof();) {
    std::istringstream words(line);
    std::string word, first, rest;
    words >> word >> first;
    std::getline(words >> std::ws, rest);
    if (word == "answer") {
      EXPECT_TRUE(left.answers.emplace(first, rest).second) << first;
    } else if (word == "turn" || word == "verdict") {
      EXPECT_TRUE(left.turns.insert(first + " " + rest).second) << "two answers: " << line;
      if (word == "verdict") ++left.verdicts;
    } else {
      ADD_FAILURE() << line;
    }
  }
  return left;
}

TEST_F(CommandKill, NoSpendIsLostAndNothingLeavesTwice) {
  run_until_killed(kills_or(kUsualKills));
  const Left left = read_journal(folder_ / "journal");

  ledger::Ledger ledger(folder_ / "people.ledger");
  std::map<std::string, std::string> spends;  // key to state
  std::int64_t sum = 0;
  for (const ledger::Spend& spend : ledger.spends(kLineage)) {
    EXPECT_TRUE(spends.emplace(spend.request_key, spend.state).second) << spend.request_key;
    if (spend.state != "cancelled") sum += spend.charge.epsilon_units.value();
  }
  EXPECT_EQ(ledger.total(kLineage).epsilon_units, sum);

  // What left is paid, stored, and known to the witnesses.
  session::Session session(folder_ / "people.toml");
  plan::QueryOptions options;
  options.epsilon = 0.001;
  for (const auto& [key, answer] : left.answers) {
    EXPECT_EQ(spends[key], "settled") << key;
    EXPECT_EQ(session::to_json(session.query("SELECT COUNT(*) FROM people", options, key)), answer);
  }
  for (const std::string& turn : left.turns) {
    const std::string id = turn.substr(0, turn.find(' '));
    EXPECT_EQ(spends["state/" + id], "settled") << "a state was used that was not paid for";
  }
  EXPECT_EQ(ledger.total(kLineage).epsilon_units, sum) << "repeats are free";

  // States that can be used were paid for; copies have their marker; nothing stays behind.
  int states = 0;
  for (int i = 0; i < kNames; ++i) {
    const fs::path holdout = folder_ / fmt::format("holdout{}", i);
    try {
      session::ask_holdout(holdout, 0.5, kNumbers);
      ++states;
    } catch (const Error&) {
      fs::remove(holdout);
      session::create_holdout(holdout,
                              {.rows = kRows,
                               .questions = 6,
                               .disagreements = 2,
                               .confidence = Confidence(0.95),
                               .epsilon = Epsilon(0.1),
                               .tolerance = 0.9},
                              {folder_ / "people.toml"});
    }
    const fs::path copy = folder_ / fmt::format("copy{}.parquet", i);
    if (fs::exists(copy)) {
      ASSERT_FALSE(catalog::read_marks(copy).empty()) << copy;
      EXPECT_EQ(catalog::read_marks(copy).at(0).lineage, kLineage);
      fs::remove(copy);
    }
    session::import_table({.policy = folder_ / "people.toml", .output = copy});
  }
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename().string();
    const bool of_these = name.starts_with("holdout") || name.starts_with("copy");
    EXPECT_FALSE(of_these && (name.ends_with(".tmp") || name.find(".next-") != std::string::npos))
        << name;
  }
  std::printf(
      "%zu answers, %zu turns and verdicts (%zu of them verdicts) left; %zu spends; %d of "
      "%d holdouts usable in the end; %d older ledgers refused\n",
      left.answers.size(), left.turns.size(), left.verdicts, spends.size(), states, kNames,
      refused_);
  // Otherwise the test showed little.
  EXPECT_GT(left.answers.size(), 5U);
  EXPECT_GT(left.turns.size(), left.verdicts);
  EXPECT_GT(left.verdicts, 5U);
  EXPECT_GT(refused_, 1);
}

}  // namespace
}  // namespace shoal
