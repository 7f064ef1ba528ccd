#include "synth/worker_team.hpp"

#include <system_error>
#include <utility>

namespace shoal::synth {

WorkerTeam::WorkerTeam(int threads) : helpers_(static_cast<std::size_t>(std::max(threads, 1)) - 1) {
  helpers_ = std::min(helpers_, kMaxPieces - 1);
}

WorkerTeam::~WorkerTeam() {
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// A system that has no more threads to give leaves more work for each: the result is the same.
void WorkerTeam::start_helpers() {
  try {
    while (threads_.size() < helpers_) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    helpers_ = threads_.size();
  }
}

void WorkerTeam::work(const Piece& action, std::size_t pieces) {
  try {
    for (std::size_t piece; (piece = next_.fetch_add(1)) < pieces;) action(piece);
  } catch (...) {
    next_ = pieces;
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::current_exception();
  }
}

// Whoever wakes up after the work is done goes back to sleep: nobody waits for it.
void WorkerTeam::help() {
  std::uint64_t seen = 0;
  std::unique_lock lock(guard_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || (action_ != nullptr && run_ != seen); });
    if (stop_) return;
    seen = run_;
    const Piece& action = *action_;
    const std::size_t pieces = pieces_;
    ++inside_;
    lock.unlock();
    work(action, pieces);
    lock.lock();
    if (--inside_ == 0) left_.notify_one();
  }
}

void WorkerTeam::share(std::size_t pieces, const Piece& action) {
  start_helpers();
  {
    const std::lock_guard lock(guard_);
    action_ = &action;
    pieces_ = pieces;
    next_ = 0;
    ++run_;
  }
  wake_.notify_all();
  work(action, pieces);
  std::unique_lock lock(guard_);
  action_ = nullptr;
  left_.wait(lock, [&] { return inside_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace shoal::synth
