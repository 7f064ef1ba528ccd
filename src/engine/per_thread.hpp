// States of threads that DuckDB owns: they are told apart by asking.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal::engine {

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
    // No object has the serial number 0, so that there is a state.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn)
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
