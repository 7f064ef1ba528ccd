// Intervals: whatever the operands inside theirs, the result is inside its own.
#include "plan/row_interval.hpp"

#include "support/seeded_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace shoal::plan {
namespace {

// Ends and points from ordinary numbers, tiny and huge ones, zeros and whole ones.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  double number() {
    constexpr std::array kSpecial = {0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 1e-300, 1e300, -7.25};
    if (bits_.next_bits(2) == 0) return kSpecial.at(bits_.next_bits(16) % kSpecial.size());
    const double unit = static_cast<double>(bits_.next_bits(53)) * 0x1p-53;
    const int exponent = static_cast<int>(bits_.next_bits(6)) - 32;
    return std::ldexp(2 * unit - 1, exponent);
  }

  Interval interval() {
    const double a = number();
    const double b = bits_.next_bits(3) == 0 ? a : number();
    return {std::min(a, b), std::max(a, b)};
  }

  double inside(const Interval& interval) {
    switch (bits_.next_bits(2)) {
      case 0:
        return interval.lower;
      case 1:
        return interval.upper;
      default: {
        const double share = static_cast<double>(bits_.next_bits(53)) * 0x1p-53;
        const double point = interval.lower + share * (interval.upper - interval.lower);
        return std::clamp(point, interval.lower, interval.upper);
      }
    }
  }

 private:
  test::SeededSource bits_;
};

struct Case {
  const char* name;
  std::function<Interval(const Interval&, const Interval&)> enclose;
  std::function<double(double, double)> compute;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"add", add, [](double a, double b) { return a + b; }},
      {"subtract", subtract, [](double a, double b) { return a - b; }},
      {"multiply", multiply, [](double a, double b) { return a * b; }},
      {"divide", divide, [](double a, double b) { return a / b; }},
      {"modulo", modulo, [](double a, double b) { return std::fmod(a, b); }},
      {"greatest", greatest, [](double a, double b) { return std::max(a, b); }},
      {"least", least, [](double a, double b) { return std::min(a, b); }},
      {"power", power, [](double a, double b) { return std::pow(a, b); }},
      {"negate", [](auto& a, auto&) { return negate(a); }, [](double a, double) { return -a; }},
      {"absolute", [](auto& a, auto&) { return absolute(a); },
       [](double a, double) { return std::fabs(a); }},
      {"sqrt", [](auto& a, auto&) { return square_root(a); },
       [](double a, double) { return std::sqrt(a); }},
      {"ln", [](auto& a, auto&) { return natural_log(a); },
       [](double a, double) { return std::log(a); }},
      {"log10", [](auto& a, auto&) { return log_base(a, 10); },
       [](double a, double) { return std::log10(a); }},
      {"exp", [](auto& a, auto&) { return exponential(a); },
       [](double a, double) { return std::exp(a); }},
  };
  return kCases;
}

TEST(RowInterval, HoldsEveryResult) {
  Draw draw(20240501);
  for (const Case& one : cases()) {
    int bounded = 0;
    for (int round = 0; round < 20'000; ++round) {
      const Interval a = draw.interval();
      const Interval b = draw.interval();
      const Interval result = one.enclose(a, b);
      ASSERT_LE(result.lower, result.upper) << one.name;
      if (!result.is_everything()) ++bounded;
      for (int point = 0; point < 4; ++point) {
        const double x = draw.inside(a);
        const double y = draw.inside(b);
        const double value = one.compute(x, y);
        if (!std::isfinite(value)) continue;
        ASSERT_TRUE(result.contains(value))
            << one.name << "(" << x << ", " << y << ") = " << value << " outside [" << result.lower
            << ", " << result.upper << "] for [" << a.lower << ", " << a.upper << "] and ["
            << b.lower << ", " << b.upper << "]";
      }
    }
    EXPECT_GT(bounded, 1'000) << one.name << " says nothing most of the time";
  }
}

// What may be missing has no bounds.
TEST(RowInterval, WhatMayBeMissingIsEverything) {
  EXPECT_TRUE(divide({1, 2}, {-1, 1}).is_everything());
  EXPECT_TRUE(divide({1, 2}, {0, 1}).is_everything());
  EXPECT_TRUE(modulo({1, 2}, {0, 1}).is_everything());
  EXPECT_TRUE(square_root({-1, 4}).is_everything());
  EXPECT_TRUE(natural_log({0, 4}).is_everything());
  EXPECT_TRUE(power({-1, 4}, {0.5, 0.5}).is_everything());
  EXPECT_TRUE(power({0, 4}, {-1, 1}).is_everything());
  EXPECT_TRUE(exponential({0, 1000}).is_everything());
}

TEST(RowInterval, IsTightWhereItCanBe) {
  EXPECT_EQ(add({1, 2}, {3, 4}), (Interval{4, 6}));
  EXPECT_EQ(multiply({-1, 2}, {-3, 4}), (Interval{-6, 8}));
  EXPECT_EQ(divide({1, 2}, {4, 8}), (Interval{0.125, 0.5}));
  EXPECT_EQ(divide({1, 2}, {-8, -4}), (Interval{-0.5, -0.125}));
  EXPECT_EQ(modulo({0, 120}, {10, 10}), (Interval{0, 10}));
  EXPECT_EQ(modulo({2, 5}, {10, 10}), (Interval{2, 5}));
  EXPECT_EQ(absolute({-3, 2}), (Interval{0, 3}));
  EXPECT_EQ(square_root({4, 9}), (Interval{2, 3}));
  EXPECT_EQ(multiply({0, 0}, Interval{}), (Interval{0, 0}));
  EXPECT_LT(add({0.1, 0.1}, {0.2, 0.2}).lower, add({0.1, 0.1}, {0.2, 0.2}).upper);
}

}  // namespace
}  // namespace shoal::plan
