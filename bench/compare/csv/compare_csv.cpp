// CSV to Parquet through Shoal's reader and through DuckDB's own, which take turns over one file of
// numbers, dates and texts, some of them quoted.
//   build/bench/bench/compare/csv/compare_csv [megabytes] [rounds] [folder]
#include "engine/duckdb_connection.hpp"
#include "engine/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace shoal::engine;

struct Column {
  const char* name;
  const char* type;
};
constexpr Column kColumns[] = {{"id", "BIGINT"},      {"person", "BIGINT"},     {"age", "BIGINT"},
                               {"cost", "DOUBLE"},    {"weight", "DOUBLE"},     {"city", "VARCHAR"},
                               {"day", "DATE"},       {"visited", "TIMESTAMP"}, {"note", "VARCHAR"},
                               {"insured", "BOOLEAN"}};

void write_table(const std::filesystem::path& path, std::uint64_t bytes) {
  std::ofstream file(path, std::ios::binary);
  std::string text = "id,person,age,cost,weight,city,day,visited,note,insured\n";
  std::uint64_t state = 1;
  const auto pick = [&](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % n;
  };
  const char* cities[] = {"Paris", "Rio de Janeiro", "Oslo", "San Francisco", "Bern"};
  const char* notes[] = {"\"came back, twice\"", "\"said \"\"fine\"\"\"", "", "routine", "no show"};
  std::uint64_t written = 0;
  for (std::uint64_t id = 0; written < bytes; ++id) {
    text += fmt::format(
        "{},{},{},{}.{:02},{:.6f},{},20{:02}-{:02}-{:02},2024-01-{:02} {:02}:{:02}:00,{},{}\n", id,
        pick(bytes / 1000 + 1), pick(100), pick(5000), pick(100),
        static_cast<double>(pick(1000000)) / 7.0, cities[pick(5)], pick(25), pick(12) + 1,
        pick(28) + 1, pick(31) + 1, pick(24), pick(60), notes[pick(5)],
        pick(2) == 0 ? "true" : "false");
    if (text.size() < (1U << 20)) continue;
    file << text;
    written += text.size();
    text.clear();
  }
  file << text;
}

// How the rows of the file get there: sorted ones are put back into the file's order.
enum class Reader { duckdb, shoal, shoal_sorted };

struct Seconds {
  double wall;
  double processor;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string statement(Reader reader, const std::filesystem::path& input,
                      const std::filesystem::path& output) {
  std::string items;
  std::string types;
  std::vector<std::string> names;
  for (const Column& column : kColumns) {
    const std::string comma = items.empty() ? "" : ", ";
    names.emplace_back(column.name);
    types += fmt::format("{}'{}': '{}'", comma, column.name, column.type);
    items += comma + (reader == Reader::duckdb || std::string(column.type) == "VARCHAR"
                          ? std::string(column.name)
                          : fmt::format("TRY_CAST({0} AS {1}) AS {0}", column.name, column.type));
  }
  const std::string source =
      reader == Reader::shoal ? csv_source(input, {}, names)
      : reader == Reader::shoal_sorted
          ? csv_source(input, {}, names, {true, true}) + " ORDER BY shoal_row"
          : fmt::format(
                "read_csv({}, header = true, auto_detect = false, delim = ',', quote = "
                "'\"', escape = '\"', columns = {{{}}})",
                quoted(input.string()), types);
  return fmt::format("COPY (SELECT {} FROM {}) TO {} (FORMAT parquet, COMPRESSION snappy)", items,
                     source, quoted(output.string()));
}

Seconds import(Reader reader, InsertionOrder order, const std::filesystem::path& input,
               const std::filesystem::path& output) {
  DuckdbConnection connection(order);
  connection.run("SET threads = 2");
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  connection.run(statement(reader, input, output));
  const double processor = processor_seconds() - before;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), processor};
}

double median(const std::vector<Seconds>& times, double Seconds::*which) {
  std::vector<double> values;
  std::transform(times.begin(), times.end(), std::back_inserter(values),
                 [&](const Seconds& one) { return one.*which; });
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Way {
  const char* name;
  Reader reader;
  InsertionOrder order;
};

void compare(const char* title, std::span<const Way> ways, int rounds,
             const std::filesystem::path& input) {
  std::vector<std::vector<Seconds>> times(ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      times[i].push_back(import(ways[i].reader, ways[i].order, input,
                                input.parent_path() / fmt::format("{}.parquet", i)));
    }
  }
  const double size = static_cast<double>(std::filesystem::file_size(input)) / 1e6;
  fmt::print("\nrows in {}, medians of {} rounds\n{:<18}{:>10}{:>14}{:>8}{:>24}\n", title, rounds,
             "", "wall, s", "processor, s", "MB/s", "speed beside DuckDB's");
  const double peer = median(times[0], &Seconds::wall);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double wall = median(times[i], &Seconds::wall);
    fmt::print("{:<18}{:>10.2f}{:>14.2f}{:>8.0f}{:>24.2f}\n", ways[i].name, wall,
               median(times[i], &Seconds::processor), size / wall, peer / wall);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::filesystem::path parent =
      argc > 3 ? std::filesystem::path(argv[3]) : std::filesystem::temp_directory_path();
  const std::filesystem::path folder = parent / fmt::format("shoal-compare-csv-{}", megabytes);
  std::filesystem::create_directories(folder);
  const std::filesystem::path input = folder / "table.csv";
  if (!std::filesystem::exists(input)) write_table(input, megabytes * 1'000'000);
  fmt::print("{} MB of CSV to Parquet, two threads\n", megabytes);
  constexpr Way kAny[] = {{"DuckDB", Reader::duckdb, InsertionOrder::any},
                          {"Shoal", Reader::shoal, InsertionOrder::any}};
  constexpr Way kKept[] = {{"DuckDB", Reader::duckdb, InsertionOrder::kept},
                           {"Shoal, one thread", Reader::shoal, InsertionOrder::kept},
                           {"Shoal, sorted", Reader::shoal_sorted, InsertionOrder::kept}};
  compare("any order", kAny, rounds, input);
  compare("the file's order", kKept, rounds, input);
  return 0;
} catch (const EngineFailure& failure) {
  fmt::print(stderr, "{}\n", failure.details());
  return 1;
}
