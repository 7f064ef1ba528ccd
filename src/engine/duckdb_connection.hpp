// A thin hold on DuckDB's C API: a private in-memory database, statements, results that free
// themselves.
#pragma once

#include "engine/failure.hpp"

#include <shoal/base/int128.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// The names are DuckDB's.
struct _duckdb_connection;  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
struct _duckdb_data_chunk;  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace shoal::engine {

class CsvReads;

class DuckdbFailure : public EngineFailure {
  using EngineFailure::EngineFailure;
};

// Whether rows come out of a scan in the order of their file. Any order is faster.
enum class InsertionOrder { any, kept };

class DuckdbConnection {
 public:
  // An in-memory database with extensions neither installed nor loaded on their own.
  // Throws unavailable if DuckDB cannot start.
  explicit DuckdbConnection(InsertionOrder order = InsertionOrder::any);
  DuckdbConnection(DuckdbConnection&&) noexcept;
  DuckdbConnection& operator=(DuckdbConnection&&) noexcept;
  ~DuckdbConnection();

  // Each throws DuckdbFailure.
  void run(const std::string& sql);
  // The same, and tells from time to time how much of it is done, from 0 to 1.
  void run(const std::string& sql, const std::function<void(double)>& progress);
  // All rows as text; SQL NULL is an empty text.
  std::vector<std::vector<std::string>> rows(const std::string& sql);
  // The only row of a query whose columns are all HUGEINT; SQL NULL is 0.
  std::vector<Int128> integers(const std::string& sql);
  // Each chunk of a query's rows: flat columns in their own types.
  void chunks(const std::string& sql, const std::function<void(_duckdb_data_chunk*)>& action);
  // The same for results larger than memory: chunks are made while they are read.
  void stream(const std::string& sql, const std::function<void(_duckdb_data_chunk*)>& action);
  // The CSV files that statements read through shoal_csv (csv_function.hpp).
  CsvReads& csv_reads();
  // For parts of DuckDB's C API that are not here.
  _duckdb_connection* handle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::engine
