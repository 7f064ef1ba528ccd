// Runs SQL on DuckDB, for tests of what printed expressions do.
#pragma once

#include <duckdb.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace shoal::sql::testing {

class DuckdbRunner {
 public:
  using Row = std::vector<std::optional<std::string>>;

  DuckdbRunner() {
    if (duckdb_open(nullptr, &database_) != DuckDBSuccess ||
        duckdb_connect(database_, &connection_) != DuckDBSuccess) {
      throw std::runtime_error("DuckDB does not start");
    }
  }
  DuckdbRunner(const DuckdbRunner&) = delete;
  DuckdbRunner& operator=(const DuckdbRunner&) = delete;
  ~DuckdbRunner() {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  // The rows, each value as text. Throws with DuckDB's message if it raises an error.
  std::vector<Row> run(const std::string& query) {
    duckdb_result result;
    const bool done = duckdb_query(connection_, query.c_str(), &result) == DuckDBSuccess;
    std::vector<Row> rows;
    const char* reason = done ? nullptr : duckdb_result_error(&result);
    const std::string message = reason != nullptr ? reason : "";
    for (idx_t row = 0; done && row < duckdb_row_count(&result); ++row) {
      Row& values = rows.emplace_back();
      for (idx_t column = 0; column < duckdb_column_count(&result); ++column) {
        char* text = duckdb_value_varchar(&result, column, row);
        values.push_back(text != nullptr ? std::optional<std::string>(text) : std::nullopt);
        duckdb_free(text);
      }
    }
    duckdb_destroy_result(&result);
    if (!done) throw std::runtime_error(message);
    return rows;
  }

 private:
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

}  // namespace shoal::sql::testing
