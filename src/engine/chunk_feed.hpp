// Brings the rows of a query to C++ on DuckDB's own threads: a scalar function that keeps what it
// is given and answers 1. That every row came exactly once is checked against the sum of the ones.
#pragma once

#include "engine/duckdb_connection.hpp"

#include <duckdb.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace shoal::engine {

class ChunkFeed {
 public:
  // Called for each chunk, on several threads at once. What it throws stops the query.
  using Taker = std::function<void(duckdb_data_chunk)>;

  // Makes the function known to the connection.
  explicit ChunkFeed(DuckdbConnection& connection);

  // Feeds `arguments`, such as "u, k0, v0", of every row of `from`. Throws what the taker threw, or
  // DuckdbFailure. One at a time.
  void run(DuckdbConnection& connection, const std::string& arguments, const std::string& from,
           const Taker& taker);

 private:
  struct Slot;
  std::shared_ptr<Slot> slot_;
};

// A state for each thread that asks for one.
template <typename State>
class PerThread {
 public:
  using Maker = std::function<std::unique_ptr<State>()>;
  explicit PerThread(Maker make) : make_(std::move(make)), serial_(next_serial()) {}

  State& mine() {
    // A serial number, and not an address, which another object may have had before.
    thread_local std::uint64_t serial = 0;
    thread_local State* state = nullptr;
    if (serial == serial_) return *state;
    const std::lock_guard lock(mutex_);
    auto& own = states_[std::this_thread::get_id()];
    if (!own) {
      own = make_();
      order_.push_back(own.get());
    }
    state = own.get();
    serial = serial_;
    return *state;
  }

  // When no thread is at work any more.
  const std::vector<State*>& all() const { return order_; }

 private:
  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  Maker make_;
  std::uint64_t serial_;
  std::mutex mutex_;
  std::unordered_map<std::thread::id, std::unique_ptr<State>> states_;
  std::vector<State*> order_;
};

}  // namespace shoal::engine
