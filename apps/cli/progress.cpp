#include "progress.hpp"

#include "table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace shoal::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::chrono::milliseconds kBetween{200};
constexpr int kWidth = 30;

// Whatever happens to the bar, the work goes on.
void put(const std::string& text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

bool is_wanted(Printing printing) {
  return ::isatty(STDERR_FILENO) == 1 &&
         (printing == Printing::at_the_end || ::isatty(STDOUT_FILENO) != 1);
}

}  // namespace

Progress::Progress(std::string what, std::int64_t total, Printing printing)
    : what_(std::move(what)),
      total_(total),
      wanted_(is_wanted(printing)),
      next_(Clock::now() + kPatience) {}

Progress::~Progress() { finish(); }

void Progress::advance(std::int64_t amount) {
  done_ += amount;
  if (!wanted_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  show();
}

void Progress::show() {
  shown_ = true;
  const std::string done = grouped(static_cast<double>(done_), 18);
  if (total_ <= 0) return put(fmt::format("\r\x1b[K{} {}", done, what_));
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const int filled = static_cast<int>(share * kWidth);
  const std::string counted =
      what_.empty()
          ? ""
          : fmt::format("  {} of {} {}", done, grouped(static_cast<double>(total_), 18), what_);
  put(fmt::format("\r\x1b[K[{}{}] {:3.0f}%{}", std::string(static_cast<std::size_t>(filled), '#'),
                  std::string(static_cast<std::size_t>(kWidth - filled), '.'), share * 100,
                  counted));
}

void Progress::finish() {
  if (shown_) put("\r\x1b[K");
  shown_ = false;
  wanted_ = false;
}

ClockedProgress::ClockedProgress(std::string what, Printing printing)
    : what_(std::move(what)), start_(std::chrono::steady_clock::now()) {
  if (!is_wanted(printing)) return;
  clock_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    for (auto next = start_ + kPatience; !ended_.wait_until(lock, next, [this] { return over_; });
         next += kBetween)
      draw();
  });
}

ClockedProgress::~ClockedProgress() {
  if (!clock_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  clock_.join();
  if (shown_) put("\r\x1b[K");
}

void ClockedProgress::reach(std::int64_t done, std::int64_t planned) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  planned_ = planned;
}

void ClockedProgress::draw() {
  shown_ = true;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  const std::string steps =
      planned_ == 0 ? ""
                    : fmt::format(", step {} of {}", grouped(static_cast<double>(done_), 18),
                                  grouped(static_cast<double>(planned_), 18));
  put(fmt::format("\r\x1b[K{} for {} s{}", what_, seconds.count(), steps));
}

}  // namespace shoal::cli
