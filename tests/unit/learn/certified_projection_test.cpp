#include "learn/certified_projection.hpp"

#include "support/learning_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using Long = std::vector<long double>;

// Proximal points by bisection in long double: an oracle of another making.
Long soft(Long v, long double threshold) {
  for (long double& x : v) x = std::copysign(std::fmax(std::fabs(x) - threshold, 0.0L), x);
  return v;
}

long double level_of(const Long& values, long double total) {
  long double low = -1e6L;
  long double high = 1e6L;
  for (int i = 0; i < 200; ++i) {
    const long double middle = (low + high) / 2;
    long double sum = 0;
    for (const long double x : values) sum += std::fmax(x - middle, 0.0L);
    (sum > total ? low : high) = middle;
  }
  return high;
}

struct Oracle {
  Long v;
  long double threshold;

  Long operator()(const WholeSpace&) const { return soft(v, threshold); }
  Long operator()(const L2Ball& set) const {
    Long w = soft(v, threshold);
    long double squares = 0;
    for (const long double x : w) squares += x * x;
    const long double length = std::sqrt(squares);
    if (length > set.radius) {
      for (long double& x : w) x *= set.radius / length;
    }
    return w;
  }
  Long operator()(const L1Ball& set) const {
    const Long w = soft(v, threshold);
    Long sizes;
    for (const long double x : w) sizes.push_back(std::fabs(x));
    return soft(w, std::fmax(level_of(sizes, set.radius), 0.0L));
  }
  Long operator()(const Box& set) const {
    Long w = soft(v, threshold);
    for (long double& x : w)
      x = std::clamp<long double>(x, static_cast<long double>(set.lower),
                                  static_cast<long double>(set.upper));
    return w;
  }
  Long operator()(const Simplex& set) const {
    const long double level = level_of(v, set.total);
    Long w = v;
    for (long double& x : w) x = std::fmax(x - level, 0.0L);
    return w;
  }
  Long operator()(const HalfSpaceCut& set) const {
    const auto at = [&](long double t) {
      Long shifted = v;
      for (std::size_t j = 0; j < v.size(); ++j) shifted[j] -= t * set.normal[j];
      return std::visit(Oracle{shifted, threshold}, *set.base);
    };
    const auto product = [&](const Long& w) {
      long double sum = 0;
      for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * set.normal[j];
      return sum;
    };
    if (product(at(0)) <= set.offset) return at(0);
    long double low = 0;
    long double high = 1e4L;
    for (int i = 0; i < 200; ++i) {
      const long double middle = (low + high) / 2;
      (product(at(middle)) > set.offset ? low : high) = middle;
    }
    return at(high);
  }
};

std::vector<ConvexSet> sets() {
  return {WholeSpace{},
          L2Ball{1.5},
          L1Ball{2},
          L1Ball{1e-3},
          Box{-0.5, 1},
          Simplex{2},
          cut(WholeSpace{}, {1, 2, -1, 0.5}, 0.7),
          cut(L2Ball{1.5}, {1, 2, -1, 0.5}, -0.7),
          cut(L1Ball{2}, {1, 0, 0, 0}, 0.25),
          cut(Box{-0.5, 1}, {1, 1, 1, 1}, 0.5),
          cut(Simplex{2}, {1, 0, 0, -1}, 0.1)};
}

// Cuts of balls and simplices, where a product that hardly falls leaves a root of the rounding.
bool on_ball(const ConvexSet& set) {
  const auto* cut = std::get_if<HalfSpaceCut>(&set);
  return cut && !std::holds_alternative<Box>(*cut->base) &&
         !std::holds_alternative<WholeSpace>(*cut->base);
}

TEST(CertifiedProjection, IsAsNearAsItSays) {
  test::SeededSource bits(31);
  for (const ConvexSet& set : sets()) {
    for (int i = 0; i < 300; ++i) {
      const double threshold = i % 3 == 0 ? 0 : 0.37;
      const std::vector<double> v = test::uniform_vector(bits, 4, i % 2 == 0 ? 4 : 0.6);
      const ProximalPoint point = certified_proximal(set, v, threshold);
      const Long truth = std::visit(Oracle{Long(v.begin(), v.end()), threshold}, set);
      long double squares = 0;
      for (std::size_t j = 0; j < v.size(); ++j)
        squares += (point.weights[j] - truth[j]) * (point.weights[j] - truth[j]);
      // 1e-18 for the oracle.
      ASSERT_LE(static_cast<double>(std::sqrt(squares)), point.error + 1e-17) << name(set);
      ASSERT_LE(point.error, on_ball(set) ? 1e-6 : 2e-13) << name(set);
    }
  }
}

TEST(CertifiedProjection, APointOfTheSetStaysAsItIs) {
  const std::vector<double> v{0.25, -0.5, 0.125, 0};
  for (const ConvexSet& set : std::vector<ConvexSet>{WholeSpace{}, L1Ball{0.875}, Box{-1, 1},
                                                     cut(Box{-1, 1}, {1, 1, 1, 1}, 0.5)}) {
    const ProximalPoint point = certified_proximal(set, v, 0);
    EXPECT_EQ(point.weights, v) << name(set);
    EXPECT_LE(point.error, 1e-15) << name(set);
  }
}

// A cut that touches the ball in one point: nothing can be certified there, and that is said.
TEST(CertifiedProjection, WhatCannotBeCertifiedIsNot) {
  const ProximalPoint point =
      certified_proximal(cut(Simplex{1}, {1, 1, 1, 1}, 1), std::vector<double>{3, 1, 0, 0}, 0);
  EXPECT_TRUE(point.error > 1e-3 || std::fabs(point.weights[0] - 1) <= point.error);
}

}  // namespace
}  // namespace shoal::learn
