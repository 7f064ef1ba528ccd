#include "engine/duckdb_connection.hpp"

#include <shoal/base/error.hpp>

#include <duckdb.h>

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

class Chunk {
 public:
  explicit Chunk(duckdb_data_chunk chunk) : chunk_(chunk) {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
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

  ~State() {
    if (connection) duckdb_disconnect(&connection);
    if (database) duckdb_close(&database);
  }
};

DuckdbConnection::DuckdbConnection() : state_(std::make_unique<State>()) {
  duckdb_config config = nullptr;
  bool ready = duckdb_create_config(&config) == DuckDBSuccess;
  for (const auto& [name, value] : {std::pair{"autoinstall_known_extensions", "false"},
                                    std::pair{"autoload_known_extensions", "false"},
                                    std::pair{"allow_community_extensions", "false"},
                                    std::pair{"allow_unsigned_extensions", "false"},
                                    std::pair{"preserve_insertion_order", "false"}}) {
    ready = ready && duckdb_set_config(config, name, value) == DuckDBSuccess;
  }
  ready = ready && duckdb_open_ext(nullptr, &state_->database, config, nullptr) == DuckDBSuccess &&
          duckdb_connect(state_->database, &state_->connection) == DuckDBSuccess;
  duckdb_destroy_config(&config);
  if (!ready) {
    throw Error(ErrorCode::unavailable,
                "the data engine (DuckDB) cannot start; check the free memory");
  }
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

void DuckdbConnection::run(const std::string& sql) {
  Result result;
  execute(state_->connection, sql, result);
}

std::vector<std::vector<std::string>> DuckdbConnection::rows(const std::string& sql) {
  Result result;
  execute(state_->connection, "SELECT COLUMNS(*)::VARCHAR FROM (" + sql + ")", result);
  std::vector<std::vector<std::string>> rows;
  while (true) {
    const Chunk chunk(duckdb_fetch_chunk(*result.get()));
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

std::vector<Int128> DuckdbConnection::integers(const std::string& sql) {
  Result result;
  execute(state_->connection, sql, result);
  const Chunk chunk(duckdb_fetch_chunk(*result.get()));
  SHOAL_CHECK(chunk.get() && duckdb_data_chunk_get_size(chunk.get()) == 1);
  std::vector<Int128> values;
  const idx_t columns = duckdb_data_chunk_get_column_count(chunk.get());
  for (idx_t column = 0; column < columns; ++column) {
    SHOAL_CHECK(duckdb_column_type(result.get(), column) == DUCKDB_TYPE_HUGEINT);
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk.get(), column);
    Int128 value = 0;
    if (is_valid(vector, 0)) {
      const auto& huge = static_cast<duckdb_hugeint*>(duckdb_vector_get_data(vector))[0];
      value = static_cast<Int128>(
          (static_cast<UInt128>(static_cast<std::uint64_t>(huge.upper)) << 64) | huge.lower);
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace shoal::engine
