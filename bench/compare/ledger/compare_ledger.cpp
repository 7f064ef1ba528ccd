// What the ledger takes beside SQLite itself: a question's two durable commits, in Shoal with the
// chain, the filter, the checks of keys and holders, and in bare SQLite as two plain rows of the
// same size. Both take turns, in files of one folder.
//   build/bench/bench/compare/ledger/compare_ledger [questions] [folder]
#include <shoal/ledger/ledger.hpp>

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace shoal;

// As large as a small answer of `shoal query` is.
constexpr std::size_t kAnswerBytes = 800;
constexpr std::size_t kEventBytes = 300;

class BareSqlite {
 public:
  explicit BareSqlite(const std::filesystem::path& file) {
    check(sqlite3_open(file.c_str(), &database_));
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    run("CREATE TABLE entry(seq INTEGER PRIMARY KEY, key TEXT NOT NULL, kind TEXT NOT NULL, body "
        "TEXT NOT NULL) STRICT");
    run("CREATE UNIQUE INDEX entry_key ON entry(key, kind)");
    check(sqlite3_prepare_v2(database_, "INSERT INTO entry(key, kind, body) VALUES (?1, ?2, ?3)",
                             -1, &insert_, nullptr));
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite() {
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }

  void ask(const std::string& key) {
    write(key, "reserve", std::string(kEventBytes, 'e'));
    write(key, "settle", std::string(kAnswerBytes, 'a'));
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE)
      throw std::runtime_error(sqlite3_errmsg(database_));
  }
  void run(const char* sql) const {
    check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
  }
  void write(const std::string& key, const char* kind, const std::string& body) const {
    run("BEGIN IMMEDIATE");
    sqlite3_bind_text(insert_, 1, key.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert_, 2, kind, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert_, 3, body.c_str(), -1, SQLITE_TRANSIENT);
    check(sqlite3_step(insert_));
    check(sqlite3_reset(insert_));
    run("COMMIT");
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

class ShoalLedger {
 public:
  explicit ShoalLedger(const std::filesystem::path& file) : ledger_(file) {
    ledger_.open_account({"bench", budget_, Neighbors::add_remove, "one row"});
  }

  void ask(const std::string& key) {
    auto reserved = ledger_.reserve({"bench", key, std::string(64, 'd'), std::string(80, 'q'),
                                     std::string(64, 'p'), budget_, event_});
    auto reservation = std::get<privacy::Reservation>(std::move(reserved));
    reservation.touch();
    ledger_.settle(std::move(reservation).spend(), std::string(kAnswerBytes, 'a'));
  }

 private:
  privacy::Budget budget_{Epsilon(1000), Delta(1e-6)};
  privacy::Event event_ = privacy::event::Compose{
      {privacy::event::DiscreteGaussian{200, 1}, privacy::event::DiscreteLaplace{500, 1}}};
  ledger::Ledger ledger_;
};

struct Times {
  std::vector<double> wall;
  std::vector<double> processor;
};

double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <typename Asked>
void ask(Asked& asked, int question, Times& times) {
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_milliseconds();
  asked.ask("question-" + std::to_string(question));
  times.processor.push_back(processor_milliseconds() - before);
  times.wall.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int questions = argc > 1 ? std::atoi(argv[1]) : 2000;
  const std::filesystem::path parent =
      argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path();
  const std::filesystem::path folder =
      parent / ("shoal-compare-ledger-" + std::to_string(std::time(nullptr)));
  std::filesystem::create_directory(folder);
  Times bare;
  Times shoal;
  {
    BareSqlite sqlite(folder / "bare.db");
    ShoalLedger ledger(folder / "shoal.ledger");
    for (int i = 0; i < questions; ++i) {
      ask(sqlite, i, bare);
      ask(ledger, i, shoal);
    }
  }
  std::filesystem::remove_all(folder);
  fmt::print("{} questions, two durable commits each, medians in milliseconds\n\n", questions);
  fmt::print("{:<24}{:>10}{:>12}\n", "", "in all", "processor");
  fmt::print("{:<24}{:>10.3f}{:>12.3f}\n", "bare SQLite", median(bare.wall),
             median(bare.processor));
  fmt::print("{:<24}{:>10.3f}{:>12.3f}\n", "Shoal's ledger", median(shoal.wall),
             median(shoal.processor));
  fmt::print("{:<24}{:>10.2f}{:>12.2f}\n", "ratio", median(shoal.wall) / median(bare.wall),
             median(shoal.processor) / median(bare.processor));
  return 0;
}
