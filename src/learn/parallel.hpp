// Numbered pieces of work on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace shoal::learn {

// 0: one a core.
inline unsigned usable_threads(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

// Calls action(0), ..., action(pieces - 1), each once, in any order. The first exception is thrown
// on after all threads have ended. Where the system gives no more threads, fewer do the work.
template <typename Action>
void in_parallel(std::size_t pieces, unsigned threads, Action&& action) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::size_t piece; (piece = next.fetch_add(1)) < pieces;) action(piece);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min<std::size_t>(threads, pieces);
  helpers.reserve(wanted);
  try {
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace shoal::learn
