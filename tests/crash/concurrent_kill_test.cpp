// A thousand crashes: four processes ask real questions of one policy, data file and ledger, and
// are killed with kill -9 a thousand times. Half of the kills come from outside after a random
// time, wherever the process then is: starting, reading data, drawing noise. The other half hit at
// a random operation on the ledger's files, so that those short moments get their share.
//
// A worker notes the key that it starts on, asks through a Session, and notes the answer only when
// query() has returned it: then it has left. Started again it first asks again for the last key
// that it had an answer to, and for the one that it died on. In the end: the chain verifies; every
// answer that left is stored and comes back byte for byte, unpaid; a key that was answered twice
// was answered alike; every key was paid exactly once.
//
// Workers are forked from a process that never uses DuckDB: the same code as the program runs,
// without loading it a thousand times, and with the file layer of the tests beneath the ledger. No
// alarm here is due to chance: what is checked holds for every schedule. The seed fixes the
// choices, not the schedule.
#include "support/child_process.hpp"
#include "support/crash_vfs.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/session/session.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace shoal {
namespace {

using namespace shoal::test;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kWorkers = 4;
constexpr int kKills = 1000;
constexpr std::uint64_t kSeed = 20250101;
constexpr const char* kQuestion = "SELECT COUNT(*) FROM people";
constexpr double kEpsilon = 0.01;
constexpr milliseconds kLongestLife(350);
constexpr int kMostOperations = 400;  // of a worker on the ledger's files before it dies

constexpr const char* kPolicy = R"toml(
[dataset]
name = "people"
lineage = "people-2025"

[privacy]
unit = "row"
neighbors = "add_remove"

[budget]
epsilon = 500
delta = 0
ledger = "people.ledger"

[table.people]
source = "people.csv"
format = "csv"

[table.people.column.age]
type = "integer"
bounds = [0, 120]
)toml";

plan::QueryOptions question_options() {
  plan::QueryOptions options;
  options.epsilon = kEpsilon;
  return options;
}

ledger::Options worker_options() {
  ledger::Options options;
  options.vfs = crash_vfs();
  options.busy_milliseconds = 60'000;
  return options;
}

void write_data(const TemporaryFolder& folder) {
  std::ofstream(folder / "policy.toml") << kPolicy;
  std::ofstream data(folder / "people.csv");
  data << "age\n";
  for (int i = 0; i < 200; ++i) data << 18 + i % 60 << "\n";
}

// ---- a worker ----

std::filesystem::path journal_path(const std::filesystem::path& folder, int worker) {
  return folder / fmt::format("journal_{}", worker);
}

std::string key_of(int worker, int number) { return fmt::format("worker-{}-{}", worker, number); }

// One line of a journal, written in one piece: "start <number>" or "left <number> <answer>".
struct Note {
  std::string word;
  int number = 0;
  std::string answer;
};

// A line that a kill cut short is no note.
std::vector<Note> read_notes(const std::filesystem::path& path) {
  std::vector<Note> notes;
  std::ifstream stream(path);
  std::string line;
  while (std::getline(stream, line) && !stream.eof()) {
    std::istringstream parts(line);
    Note note;
    parts >> note.word >> note.number;
    std::getline(parts >> std::ws, note.answer);
    notes.push_back(note);
  }
  return notes;
}

// Asks until it is killed, beginning with the last key that it has an answer to, then the one it
// died on.
int work(const std::filesystem::path& folder, int worker, const CrashPlan& plan) {
  const std::vector<Note> earlier = read_notes(journal_path(folder, worker));
  int number = earlier.empty() ? 1 : std::max(1, earlier.back().number - 1);
  const int journal =
      ::open(journal_path(folder, worker).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const auto note = [&](const std::string& line) {
    if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("cannot write the journal");
  };
  plan_crash(plan);
  for (;; ++number) {
    note(fmt::format("start {}\n", number));
    session::Session session(folder / "policy.toml", worker_options());
    const session::Answer answer =
        session.query(kQuestion, question_options(), key_of(worker, number));
    note(fmt::format("left {} {}\n", number, session::to_json(answer)));
  }
}

// ---- the killer ----

class Killer {
 public:
  Killer(const std::filesystem::path& folder, std::uint64_t seed)
      : folder_(folder), random_(seed), workers_(kWorkers) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;
  ~Killer() {
    for (Worker& worker : workers_) {
      if (worker.pid == 0) continue;
      ::kill(worker.pid, SIGKILL);
      wait_for_child(worker.pid);
    }
  }

  // Kills and starts again until there were so many kills. False if a worker failed by itself.
  bool run(int kills) {
    for (int i = 0; i < kWorkers; ++i) start(i);
    while (killed_ < kills) {
      wait_for_a_death_or_a_deadline();
      for (int i = 0; i < kWorkers; ++i) {
        Worker& worker = workers_[static_cast<std::size_t>(i)];
        if (worker.deadline && Clock::now() >= *worker.deadline) {
          ::kill(worker.pid, SIGKILL);
          const ChildEnd end = wait_for_child(worker.pid);
          if (!count(worker, end)) return false;
          start(i);
          continue;
        }
        int status = 0;
        if (::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
        if (!count(worker, child_end(status))) return false;
        start(i);
      }
    }
    return true;
  }

 private:
  struct Worker {
    pid_t pid = 0;
    std::optional<Clock::time_point> deadline;  // none: it kills itself
  };

  void start(int index) {
    Worker& worker = workers_[static_cast<std::size_t>(index)];
    CrashPlan plan;
    worker.deadline.reset();
    if (random_() % 2 == 0) {
      const std::uint64_t most = static_cast<std::uint64_t>(kLongestLife.count());
      worker.deadline = Clock::now() + milliseconds(1 + random_() % most);
    } else {
      constexpr std::array kFaults = {Fault::kill_before, Fault::kill_after, Fault::kill_half};
      plan.fault = kFaults.at(random_() % kFaults.size());
      plan.at = 1 + static_cast<int>(random_() % kMostOperations);
    }
    worker.pid = start_child([&] { return work(folder_, index, plan); });
  }

  bool count(Worker& worker, const ChildEnd& end) {
    worker.pid = 0;
    ++killed_;
    EXPECT_EQ(end.signal, SIGKILL) << "a worker ended by itself with status " << end.status;
    return end.signal == SIGKILL;
  }

  void wait_for_a_death_or_a_deadline() const {
    std::optional<Clock::time_point> first;
    for (const Worker& worker : workers_) {
      if (worker.deadline && (!first || *worker.deadline < *first)) first = worker.deadline;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    const auto left = first ? std::max(*first - Clock::now(), Clock::duration::zero())
                            : Clock::duration(std::chrono::seconds(1));
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    ::sigtimedwait(&signals, nullptr, &timeout);
  }

  std::filesystem::path folder_;
  std::mt19937_64 random_;
  std::vector<Worker> workers_;
  int killed_ = 0;
};

// ---- what must hold in the end ----

std::int64_t number_of(sqlite3* handle, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const std::int64_t number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number;
}

struct Left {
  std::map<std::string, std::string> answers;  // by key
  std::set<std::string> started;
  int twice = 0;
};

Left read_journals(const std::filesystem::path& folder) {
  Left left;
  for (int worker = 0; worker < kWorkers; ++worker) {
    for (const Note& note : read_notes(journal_path(folder, worker))) {
      const std::string key = key_of(worker, note.number);
      if (note.word == "start") left.started.insert(key);
      if (note.word != "left") continue;
      const auto [place, is_first] = left.answers.emplace(key, note.answer);
      EXPECT_EQ(place->second, note.answer) << "two answers of " << key;
      if (!is_first) ++left.twice;
    }
  }
  return left;
}

void expect_each_key_paid_once(ledger::Ledger& ledger, const Left& left) {
  std::set<std::string> paid;
  std::optional<privacy::Charge> charge;
  for (const ledger::Spend& spend : ledger.spends("people-2025")) {
    EXPECT_TRUE(paid.insert(spend.request_key).second) << "paid twice: " << spend.request_key;
    EXPECT_TRUE(left.started.contains(spend.request_key)) << spend.request_key;
    if (!charge) charge = spend.charge;
    EXPECT_EQ(spend.charge, *charge);
  }
  for (const auto& [key, answer] : left.answers) EXPECT_TRUE(paid.contains(key)) << key;
  ASSERT_TRUE(charge.has_value());
  const auto count = static_cast<std::int64_t>(paid.size());
  EXPECT_EQ(ledger.total("people-2025").epsilon_units, *charge->epsilon_units * count);
  EXPECT_EQ(ledger.total("people-2025").rho_units, charge->rho_units * count);
  EXPECT_EQ(ledger.repriced_total("people-2025"), ledger.total("people-2025"));
}

// The stored answers, by key, read behind the ledger's back.
std::map<std::string, std::string> stored_answers(sqlite3* handle) {
  std::map<std::string, std::string> answers;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(handle,
                     "SELECT request_key, json_extract(body, '$.answer') FROM entry "
                     "WHERE kind = 'settle'",
                     -1, &statement, nullptr);
  const auto text = [&](int column) {
    return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)));
  };
  while (sqlite3_step(statement) == SQLITE_ROW) {
    EXPECT_TRUE(answers.emplace(text(0), text(1)).second) << "settled twice: " << text(0);
  }
  sqlite3_finalize(statement);
  return answers;
}

void report(sqlite3* handle, const Left& left) {
  const std::int64_t paid = number_of(handle, "SELECT count(*) FROM entry WHERE kind = 'reserve'");
  const std::int64_t resumed =
      number_of(handle, "SELECT count(*) FROM entry WHERE kind = 'resume'");
  const std::int64_t settled =
      number_of(handle, "SELECT count(*) FROM entry WHERE kind = 'settle'");
  std::printf(
      "%lld keys paid, %lld taken over from a dead process, %lld answered, %zu left, %d of "
      "them twice\n",
      static_cast<long long>(paid), static_cast<long long>(resumed),
      static_cast<long long>(settled), left.answers.size(), left.twice);
  // Otherwise no kill fell between the spend and its answer, and the test showed little.
  EXPECT_GT(resumed, 0);
}

TEST(ConcurrentKill, AThousandCrashesLoseNoSpendAndNoAnswer) {
  const TemporaryFolder folder;
  write_data(folder);
  {
    Killer killer(folder.path(), kSeed);
    ASSERT_TRUE(killer.run(kKills));
  }
  const Left left = read_journals(folder.path());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "people.ledger").c_str(), &handle), SQLITE_OK);
  const auto stored = stored_answers(handle);
  report(handle, left);
  sqlite3_close(handle);

  ledger::Ledger ledger(folder / "people.ledger");  // verifies the chain
  expect_each_key_paid_once(ledger, left);
  for (const auto& [key, answer] : left.answers) {
    const auto found = stored.find(key);
    ASSERT_NE(found, stored.end()) << "the answer of " << key << " left and is not stored";
    EXPECT_EQ(found->second, answer) << key;
  }
  // All are stored as they left; a tenth is asked again, through the whole flow.
  const privacy::Charge before = ledger.total("people-2025");
  session::Session session(folder / "policy.toml");
  int asked = 0;
  for (const auto& [key, answer] : left.answers) {
    if (asked++ % 10 != 0) continue;
    EXPECT_EQ(session::to_json(session.query(kQuestion, question_options(), key)), answer) << key;
  }
  EXPECT_EQ(ledger.total("people-2025"), before);
}

}  // namespace
}  // namespace shoal
