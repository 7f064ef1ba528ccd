#include "support/midpoint_convexity.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/set.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace shoal::learn {
namespace {

using test::SeededSource;
using test::uniform_vector;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c = a;
  for (std::size_t i = 0; i < a.size(); ++i) c[i] -= b[i];
  return c;
}

std::vector<ConvexSet> sets() {
  return {WholeSpace{},
          L2Ball{1.5},
          L1Ball{2},
          Box{-0.5, 1},
          Simplex{2},
          cut(WholeSpace{}, {1, 2, -1, 0.5}, 0.7),
          cut(L2Ball{1.5}, {1, 2, -1, 0.5}, -0.7),
          cut(L1Ball{2}, {1, 0, 0, 0}, 0.25),
          cut(Box{-0.5, 1}, {1, 1, 1, 1}, 0.5),
          cut(Simplex{2}, {1, 0, 0, -1}, 0.1)};
}

// p = project(v) is the nearest point of a convex set if and only if p is in it and
// <v - p, q - p> <= 0 for all q in it.
TEST(Sets, ProjectionIsNearest) {
  SeededSource bits(1);
  for (const ConvexSet& set : sets()) {
    validate(set, 4);
    for (int i = 0; i < 200; ++i) {
      const std::vector<double> v = uniform_vector(bits, 4, 4);
      const std::vector<double> p = project(set, v);
      ASSERT_TRUE(contains(set, p, 1e-9)) << name(set);
      for (int k = 0; k < 5; ++k) {
        const std::vector<double> q = project(set, uniform_vector(bits, 4, 4));
        ASSERT_LE(dot(minus(v, p), minus(q, p)), 1e-7) << name(set);
      }
    }
  }
}

TEST(Sets, PointsInsideStay) {
  SeededSource bits(2);
  for (const ConvexSet& set : sets()) {
    for (int i = 0; i < 50; ++i) {
      const std::vector<double> p = project(set, uniform_vector(bits, 4, 4));
      const std::vector<double> again = project(set, p);
      EXPECT_LT(std::sqrt(dot(minus(p, again), minus(p, again))), 1e-7) << name(set);
    }
  }
}

TEST(Sets, DiameterAndRadiusBoundWhatIsInside) {
  SeededSource bits(3);
  for (const ConvexSet& set : sets()) {
    std::vector<double> last = project(set, uniform_vector(bits, 4, 9));
    for (int i = 0; i < 200; ++i) {
      const std::vector<double> p = project(set, uniform_vector(bits, 4, 9));
      EXPECT_LE(std::sqrt(dot(minus(p, last), minus(p, last))), diameter(set, 4) + 1e-9);
      EXPECT_LE(std::sqrt(dot(p, p)), radius(set, 4) + 1e-9);
      last = p;
    }
  }
  EXPECT_EQ(diameter(L2Ball{1.5}, 4), 3);
  EXPECT_EQ(diameter(L1Ball{2}, 4), 4);
  EXPECT_NEAR(diameter(Box{-1, 2}, 4), 6, 1e-12);
  EXPECT_NEAR(diameter(Simplex{2}, 4), 2 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(diameter(WholeSpace{}, 4), std::numeric_limits<double>::infinity());
}

TEST(Sets, ContainsSaysNoOutside) {
  EXPECT_FALSE(contains(L2Ball{1}, std::vector<double>{0.8, 0.8}));
  EXPECT_FALSE(contains(L1Ball{1}, std::vector<double>{0.6, -0.6}));
  EXPECT_FALSE(contains(Box{0, 1}, std::vector<double>{0.5, -0.1}));
  EXPECT_FALSE(contains(Simplex{1}, std::vector<double>{0.5, 0.4}));
  EXPECT_FALSE(contains(Simplex{1}, std::vector<double>{1.5, -0.5}));
  EXPECT_FALSE(contains(cut(L2Ball{1}, {1, 0}, 0), std::vector<double>{0.5, 0}));
}

TEST(Sets, BadOnesAreRefused) {
  for (const ConvexSet& set : std::vector<ConvexSet>{
           L2Ball{0}, L2Ball{-1}, L1Ball{std::numeric_limits<double>::infinity()}, Box{1, 0},
           Simplex{0}, cut(L2Ball{1}, {1}, 0), cut(L2Ball{1}, {0, 0}, 0),
           cut(L2Ball{1}, {1, 0}, -2), cut(cut(L2Ball{1}, {1, 0}, 0), {1, 0}, 0)}) {
    EXPECT_THROW(validate(set, 2), Error) << name(set);
  }
}

}  // namespace
}  // namespace shoal::learn
