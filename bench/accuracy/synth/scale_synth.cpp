// How long the engine takes to read a large Parquet file as codes and to count its marginals, and
// how much memory that needs: one line of CSV a step.
//
//   scale_synth FOLDER [ROWS = 10000000 [COLUMNS = 30]]
//
// The file is made once: a third of the columns are words, a third whole numbers, a third real
// ones, ten values or bins each.
#include <shoal/data/marginal_tables.hpp>
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/engine/settle.hpp>
#include <shoal/synth/workload.hpp>

#include <duckdb.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>

namespace {

using namespace shoal;
using catalog::ColumnType;

constexpr ColumnType kTypes[] = {ColumnType::text, ColumnType::integer, ColumnType::real};

std::string column_sql(int column) {
  const std::string value =
      fmt::format("CAST(floor(10 * power(random(), {})) AS INTEGER)", 1 + column % 4);
  if (column % 3 == 0) return fmt::format("'word ' || {} AS c{}", value, column);
  if (column % 3 == 1) return fmt::format("{} AS c{}", value, column);
  return fmt::format("100 * random() * random() AS c{}", column);
}

void make_data(const std::filesystem::path& file, long rows, int columns) {
  std::string items;
  for (int j = 0; j < columns; ++j) items += (j == 0 ? "" : ", ") + column_sql(j);
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_open(nullptr, &database);
  duckdb_connect(database, &connection);
  const std::string sql = fmt::format(
      "SET memory_limit = '4GB'; SET preserve_insertion_order = false; COPY (SELECT {} "
      "FROM range({})) TO '{}' (FORMAT parquet)",
      items, rows, file.string());
  duckdb_result result;
  const bool done = duckdb_query(connection, sql.c_str(), &result) == DuckDBSuccess;
  const std::string reason = done ? "" : duckdb_result_error(&result);
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  if (!done) throw std::runtime_error(reason);
}

catalog::Table table_of(const std::filesystem::path& file, int columns) {
  catalog::Table table;
  table.name = "big";
  table.source = file.filename();
  table.format = catalog::SourceFormat::parquet;
  for (int j = 0; j < columns; ++j) {
    catalog::Column& column = table.columns.emplace_back();
    column.name = fmt::format("c{}", j);
    column.type = kTypes[j % 3];
  }
  return table;
}

engine::CodeRequest request_of(int columns) {
  engine::CodeRequest request;
  for (int j = 0; j < columns; ++j) {
    data::CodedColumn column{fmt::format("c{}", j), kTypes[j % 3], {}, {0, 10}, 10, false};
    if (j % 3 == 0) {
      for (int v = 0; v < 10; ++v) column.categories.push_back(fmt::format("word {}", v));
    }
    if (j % 3 == 2) column.bounds = {0, 100};
    request.columns.push_back(column);
  }
  return request;
}

class Watch {
 public:
  void lap(const char* step) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto now = std::chrono::steady_clock::now();
    const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    fmt::print("{},{:.1f},{:.0f},{:.0f}\n", step,
               std::chrono::duration<double>(now - start_).count(), cpu - cpu_,
               static_cast<double>(usage.ru_maxrss) / 1024);
    std::fflush(stdout);
    start_ = now;
    cpu_ = cpu;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_ = 0;
};

std::vector<data::AttributeSet> sets_of(int columns, std::size_t ways) {
  std::vector<data::AttributeSet> sets;
  for (const auto& one : synth::all_marginals(static_cast<std::size_t>(columns), ways))
    sets.push_back(one.set);
  return sets;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scale_synth FOLDER [ROWS [COLUMNS]]\n");
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::absolute(argv[1]);
  const long rows = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 10'000'000;
  const int columns = argc > 3 ? std::atoi(argv[3]) : 30;
  const std::filesystem::path file = folder / fmt::format("synth_{}_{}.parquet", rows, columns);
  if (!std::filesystem::exists(file)) {
    // In a run of its own, so that making the file is in no measurement.
    make_data(file, rows, columns);
    fmt::print("wrote {}; run again to measure\n", file.string());
    return 0;
  }
  catalog::Policy policy;
  policy.folder = folder;
  const catalog::Table table = table_of(file, columns);
  engine::settle_rows(policy, table,
                      [](const catalog::Table&, const std::filesystem::path&,
                         const std::function<void()>& give_name) { give_name(); });
  std::puts("step,wall_seconds,cpu_seconds,peak_mb");
  Watch watch;
  engine::DuckdbEngine engine(policy, table);
  const data::CodedTable coded =
      engine.coded_rows(request_of(columns), OwnerLog(folder / "scale_synth.log"));
  watch.lap("read as codes");
  count_marginals(coded, sets_of(columns, 2), 2);
  watch.lap("count all pairs");
  count_marginals(coded, sets_of(columns, 3), 2);
  watch.lap("count all triples");
}
