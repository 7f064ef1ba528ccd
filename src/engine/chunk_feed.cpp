#include "engine/chunk_feed.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal::engine {

// What the functions in DuckDB hold on to; it may outlive the feed.
struct ChunkFeed::Slot {
  // Who comes in counts itself first and then looks whether it is open; who closes waits until
  // nobody is inside. So nothing is used after its question, whenever DuckDB lets a thread go on.
  std::atomic<bool> open = false;
  std::atomic<int> inside = 0;
  const Taker* taker = nullptr;
  KeyColumns* keys = nullptr;
  std::atomic<std::int64_t> rows = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr failure;

  class Visit {
   public:
    explicit Visit(Slot& slot) : slot_(slot) { ++slot_.inside; }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { --slot_.inside; }

   private:
    Slot& slot_;
  };

  void close() {
    open = false;
    while (inside != 0) std::this_thread::yield();
    taker = nullptr;
    keys = nullptr;
  }

  template <typename Action>
  void guarded(duckdb_function_info info, const Action& action) noexcept {
    const Visit visit(*this);
    if (open && !failed) {
      try {
        action();
        return;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        failed = true;
      }
    }
    duckdb_scalar_function_set_error(info, "stopped");
  }

  void take(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) noexcept {
    const idx_t size = duckdb_data_chunk_get_size(chunk);
    std::memset(duckdb_vector_get_data(output), 1, size);
    rows += static_cast<std::int64_t>(size);
    guarded(info, [&] {
      SHOAL_CHECK(taker != nullptr);
      (*taker)(chunk);
    });
  }

  void number(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) noexcept {
    guarded(info, [&] {
      const idx_t size = duckdb_data_chunk_get_size(chunk);
      if (size == 0) return;
      duckdb_vector values = duckdb_data_chunk_get_vector(chunk, 0);
      // The same in every row: a number in the query's text.
      const std::size_t key = *static_cast<const std::uint8_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 1)));
      SHOAL_CHECK(keys != nullptr && key < keys->size());
      keys->number(
          key,
          {keys->storage(key), duckdb_vector_get_data(values), duckdb_vector_get_validity(values)},
          size, static_cast<GroupNumber*>(duckdb_vector_get_data(output)));
    });
  }

  void copy_units(duckdb_data_chunk chunk, duckdb_vector output) noexcept {
    duckdb_vector units = duckdb_data_chunk_get_vector(chunk, 0);
    if (duckdb_vector_get_validity(units) == nullptr)
      return duckdb_vector_reference_vector(output, units);
    std::memcpy(duckdb_vector_get_data(output), duckdb_vector_get_data(units),
                duckdb_data_chunk_get_size(chunk) * sizeof(std::int64_t));
  }
};

namespace {

class LogicalType {
 public:
  explicit LogicalType(duckdb_type type) : type_(duckdb_create_logical_type(type)) {}
  LogicalType(const LogicalType&) = delete;
  LogicalType& operator=(const LogicalType&) = delete;
  ~LogicalType() { duckdb_destroy_logical_type(&type_); }
  operator duckdb_logical_type() const { return type_; }

 private:
  duckdb_logical_type type_;
};

// A function that is called for every row, NULLs included. `holder`: a shared pointer of its own.
template <typename Holder, typename Declare>
void add_function(DuckdbConnection& connection, const char* name, duckdb_type result,
                  const Holder& slot, duckdb_scalar_function_t body, const Declare& declare) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_scalar_function_set_name(function, name);
  declare(function);
  duckdb_scalar_function_set_return_type(function, LogicalType(result));
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_extra_info(function, new Holder(slot),
                                        [](void* holder) { delete static_cast<Holder*>(holder); });
  duckdb_scalar_function_set_function(function, body);
  const duckdb_state state = duckdb_register_scalar_function(connection.handle(), function);
  duckdb_destroy_scalar_function(&function);
  SHOAL_CHECK(state == DuckDBSuccess);
}

}  // namespace

ChunkFeed::ChunkFeed(DuckdbConnection& connection) : slot_(std::make_shared<Slot>()) {
  using Holder = std::shared_ptr<Slot>;
  add_function(
      connection, "shoal_take", DUCKDB_TYPE_UTINYINT, slot_,
      [](duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
        auto* holder = static_cast<Holder*>(duckdb_scalar_function_get_extra_info(info));
        (*holder)->take(info, chunk, output);
      },
      [](duckdb_scalar_function function) {
        duckdb_scalar_function_set_varargs(function, LogicalType(DUCKDB_TYPE_ANY));
        // Once for each row, even if all columns are constant.
        duckdb_scalar_function_set_volatile(function);
      });
  add_function(
      connection, "shoal_key", DUCKDB_TYPE_INTEGER, slot_,
      [](duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
        auto* holder = static_cast<Holder*>(duckdb_scalar_function_get_extra_info(info));
        (*holder)->number(info, chunk, output);
      },
      [](duckdb_scalar_function function) {
        duckdb_scalar_function_add_parameter(function, LogicalType(DUCKDB_TYPE_ANY));
        duckdb_scalar_function_add_parameter(function, LogicalType(DUCKDB_TYPE_UTINYINT));
      });
  add_function(
      connection, "shoal_unit", DUCKDB_TYPE_BIGINT, slot_,
      [](duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
        auto* holder = static_cast<Holder*>(duckdb_scalar_function_get_extra_info(info));
        (*holder)->copy_units(chunk, output);
      },
      [](duckdb_scalar_function function) {
        duckdb_scalar_function_add_parameter(function, LogicalType(DUCKDB_TYPE_BIGINT));
      });
}

void ChunkFeed::run(DuckdbConnection& connection, const std::string& arguments,
                    const std::string& from, KeyColumns& keys, const Taker& taker) {
  slot_->taker = &taker;
  slot_->keys = &keys;
  slot_->rows = 0;
  slot_->failed = false;
  slot_->failure = nullptr;
  slot_->open = true;
  std::vector<Int128> taken;
  try {
    taken = connection.integers(
        fmt::format("SELECT CAST(COUNT(shoal_take({})) AS HUGEINT) FROM {}", arguments, from));
  } catch (...) {
    slot_->close();
    if (slot_->failure) std::rethrow_exception(slot_->failure);
    throw;
  }
  slot_->close();
  SHOAL_CHECK(taken.at(0) == slot_->rows);
}

}  // namespace shoal::engine
