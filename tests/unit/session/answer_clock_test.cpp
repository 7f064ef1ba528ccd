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

TEST(AnswerClock, RepeatsLeaveOnAFinerGridAndNotBeforeTheyMay) {
  EXPECT_DOUBLE_EQ(next_repeat_point(0), 0.00025);
  EXPECT_DOUBLE_EQ(next_repeat_point(0.00025), 0.00025);
  EXPECT_NEAR(next_repeat_point(0.00026), 0.00025 * std::exp2(0.25), 1e-12);
  EXPECT_NEAR(next_repeat_point(0.001), 0.001, 1e-12);
  const auto start = std::chrono::steady_clock::now();
  AnswerClock(1).wait_repeated(std::chrono::milliseconds(20));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST(AnswerClock, SaysHowLongItIsToTheNextPoint) {
  const AnswerClock clock(1);
  EXPECT_LE(clock.until_next(), std::chrono::microseconds(8001));
  EXPECT_GT(clock.until_next(), std::chrono::microseconds(0));
  EXPECT_EQ(AnswerClock(0).until_next().count(), 0);
}

}  // namespace
}  // namespace shoal::session
