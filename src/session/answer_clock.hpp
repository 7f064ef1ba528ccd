// The time at which an answer leaves: on a grid, so that an asker who holds a watch learns no more
// than which of few points it was. The points are 8 milliseconds and its doublings, with the
// policy's number of steps between them. An answer that left once before has shown its time; it
// leaves on a finer grid, which hides how long it took to find.
#pragma once

#include <chrono>

namespace shoal::session {

class AnswerClock {
 public:
  // Starts now. Without steps wait() does nothing.
  explicit AnswerClock(int steps) : steps_(steps), start_(std::chrono::steady_clock::now()) {}

  // Sleeps until the next point.
  void wait() const;
  // How long from now that is.
  std::chrono::microseconds until_next() const;
  // Sleeps for as long as an answer is hidden, and then until the next point of the finer grid.
  void wait_repeated(std::chrono::microseconds hidden_for) const;

 private:
  double seconds() const;
  void sleep_until(double seconds) const;

  int steps_;
  std::chrono::steady_clock::time_point start_;
};

// The first point at or after so many seconds.
double next_point(double seconds, int steps);
// The same on the finer grid: a quarter of a millisecond, and four points to each doubling.
double next_repeat_point(double seconds);

}  // namespace shoal::session
