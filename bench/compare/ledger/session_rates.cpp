// What one open session answers in a second: paid questions, beside the synced commits that bare
// SQLite makes in the same run, and free repeats. A question is two commits. Answers leave as soon
// as they are there (time_steps = 0) for the paid ones, since a grid of times is what it is.
//   build/bench/bench/compare/ledger/session_rates [questions] [folder]
#include "bare_sqlite.hpp"

#include <shoal/ledger/ledger.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace shoal;
namespace fs = std::filesystem;

fs::path make_policy(const fs::path& folder, const char* name, int time_steps) {
  const fs::path data = folder / fmt::format("{}.csv", name);
  std::ofstream rows(data);
  rows << "id,age\n";
  for (int i = 0; i < 3000; ++i) rows << i << ',' << i * 37 % 90 << '\n';
  const fs::path policy = folder / fmt::format("{}.toml", name);
  std::ofstream(policy) << fmt::format(
      "[dataset]\nname = \"people\"\nlineage = \"{0}\"\n[privacy]\nunit = \"row\"\nneighbors = "
      "\"add_remove\"\n[budget]\nepsilon = 1000\ndelta = 0\nledger = \"{0}.ledger\"\n[query]\n"
      "time_steps = {1}\n[table.people]\nsource = \"{0}.csv\"\nformat = \"csv\"\n"
      "[table.people.column.id]\ntype = \"integer\"\n[table.people.column.age]\ntype = "
      "\"integer\"\nbounds = [0, 110]\n",
      name, time_steps);
  return policy;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds(auto&& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int questions = argc > 1 ? std::atoi(argv[1]) : 500;
  const fs::path parent = argc > 2 ? fs::path(argv[2]) : fs::temp_directory_path();
  const fs::path folder = parent / fmt::format("shoal-session-rates-{}", std::time(nullptr));
  fs::create_directory(folder);
  {
    { const ledger::Ledger made(folder / "bare.db"); }
    bench::BareSqlite sqlite(folder / "bare.db");
    session::Session session(make_policy(folder, "paid", 0));
    plan::QueryOptions options;
    options.epsilon = 0.001;
    const char* sql = "SELECT COUNT(*), SUM(age) FROM people";
    session.query(sql, options, "first");
    double bare = 0;
    double paid = 0;
    double bare_processor = 0;
    double paid_processor = 0;
    for (int i = 0; i < questions; ++i) {
      const double start = processor_seconds();
      bare += seconds([&] { sqlite.ask(fmt::format("question-{}", i)); });
      const double middle = processor_seconds();
      paid += seconds([&] { session.query(sql, options, fmt::format("question-{}", i)); });
      bare_processor += middle - start;
      paid_processor += processor_seconds() - middle;
    }
    const double each = 1000.0 / questions;
    fmt::print("bare SQLite, half its commits  {:>8.0f} / s, {:.2f} ms of processor time each\n",
               questions / bare, each * bare_processor);
    fmt::print("paid questions, one session    {:>8.0f} / s ({:.0f} %), {:.2f} ms\n",
               questions / paid, 100 * bare / paid, each * paid_processor);
    for (const int steps : {0, 1}) {
      session::Session again(make_policy(folder, steps == 0 ? "repeats" : "grid", steps));
      again.query(sql, options);
      const int repeats = 10 * questions;
      const double start = processor_seconds();
      const double all = seconds([&] {
        for (int i = 0; i < repeats; ++i) again.query(sql, options);
      });
      fmt::print("free repeats, time_steps = {}   {:>8.0f} / s, {:.2f} ms\n", steps, repeats / all,
                 1000 * (processor_seconds() - start) / repeats);
    }
  }
  fs::remove_all(folder);
  return 0;
}
