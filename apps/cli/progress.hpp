// A bar on standard error for what takes longer than two seconds, if a person is looking: standard
// error is a terminal, and no values are on their way to the same screen. It is wiped at the end
// and leaves nothing behind.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace shoal::cli {

// Whether values go to standard output while the bar is shown, or one report at the end.
enum class Printing { as_it_goes, at_the_end };

class Progress {
 public:
  // A total of 0 is one that nobody knows, such as that of a pipe. Where `what` is empty only the
  // share is shown.
  Progress(std::string what, std::int64_t total, Printing printing);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Looks at the clock: to be called for blocks, not for single values.
  void advance(std::int64_t amount);
  // Wipes the bar for good, before something else is printed.
  void finish();

 private:
  void show();

  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

// The same line for work on private rows. It is drawn by the clock alone and shows the time that
// has passed and, where the steps of the work were planned before data was read, how many are done.
class ClockedProgress {
 public:
  ClockedProgress(std::string what, Printing printing);
  ClockedProgress(const ClockedProgress&) = delete;
  ClockedProgress& operator=(const ClockedProgress&) = delete;
  ~ClockedProgress();

  void reach(std::int64_t done, std::int64_t planned);

 private:
  void draw();

  std::string what_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  bool shown_ = false;
  std::int64_t done_ = 0;
  std::int64_t planned_ = 0;
  std::thread clock_;
};

}  // namespace shoal::cli
