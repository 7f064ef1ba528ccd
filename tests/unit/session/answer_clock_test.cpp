// The grid of times at which answers leave.
#include "session/answer_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

namespace shoal::session {
namespace {

TEST(AnswerClock, PointsAreDoublingsOfTheFirst) {
  EXPECT_DOUBLE_EQ(next_point(0, 1), 0.008);
  EXPECT_DOUBLE_EQ(next_point(0.008, 1), 0.008);
  EXPECT_DOUBLE_EQ(next_point(0.0081, 1), 0.016);
  EXPECT_DOUBLE_EQ(next_point(0.9, 1), 1.024);
  EXPECT_NEAR(next_point(0.0081, 2), 0.008 * std::sqrt(2.0), 1e-12);
}

TEST(AnswerClock, ThereAreFewPointsAndNoneComesEarly) {
  std::set<double> points;
  for (int i = 0; i < 100'000; ++i) {
    const double seconds = i * 1e-4;
    const double point = next_point(seconds, 1);
    EXPECT_GE(point, seconds);
    EXPECT_LE(point, std::max(0.008, 2.0001 * seconds));
    points.insert(point);
  }
  EXPECT_EQ(points.size(), 12u);  // 8 ms to 16.4 s
}

TEST(AnswerClock, WaitsForThePointAndNotWithoutSteps) {
  const auto start = std::chrono::steady_clock::now();
  AnswerClock(1).wait();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(8));
  AnswerClock(0).wait();
}

}  // namespace
}  // namespace shoal::session
