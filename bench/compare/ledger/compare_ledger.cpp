// What the ledger takes beside SQLite itself: a question's two durable commits, in Shoal with the
// chain, the filter and the checks of keys and holders, and in bare SQLite as two rows of the same
// size in the same table. They take turns, in files of one folder.
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

constexpr const char* kInsert =
    "INSERT INTO entry VALUES (?1, '2026-01-01T00:00:00Z', 'bench', ?2, ?3, ?4, ?5, ?6, ?7, 1, 1, "
    "1, 1, 1, ?5, 1, 1, 1, 1, 1)";

class BareSqlite {
 public:
  // A file that has the ledger's table.
  explicit BareSqlite(const std::filesystem::path& file) {
    check(sqlite3_open(file.c_str(), &database_));
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    check(sqlite3_prepare_v2(database_, kInsert, -1, &insert_, nullptr));
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite() {
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }

  void ask(const std::string& key) {
    write(key, "reserve", std::string(kEventBytes, 'e'), next_);
    write(key, "settle", std::string(kAnswerBytes, 'a'), next_ - 1);
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE)
      throw std::runtime_error(sqlite3_errmsg(database_));
  }
  void run(const char* sql) const {
    check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
  }
  void bind(int index, const std::string& text) const {
    check(sqlite3_bind_text(insert_, index, text.c_str(), -1, SQLITE_TRANSIENT));
  }
  void write(const std::string& key, const char* kind, const std::string& body,
             std::int64_t reservation) {
    run("BEGIN IMMEDIATE");
    check(sqlite3_bind_int64(insert_, 1, next_++));
    bind(2, kind);
    check(sqlite3_bind_int64(insert_, 3, reservation));
    bind(4, key);
    bind(5, std::string(64, 'd'));
    bind(6, std::string(60, 'h'));
    bind(7, body);
    check(sqlite3_step(insert_));
    check(sqlite3_reset(insert_));
    run("COMMIT");
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::int64_t next_ = 2;  // after the account's
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
    { const ShoalLedger made(folder / "bare.db"); }
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
