// The time at which an answer leaves: on a grid, so that an asker who holds a watch learns no more
// than which of few points it was. The points are 8 milliseconds and its doublings, with the
// policy's number of steps between them.
#pragma once

#include <chrono>

namespace shoal::session {

class AnswerClock {
 public:
  // Starts now. Without steps wait() does nothing.
  explicit AnswerClock(int steps) : steps_(steps), start_(std::chrono::steady_clock::now()) {}

  // Sleeps until the next point.
  void wait() const;

 private:
  int steps_;
  std::chrono::steady_clock::time_point start_;
};

// The first point at or after so many seconds.
double next_point(double seconds, int steps);

}  // namespace shoal::session
