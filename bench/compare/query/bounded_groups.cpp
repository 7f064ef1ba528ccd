// Bounded groups beside bare GROUP BY: COUNT, SUM and AVG by group over the same Parquet files,
// taking turns in one run.
//
// Two skews (a: rows of people fall as 1/rank; b: as its square root), in any order and ordered by
// person. Of each person 3 groups count and 10 rows of each; bare DuckDB bounds nothing. Printed
// are the least times of the rounds, as other work on the machine only adds to them, and the median
// of the rounds' ratios, as what slows the machine for a while slows both of a round.
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/engine/settle.hpp>

#include <duckdb.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace shoal;

struct Cost {
  double wall = 1e9;
  double processor = 1e9;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Its processor time, and the least of both so far.
template <typename Action>
double measure(Cost& least, Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  const double processor = processor_seconds();
  action();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  least.wall = std::min(least.wall, wall.count());
  const double used = processor_seconds() - processor;
  least.processor = std::min(least.processor, used);
  return used;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

class Bare {
 public:
  Bare(int threads, const std::filesystem::path& folder) {
    duckdb_open(nullptr, &database_);
    duckdb_connect(database_, &connection_);
    run(fmt::format("SET threads = {}", threads));
    run("SET preserve_insertion_order = false");
    run("SET parquet_metadata_cache = true");
    run("SET memory_limit = '6GB'");
    run(fmt::format("SET temp_directory = '{}'", (folder / "sorting").string()));
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  void run(const std::string& sql) {
    duckdb_result result;
    const bool done = duckdb_query(connection_, sql.c_str(), &result) == DuckDBSuccess;
    const std::string reason = done ? "" : duckdb_result_error(&result);
    duckdb_destroy_result(&result);
    if (!done) throw std::runtime_error(sql + ": " + reason);
  }

 private:
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

std::string file_name(long rows, bool steep, bool ordered) {
  return fmt::format("groups_{}_{}{}.parquet", rows, steep ? "a" : "b", ordered ? "_ordered" : "");
}

// Writes what is not there yet, in parts that fit into a few gigabytes.
void make_data(Bare& bare, long rows, bool steep, bool ordered,
               const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / file_name(rows, steep, ordered);
  if (std::filesystem::exists(file)) return;
  const double people = static_cast<double>(rows) / 10;
  const std::string user = steep ? fmt::format("exp(random() * ln({}))", people)
                                 : fmt::format("{} * power(random(), 2)", people);
  std::string from = fmt::format(
      "SELECT *, 'group number ' || grp AS name, grp % 7 AS part FROM (SELECT CAST(floor({}) AS "
      "BIGINT) AS user_id, CAST(floor(100 * power(random(), 1.5)) AS INTEGER) AS grp, "
      "CAST(random() * random() * 120 AS DOUBLE) AS value FROM range({}))",
      user, rows);
  if (ordered) {
    make_data(bare, rows, steep, false, folder);
    from = fmt::format("SELECT * FROM '{}' ORDER BY user_id",
                       (folder / file_name(rows, steep, false)).string());
  }
  fmt::print("writing {}\n", file.string());
  std::fflush(stdout);
  bare.run("SELECT setseed(0.42)");
  // Ordered rows as `shoal import` writes them.
  bare.run(fmt::format("COPY ({}) TO '{}.tmp' (FORMAT parquet{})", from, file.string(),
                       ordered ? ", DICTIONARY_SIZE_LIMIT 8192" : ""));
  std::filesystem::rename(file.string() + ".tmp", file);
}

struct Task {
  const char* name;
  std::vector<const char*> keys;
  std::vector<engine::KeyType> types;
};

engine::GroupedRequest request_of(const Task& task, bool clustered) {
  using catalog::StatisticKind;
  const catalog::GridRange range = catalog::place_on_grid({0, 100}, {-10});
  engine::GroupedRequest request;
  request.has_unit = true;
  request.keys = task.types;
  request.values = {{engine::ValueUse::steps, false, range, true, engine::KeyType::real}};
  request.sets = {{{}, 3}};
  for (std::size_t i = 0; i < task.keys.size(); ++i) request.sets[0].keys.push_back(i);
  request.statistics = {{StatisticKind::units, 0, "", {}},
                        {StatisticKind::rows, 0, "", {}},
                        {StatisticKind::values, 0, "value", {}},
                        {StatisticKind::centred_sum, 0, "value", range}};
  request.rows_per_group = 10;
  request.hash_key = {0x5368, 0x6f616c};
  request.clustered = clustered;
  return request;
}

void compare(Bare& bare, const Task& task, const std::filesystem::path& file, bool clustered,
             int threads, int rounds) {
  catalog::Policy policy;
  policy.folder = file.parent_path();
  policy.engine.threads = threads;
  catalog::Table table;
  table.name = "events";
  table.source = file.filename();
  table.format = catalog::SourceFormat::parquet;
  using catalog::ColumnType;
  for (const auto& [name, type] :
       {std::pair{"user_id", ColumnType::integer}, std::pair{"grp", ColumnType::integer},
        std::pair{"value", ColumnType::real}, std::pair{"name", ColumnType::text},
        std::pair{"part", ColumnType::integer}}) {
    catalog::Column& column = table.columns.emplace_back();
    column.name = name;
    column.type = type;
  }
  engine::settle_rows(policy, table,
                      [](const catalog::Table&, const std::filesystem::path&,
                         const std::function<void()>& give_name) { give_name(); });
  engine::DuckdbEngine engine(policy, table);
  const OwnerLog log(file.string() + ".log");
  std::string keys;
  std::string named;
  for (std::size_t i = 0; i < task.keys.size(); ++i) {
    keys += fmt::format("{}{}", i == 0 ? "" : ", ", task.keys[i]);
    named += fmt::format(", {} AS k{}", task.keys[i], i);
  }
  const engine::GroupedRequest request = request_of(task, clustered);
  Cost costs[2];
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double bare_time = measure(costs[0], [&] {
      bare.run(fmt::format(
          "SELECT {0}, COUNT(*), COUNT(value), SUM(value), AVG(value) FROM '{1}' GROUP BY {0}",
          keys, file.string()));
    });
    const double own_time = measure(costs[1], [&] {
      engine.aggregate_rows(fmt::format("SELECT user_id AS u{}, value AS v0 FROM events", named),
                            request, log);
    });
    ratios.push_back(own_time / bare_time);
  }
  fmt::print("{:<44}{:>9.3f}{:>9.3f}{:>8.2f}{:>8.2f}{:>12.3f}{:>9.3f}{:>8.2f}\n",
             fmt::format("{}, {}", file.stem().string(), task.name), costs[0].processor,
             costs[1].processor, costs[1].processor / costs[0].processor, median(ratios),
             costs[0].wall, costs[1].wall, costs[1].wall / costs[0].wall);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 20'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::filesystem::path folder = argc > 3 ? argv[3] : ".";
  const int threads = argc > 4 ? std::atoi(argv[4]) : 2;
  const std::string only = argc > 5 ? argv[5] : "";  // lines whose name, and a full stop, hold this
  std::filesystem::create_directories(folder);
  Bare bare(threads, folder);
  fmt::print("{} rows, {} threads, least of {} rounds, seconds\n\n", rows, threads, rounds);
  fmt::print("{:<44}{:>9}{:>9}{:>8}{:>8}{:>12}{:>9}{:>8}\n", "", "cpu bare", "Shoal", "ratio",
             "median", "wall bare", "Shoal", "ratio");
  const Task tasks[] = {
      {"by number", {"grp"}, {engine::KeyType::integer}},
      {"by text", {"name"}, {engine::KeyType::text}},
      {"by text and number", {"name", "part"}, {engine::KeyType::text, engine::KeyType::integer}}};
  for (const Task& task : tasks) {
    for (const bool steep : {true, false}) {
      for (const bool clustered : {true, false}) {
        const std::string name = file_name(rows, steep, clustered);
        if (fmt::format("{}, {}.", name, task.name).find(only) == std::string::npos) continue;
        make_data(bare, rows, steep, clustered, folder);
        compare(bare, task, folder / name, clustered, threads, rounds);
      }
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("\nlargest memory: {} MB\n", usage.ru_maxrss / 1024);
  return 0;
}
