#include "engine/duckdb_connection.hpp"

#include "engine/chunk.hpp"
#include "engine/csv_function.hpp"

#include <shoal/base/error.hpp>

#include <duckdb.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace shoal::engine {
namespace {

class Result {
 public:
  Result() = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { duckdb_destroy_result(&result_); }
  duckdb_result* get() { return &result_; }

 private:
  duckdb_result result_{};
};

class OwnedChunk {
 public:
  explicit OwnedChunk(duckdb_data_chunk chunk) : chunk_(chunk) {}
  OwnedChunk(const OwnedChunk&) = delete;
  OwnedChunk& operator=(const OwnedChunk&) = delete;
  ~OwnedChunk() {
    if (chunk_) duckdb_destroy_data_chunk(&chunk_);
  }
  duckdb_data_chunk get() const { return chunk_; }

 private:
  duckdb_data_chunk chunk_;
};

bool is_valid(duckdb_vector vector, idx_t row) {
  std::uint64_t* validity = duckdb_vector_get_validity(vector);
  return !validity || duckdb_validity_row_is_valid(validity, row);
}

std::string text_at(duckdb_vector vector, idx_t row) {
  if (!is_valid(vector, row)) return {};
  auto* strings = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
  return {duckdb_string_t_data(&strings[row]), duckdb_string_t_length(strings[row])};
}

}  // namespace

struct DuckdbConnection::State {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  std::optional<CsvReads> csv_reads = std::nullopt;

  ~State() {
    if (connection) duckdb_disconnect(&connection);
    if (database) duckdb_close(&database);
  }
};

DuckdbConnection::DuckdbConnection(InsertionOrder order) : state_(std::make_unique<State>()) {
  duckdb_config config = nullptr;
  bool ready = duckdb_create_config(&config) == DuckDBSuccess;
  for (const auto& [name, value] :
       {std::pair{"autoinstall_known_extensions", "false"},
        std::pair{"autoload_known_extensions", "false"},
        std::pair{"allow_community_extensions", "false"},
        std::pair{"allow_unsigned_extensions", "false"},
        std::pair{"preserve_insertion_order", order == InsertionOrder::kept ? "true" : "false"}}) {
    ready = ready && duckdb_set_config(config, name, value) == DuckDBSuccess;
  }
  ready = ready && duckdb_open_ext(nullptr, &state_->database, config, nullptr) == DuckDBSuccess &&
          duckdb_connect(state_->database, &state_->connection) == DuckDBSuccess;
  duckdb_destroy_config(&config);
  if (!ready) {
    throw Error(ErrorCode::unavailable,
                "the data engine (DuckDB) cannot start; check the free memory");
  }
  state_->csv_reads.emplace(state_->connection);
  // A footer is read once, not for the schema, the view and the question each.
  run("SET parquet_metadata_cache = true");
}

DuckdbConnection::DuckdbConnection(DuckdbConnection&&) noexcept = default;
DuckdbConnection& DuckdbConnection::operator=(DuckdbConnection&&) noexcept = default;
DuckdbConnection::~DuckdbConnection() = default;

namespace {

void execute(duckdb_connection connection, const std::string& sql, Result& result) {
  if (duckdb_query(connection, sql.c_str(), result.get()) != DuckDBSuccess) {
    const char* reason = duckdb_result_error(result.get());
    throw DuckdbFailure(reason ? reason : "unknown failure");
  }
}

}  // namespace

_duckdb_connection* DuckdbConnection::handle() const { return state_->connection; }

CsvReads& DuckdbConnection::csv_reads() { return *state_->csv_reads; }

void DuckdbConnection::run(const std::string& sql) {
  Result result;
  execute(state_->connection, sql, result);
}

namespace {

// A statement that is carried out task by task.
class Pending {
 public:
  enum class Kind { whole, streaming };

  Pending(duckdb_connection connection, const std::string& sql, Kind kind = Kind::whole) {
    if (duckdb_prepare(connection, sql.c_str(), &statement_) != DuckDBSuccess)
      fail(duckdb_prepare_error(statement_));
    const auto start =
        kind == Kind::whole ? duckdb_pending_prepared : duckdb_pending_prepared_streaming;
    if (start(statement_, &pending_) != DuckDBSuccess) fail(duckdb_pending_error(pending_));
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { destroy(); }

  // One task. False after the last.
  bool step() {
    const duckdb_pending_state state = duckdb_pending_execute_task(pending_);
    if (state == DUCKDB_PENDING_ERROR) fail(duckdb_pending_error(pending_));
    if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !duckdb_pending_execution_is_finished(state);
  }

  void finish() {
    Result result;
    finish(result);
  }
  void finish(Result& result) {
    if (duckdb_execute_pending(pending_, result.get()) != DuckDBSuccess)
      fail(duckdb_result_error(result.get()));
  }

 private:
  [[noreturn]] void fail(const char* reason) {
    const std::string text = reason ? reason : "unknown failure";
    destroy();
    throw DuckdbFailure(text);
  }
  void destroy() {
    duckdb_destroy_pending(&pending_);
    duckdb_destroy_prepare(&statement_);
  }

  duckdb_prepared_statement statement_ = nullptr;
  duckdb_pending_result pending_ = nullptr;
};

}  // namespace

void DuckdbConnection::run(const std::string& sql, const std::function<void(double)>& progress) {
  if (!progress) return run(sql);
  run("SET enable_progress_bar = true");
  run("SET enable_progress_bar_print = false");
  Pending pending(state_->connection, sql);
  double told = 0;
  progress(0);
  while (pending.step()) {
    // DuckDB's is below 0 while it is not known, as where a CSV is read; that of a CSV is 1 when it
    // is read, which may have been an earlier statement's.
    const double read = state_->csv_reads->progress().value_or(0);
    const double done =
        std::max(duckdb_query_progress(state_->connection).percentage / 100, read < 1 ? read : 0);
    if (done < told + 0.01 || done >= 1) continue;
    told = done;
    progress(told);
  }
  pending.finish();
  progress(1);
}

std::vector<std::vector<std::string>> DuckdbConnection::rows(const std::string& sql) {
  Result result;
  execute(state_->connection, "SELECT COLUMNS(*)::VARCHAR FROM (" + sql + ")", result);
  std::vector<std::vector<std::string>> rows;
  while (true) {
    const OwnedChunk chunk(duckdb_fetch_chunk(*result.get()));
    if (!chunk.get()) return rows;
    const idx_t columns = duckdb_data_chunk_get_column_count(chunk.get());
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk.get()); ++row) {
      std::vector<std::string>& texts = rows.emplace_back();
      for (idx_t column = 0; column < columns; ++column) {
        texts.push_back(text_at(duckdb_data_chunk_get_vector(chunk.get(), column), row));
      }
    }
  }
}

void DuckdbConnection::chunks(const std::string& sql,
                              const std::function<void(_duckdb_data_chunk*)>& action) {
  Result result;
  execute(state_->connection, sql, result);
  while (true) {
    const OwnedChunk chunk(duckdb_fetch_chunk(*result.get()));
    if (!chunk.get()) return;
    action(chunk.get());
  }
}

void DuckdbConnection::stream(const std::string& sql,
                              const std::function<void(_duckdb_data_chunk*)>& action) {
  Pending pending(state_->connection, sql, Pending::Kind::streaming);
  Result result;
  pending.finish(result);
  while (true) {
    const OwnedChunk chunk(duckdb_fetch_chunk(*result.get()));
    if (!chunk.get()) break;
    action(chunk.get());
  }
  // What goes wrong on the way ends the chunks early.
  if (const char* reason = duckdb_result_error(result.get())) throw DuckdbFailure(reason);
}

std::vector<Int128> DuckdbConnection::integers(const std::string& sql) {
  Result result;
  execute(state_->connection, sql, result);
  const OwnedChunk fetched(duckdb_fetch_chunk(*result.get()));
  SHOAL_CHECK(fetched.get() && duckdb_data_chunk_get_size(fetched.get()) == 1);
  const idx_t columns = duckdb_data_chunk_get_column_count(fetched.get());
  for (idx_t column = 0; column < columns; ++column)
    SHOAL_CHECK(duckdb_column_type(result.get(), column) == DUCKDB_TYPE_HUGEINT);
  const Chunk row(fetched.get(), std::vector<Storage>(columns, Storage::bits128));
  std::vector<Int128> values;
  for (const ChunkColumn& column : row.columns) values.push_back(column.integer(0));
  return values;
}

}  // namespace shoal::engine
