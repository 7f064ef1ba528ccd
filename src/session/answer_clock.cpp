#include "session/answer_clock.hpp"

#include <cmath>
#include <thread>

namespace shoal::session {
namespace {

constexpr double kFirstPoint = 0.008;
constexpr double kFirstRepeatPoint = 0.00025;
constexpr int kRepeatSteps = 4;

double next_of(double first, double seconds, int steps) {
  if (seconds <= first) return first;
  return first * std::exp2(std::ceil(std::log2(seconds / first) * steps) / steps);
}

}  // namespace

double next_point(double seconds, int steps) { return next_of(kFirstPoint, seconds, steps); }

double next_repeat_point(double seconds) {
  return next_of(kFirstRepeatPoint, seconds, kRepeatSteps);
}

double AnswerClock::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void AnswerClock::sleep_until(double seconds) const {
  std::this_thread::sleep_until(start_ +
                                std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                    std::chrono::duration<double>(seconds)));
}

void AnswerClock::wait() const {
  if (steps_ > 0) sleep_until(next_point(seconds(), steps_));
}

std::chrono::microseconds AnswerClock::until_next() const {
  if (steps_ <= 0) return std::chrono::microseconds{0};
  const double now = seconds();
  return std::chrono::ceil<std::chrono::microseconds>(
      std::chrono::duration<double>(next_point(now, steps_) - now));
}

void AnswerClock::wait_repeated(std::chrono::microseconds hidden_for) const {
  if (steps_ <= 0) return;
  std::this_thread::sleep_for(hidden_for);
  sleep_until(next_repeat_point(seconds()));
}

}  // namespace shoal::session
