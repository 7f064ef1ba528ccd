// What the ledger takes beside SQLite itself: a question's two durable commits, in Shoal with the
// chain, the filter and the checks of keys and holders, and in bare SQLite as two rows of the same
// size in the same table. They take turns, in files of one folder. Then what opening, a question, a
// repeat and a report take after 100, 10,000 and 100,000 spends.
//   build/bench/bench/compare/ledger/compare_ledger [questions] [folder]
#include "bare_sqlite.hpp"

#include <shoal/ledger/ledger.hpp>

#include <fmt/format.h>

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
using bench::BareSqlite;
using bench::kAnswerBytes;
using bench::median;

class ShoalLedger {
 public:
  explicit ShoalLedger(const std::filesystem::path& file) : ledger_(file) {
    ledger_.open_account({"bench", budget_, Neighbors::add_remove, "one row"});
  }

  void ask(const std::string& key, int scale = 500) {
    const privacy::Event event =
        privacy::event::Compose{{privacy::event::DiscreteGaussian{200, 1},
                                 privacy::event::DiscreteLaplace{static_cast<double>(scale), 1}}};
    auto reserved = ledger_.reserve({"bench", key, std::string(64, 'd'), std::string(80, 'q'),
                                     std::string(64, 'p'), budget_, event});
    auto reservation = std::get<privacy::Reservation>(std::move(reserved));
    ledger_.settle(std::move(reservation).spend(), std::string(kAnswerBytes, 'a'));
  }

 private:
  privacy::Budget budget_{Epsilon(1000), Delta(1e-6)};
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

// ---- how it grows ----

double milliseconds(auto&& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Fills the ledger up to so many spends, of a hundred different charges.
void fill(const std::filesystem::path& file, int from, int to) {
  ShoalLedger ledger(file);
  for (int i = from; i < to; ++i) ledger.ask(fmt::format("spend-{}", i), 500 + i % 100);
}

struct Growth {
  std::vector<double> question, repeat, budget, verify;
};

// Each as a new process does it: with opening.
void measure(const std::filesystem::path& file, int spends, int rounds) {
  Growth growth;
  ledger::Options reading;
  reading.read_only = true;
  for (int i = 0; i < rounds; ++i) {
    growth.question.push_back(
        milliseconds([&] { ShoalLedger(file).ask(fmt::format("new-{}-{}", spends, i), 700); }));
    growth.repeat.push_back(milliseconds([&] {
      if (!ledger::Ledger(file, reading).stored("bench", "spend-7", std::string(64, 'd')))
        throw std::runtime_error("no answer");
    }));
    growth.budget.push_back(milliseconds([&] {
      ledger::Ledger ledger(file, reading);
      ledger.account("bench");
      ledger.total("bench");
      ledger.last_spends("bench", 20);
    }));
  }
  growth.verify.push_back(milliseconds([&] { ledger::Ledger(file, reading).verify(); }));
  fmt::print("{:<24}{:>10.2f}{:>12.2f}{:>10.2f}{:>12.0f}\n", spends, median(growth.question),
             median(growth.repeat), median(growth.budget), median(growth.verify));
}

void show_growth(const std::filesystem::path& folder) {
  fmt::print("\nopening included, medians of 9 in milliseconds\n\n");
  fmt::print("{:<24}{:>10}{:>12}{:>10}{:>12}\n", "spends before", "question", "repeat", "budget",
             "verify all");
  int filled = 0;
  for (const int spends : {100, 10'000, 100'000}) {
    fill(folder / "growing.ledger", filled, spends);
    filled = spends;
    measure(folder / "growing.ledger", spends, 9);
  }
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
  fmt::print("{} questions, two durable commits each, medians in milliseconds\n\n", questions);
  fmt::print("{:<24}{:>10}{:>12}\n", "", "in all", "processor");
  fmt::print("{:<24}{:>10.3f}{:>12.3f}\n", "bare SQLite", median(bare.wall),
             median(bare.processor));
  fmt::print("{:<24}{:>10.3f}{:>12.3f}\n", "Shoal's ledger", median(shoal.wall),
             median(shoal.processor));
  fmt::print("{:<24}{:>10.2f}{:>12.2f}\n", "ratio", median(shoal.wall) / median(bare.wall),
             median(shoal.processor) / median(bare.processor));
  show_growth(folder);
  std::filesystem::remove_all(folder);
  return 0;
}
