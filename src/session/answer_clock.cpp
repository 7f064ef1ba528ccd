#include "session/answer_clock.hpp"

#include <cmath>
#include <thread>

namespace shoal::session {
namespace {

constexpr double kFirstPoint = 0.008;

}  // namespace

double next_point(double seconds, int steps) {
  if (seconds <= kFirstPoint) return kFirstPoint;
  const double index = std::ceil(std::log2(seconds / kFirstPoint) * steps);
  return kFirstPoint * std::exp2(index / steps);
}

void AnswerClock::wait() const {
  if (steps_ <= 0) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const std::chrono::duration<double> point(next_point(spent.count(), steps_));
  std::this_thread::sleep_until(
      start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(point));
}

}  // namespace shoal::session
