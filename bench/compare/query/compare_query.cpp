// Shoal beside bare DuckDB: the same question over the same Parquet file, taking turns in one run.
//
// Both start from nothing each time: a new database, the file opened anew. Shoal's time is
// everything an answer takes: policy, plan, ledger with its two durable commits, exact sums, noise,
// stored answer. Printed are the medians of wall and processor time and their ratios.
#include <shoal/base/error.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/session.hpp>

#include <duckdb.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Cost {
  double wall = 0;
  double processor = 0;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <typename Action>
Cost measure(Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  const double processor = processor_seconds();
  action();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), processor_seconds() - processor};
}

std::string bare(const std::string& sql) {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_result result;
  if (duckdb_open(nullptr, &database) != DuckDBSuccess ||
      duckdb_connect(database, &connection) != DuckDBSuccess ||
      duckdb_query(connection, sql.c_str(), &result) != DuckDBSuccess) {
    throw std::runtime_error(
        fmt::format("DuckDB failed: {}\n{}", sql, duckdb_result_error(&result)));
  }
  char* text = duckdb_row_count(&result) > 0 ? duckdb_value_varchar(&result, 0, 0) : nullptr;
  std::string value = text ? text : "";
  duckdb_free(text);
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  return value;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Task {
  const char* name;
  const char* shoal;  // table name: big
  const char* duckdb;
};

// The person-level tasks bound each person's rows before the sum; bare DuckDB does not.
constexpr Task kRowTasks[] = {
    {"count, filter on text", "SELECT COUNT(*) FROM big WHERE state = 'TX'",
     "SELECT COUNT(*) FROM {} WHERE state = 'TX'"},
    {"count, filter on number", "SELECT COUNT(*) FROM big WHERE age >= 65",
     "SELECT COUNT(*) FROM {} WHERE age >= 65"},
    {"count, average, sum, filter",
     "SELECT COUNT(*), AVG(age), SUM(hours) FROM big WHERE state = 'TX'",
     "SELECT COUNT(*), AVG(age), SUM(hours) FROM {} WHERE state = 'TX'"},
    {"count of everything (metadata)", "SELECT COUNT(*) FROM big", "SELECT COUNT(*) FROM {}"},
};

std::filesystem::path make_data(long rows, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / fmt::format("big_{}.parquet", rows);
  if (std::filesystem::exists(path)) return path;
  fmt::print("writing {} rows to {}\n", rows, path.string());
  bare(fmt::format(
      "COPY (SELECT i AS id, ['CA','TX','FL','NY','PA','IL','OH','GA','NC','MI'][CAST(1 + "
      "hash(i) % 10 AS BIGINT)] AS state, "
      "CAST(hash(i + 1) % 100 AS INTEGER) AS age, CAST(hash(i + 2) % 80 AS INTEGER) AS hours "
      "FROM range({}) AS t(i)) TO '{}.tmp' (FORMAT parquet)",
      rows, path.string()));
  std::filesystem::rename(path.string() + ".tmp", path);
  return path;
}

std::filesystem::path make_policy(const std::filesystem::path& data) {
  const std::filesystem::path policy = data.parent_path() / "big.toml";
  for (const std::string& old :
       {policy.string(), data.string() + ".shoal", (data.parent_path() / "big.ledger").string(),
        (data.parent_path() / "big.ledger-wal").string(),
        (data.parent_path() / "big.ledger-shm").string()}) {
    std::filesystem::remove(old);
  }
  std::ofstream(policy) << fmt::format(
      "[dataset]\nname = \"big\"\nlineage = \"big\"\n[privacy]\nunit = \"row\"\nneighbors = "
      "\"add_remove\"\n"
      "[budget]\nepsilon = 1000\ndelta = 0\nledger = \"big.ledger\"\n[table.big]\nsource = "
      "\"{}\"\nformat = \"parquet\"\n"
      "[table.big.column.id]\ntype = \"integer\"\n[table.big.column.state]\ntype = \"text\"\n"
      "[table.big.column.age]\ntype = \"integer\"\nbounds = [0, 110]\n"
      "[table.big.column.hours]\ntype = \"integer\"\nbounds = [0, 80]\n",
      data.filename().string());
  shoal::session::settle_data(policy);
  return policy;
}

void compare(const Task& task, const std::filesystem::path& data,
             const std::filesystem::path& policy, int rounds) {
  const std::string sql =
      fmt::format(fmt::runtime(task.duckdb), fmt::format("read_parquet('{}')", data.string()));
  shoal::plan::QueryOptions options;
  options.epsilon = 0.1;
  std::vector<double> wall[2];
  std::vector<double> processor[2];
  for (int round = -1; round < rounds; ++round) {
    const Cost costs[2] = {measure([&] { bare(sql); }), measure([&] {
                             shoal::session::Session session(policy);
                             session.query(task.shoal, options);
                           })};
    if (round < 0) continue;  // the first warms the file cache
    for (int i = 0; i < 2; ++i) {
      wall[i].push_back(costs[i].wall);
      processor[i].push_back(costs[i].processor);
    }
  }
  fmt::print("{:<34}{:>10.3f}{:>10.3f}{:>8.2f}{:>14.3f}{:>10.3f}{:>8.2f}\n", task.name,
             median(wall[0]), median(wall[1]), median(wall[1]) / median(wall[0]),
             median(processor[0]), median(processor[1]),
             median(processor[1]) / median(processor[0]));
}

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 100'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::filesystem::path data = make_data(rows, argc > 3 ? argv[3] : ".");
  const std::filesystem::path policy = make_policy(data);
  fmt::print("{} rows, median of {} rounds, seconds\n\n", rows, rounds);
  fmt::print("{:<34}{:>10}{:>10}{:>8}{:>14}{:>10}{:>8}\n", "", "DuckDB", "Shoal", "ratio",
             "DuckDB cpu", "Shoal cpu", "ratio");
  for (const Task& task : kRowTasks) compare(task, data, policy, rounds);
  return 0;
}
