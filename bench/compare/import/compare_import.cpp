// What it takes to settle a CSV file, beside DuckDB's own way from CSV to Parquet, and what that
// saves: the same questions over the CSV by bare DuckDB and over the settled rows by Shoal, taking
// turns in one run.
//
//   compare_import [ROWS [ROUNDS [FOLDER]]]
//
// Shoal's time to settle has all of it: the digest of the source, the rows in the policy's types,
// for people ordered by person, the digest of the copy, marker and manifest, each durable.
#include <shoal/session/import.hpp>
#include <shoal/session/session.hpp>

#include <duckdb.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Cost {
  double wall = 0;
  double memory = 0;  // the peak, in MB
};

// In a process of its own: memory is then its own, and nothing is left warm but the file cache.
template <typename Action>
Cost measure(Action&& action) {
  std::fflush(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    try {
      action();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || status != 0)
    throw std::runtime_error("a measured step failed");
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

void bare(const std::string& sql) {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_result result;
  if (duckdb_open(nullptr, &database) != DuckDBSuccess ||
      duckdb_connect(database, &connection) != DuckDBSuccess ||
      duckdb_query(connection, sql.c_str(), &result) != DuckDBSuccess) {
    throw std::runtime_error(
        fmt::format("DuckDB failed: {}\n{}", sql, duckdb_result_error(&result)));
  }
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

fs::path make_data(long rows, const fs::path& folder) {
  const fs::path path = folder / fmt::format("visits_{}.csv", rows);
  if (fs::exists(path)) return path;
  fmt::print("writing {} rows to {}\n", rows, path.string());
  measure([&] {
    bare(fmt::format(
        "COPY (SELECT CAST(hash(i) % ({0} // 5 + 1) AS BIGINT) AS person, "
        "['CA','TX','FL','NY','PA','IL','OH','GA','NC','MI'][CAST(1 + hash(i + 1) % 10 AS BIGINT)] "
        "AS state, CAST(hash(i + 2) % 100 AS INTEGER) AS age, DATE '2020-01-01' + CAST(hash(i + 3) "
        "% 1500 AS INTEGER) AS day, CAST(hash(i + 4) % 100000 AS DOUBLE) / 100 AS cost, 'visit ' "
        "|| CAST(hash(i + 5) % 1000 AS VARCHAR) AS note FROM range({0}) AS t(i)) TO '{1}.tmp' "
        "(FORMAT csv)",
        rows, path.string()));
  });
  fs::rename(path.string() + ".tmp", path);
  return path;
}

fs::path make_policy(const fs::path& data, bool people) {
  const fs::path policy = data.parent_path() / (people ? "people.toml" : "rows.toml");
  std::ofstream(policy) << fmt::format(
      "[dataset]\nname = \"visits\"\nlineage = \"visits\"\n[privacy]\nunit = \"{}\"\nneighbors = "
      "\"add_remove\"\n[budget]\nepsilon = 1000\ndelta = 0\nledger = \"visits.ledger\"\n[query]\n"
      "time_steps = 0\n[table.visits]\nsource = \"{}\"\nformat = \"csv\"\n{}"
      "[table.visits.column.person]\ntype = \"integer\"\n[table.visits.column.state]\ntype = "
      "\"text\"\n[table.visits.column.age]\ntype = \"integer\"\nbounds = [0, 110]\n"
      "[table.visits.column.day]\ntype = \"date\"\n[table.visits.column.cost]\ntype = \"real\"\n"
      "bounds = [0, 1000]\n[table.visits.column.note]\ntype = \"text\"\n",
      people ? "person" : "row", data.filename().string(),
      people ? "person_column = \"person\"\nmax_rows_per_person = 10\n" : "");
  return policy;
}

// The budget: the ledger, and what ties the data to it.
void forget_budget(const fs::path& data) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(data.parent_path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("visits.ledger") || name.starts_with(data.filename().string() + ".shoal"))
      files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file);
}

void print(const std::string& name, const std::vector<Cost>& bare_costs,
           const std::vector<Cost>& own) {
  const auto walls = [](const std::vector<Cost>& costs) {
    std::vector<double> all;
    for (const Cost& cost : costs) all.push_back(cost.wall);
    return median(all);
  };
  const auto peak = [](const std::vector<Cost>& costs) {
    double most = 0;
    for (const Cost& cost : costs) most = std::max(most, cost.memory);
    return most;
  };
  fmt::print("{:<34}{:>10.2f}{:>10.2f}{:>8.2f}{:>12.0f}{:>10.0f}\n", name, walls(bare_costs),
             walls(own), walls(own) / walls(bare_costs), peak(bare_costs), peak(own));
  std::fflush(stdout);
}

void compare_settling(const fs::path& data, const fs::path& policy, bool people, int rounds) {
  const fs::path copy = data.string() + ".bare.parquet";
  std::vector<Cost> bare_costs;
  std::vector<Cost> own;
  for (int round = 0; round < rounds; ++round) {
    bare_costs.push_back(measure([&] {
      bare(fmt::format("COPY (FROM '{}') TO '{}' (FORMAT parquet)", data.string(), copy.string()));
    }));
    fs::remove(copy);
    forget_budget(data);
    fs::remove_all(data.string() + ".rows");
    own.push_back(measure([&] { shoal::session::settle_data(policy); }));
  }
  print(people ? "settle, ordered by person" : "settle, in the file's order", bare_costs, own);
}

struct Task {
  const char* name;
  const char* shoal;
  const char* duckdb;
};

// For people, Shoal bounds what each of them contributes; bare DuckDB does not.
constexpr Task kTasks[] = {
    {"count", "SELECT COUNT(*) FROM visits WHERE state = 'TX'",
     "SELECT COUNT(*) FROM '{}' WHERE state = 'TX'"},
    {"count, average, sum", "SELECT COUNT(*), AVG(age), SUM(cost) FROM visits WHERE age >= 20",
     "SELECT COUNT(*), AVG(age), SUM(cost) FROM '{}' WHERE age >= 20"},
};

void compare_questions(const fs::path& data, const fs::path& policy, bool people, int rounds) {
  shoal::plan::QueryOptions options;
  options.epsilon = 0.1;
  for (const Task& task : kTasks) {
    std::vector<Cost> bare_costs;
    std::vector<Cost> own;
    for (int round = 0; round < rounds; ++round) {
      bare_costs.push_back(
          measure([&] { bare(fmt::format(fmt::runtime(task.duckdb), data.string())); }));
      own.push_back(measure([&] {
        shoal::session::Session(policy).query(task.shoal, options, fmt::format("{}", round));
      }));
    }
    print(fmt::format("{}, {}", task.name, people ? "people" : "rows"), bare_costs, own);
    forget_budget(data);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 20'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const fs::path data = make_data(rows, fs::absolute(argc > 3 ? argv[3] : "."));
  fmt::print("{} rows, {:.0f} MB, median of {} rounds, seconds and peak MB\n\n", rows,
             static_cast<double>(fs::file_size(data)) / 1e6, rounds);
  fmt::print("{:<34}{:>10}{:>10}{:>8}{:>12}{:>10}\n", "", "DuckDB", "Shoal", "ratio", "DuckDB MB",
             "Shoal MB");
  for (const bool people : {false, true}) {
    const fs::path policy = make_policy(data, people);
    compare_settling(data, policy, people, rounds);
    compare_questions(data, policy, people, rounds);
  }
  return 0;
}
