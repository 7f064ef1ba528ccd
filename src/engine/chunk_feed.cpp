#include "engine/chunk_feed.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace shoal::engine {

// What the function in DuckDB holds on to; it may outlive the feed.
struct ChunkFeed::Slot {
  const Taker* taker = nullptr;
  std::atomic<std::int64_t> rows = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr failure;

  void take(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) noexcept {
    const idx_t size = duckdb_data_chunk_get_size(chunk);
    auto* ones = static_cast<std::int64_t*>(duckdb_vector_get_data(output));
    std::fill(ones, ones + size, 1);
    rows += static_cast<std::int64_t>(size);
    if (!failed) {
      try {
        SHOAL_CHECK(taker != nullptr);
        (*taker)(chunk);
        return;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
    duckdb_scalar_function_set_error(info, "stopped");
  }
};

ChunkFeed::ChunkFeed(DuckdbConnection& connection) : slot_(std::make_shared<Slot>()) {
  using Holder = std::shared_ptr<Slot>;
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
  duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  duckdb_scalar_function_set_name(function, "shoal_take");
  duckdb_scalar_function_set_varargs(function, any);
  duckdb_scalar_function_set_return_type(function, number);
  // Once for each row, NULLs included.
  duckdb_scalar_function_set_volatile(function);
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_extra_info(function, new Holder(slot_),
                                        [](void* holder) { delete static_cast<Holder*>(holder); });
  duckdb_scalar_function_set_function(
      function, [](duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
        auto* holder = static_cast<Holder*>(duckdb_scalar_function_get_extra_info(info));
        (*holder)->take(info, chunk, output);
      });
  const duckdb_state state = duckdb_register_scalar_function(connection.handle(), function);
  duckdb_destroy_logical_type(&number);
  duckdb_destroy_logical_type(&any);
  duckdb_destroy_scalar_function(&function);
  SHOAL_CHECK(state == DuckDBSuccess);
}

void ChunkFeed::run(DuckdbConnection& connection, const std::string& arguments,
                    const std::string& from, const Taker& taker) {
  slot_->taker = &taker;
  slot_->rows = 0;
  slot_->failed = false;
  slot_->failure = nullptr;
  std::vector<Int128> taken;
  try {
    taken = connection.integers(
        fmt::format("SELECT CAST(SUM(shoal_take({})) AS HUGEINT) FROM {}", arguments, from));
  } catch (const DuckdbFailure&) {
    slot_->taker = nullptr;
    if (slot_->failure) std::rethrow_exception(slot_->failure);
    throw;
  }
  slot_->taker = nullptr;
  SHOAL_CHECK(taken.at(0) == slot_->rows);
}

}  // namespace shoal::engine
