#include "support/midpoint_convexity.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/loss.hpp>
#include <shoal/learn/regulariser.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::learn {
namespace {

struct Case {
  Loss loss;
  std::vector<double> labels;
};

std::vector<Case> cases() {
  return {{Squared{}, {-1, 0.3, 1}},      {Logistic{}, {-1, 1}},     {HuberisedHinge{0.5}, {-1, 1}},
          {HuberisedHinge{0.1}, {-1, 1}}, {Hinge{}, {-1, 1}},        {Huber{0.7}, {-1, 0.3, 1}},
          {LogCosh{}, {-1, 0.3, 1}},      {Poisson{2, 5}, {0, 1, 5}}};
}

TEST(Losses, AreConvex) {
  for (const Case& one : cases()) {
    for (const double y : one.labels) {
      EXPECT_LE(test::midpoint_excess([&](double z) { return value(one.loss, z, y); }, 8, 2000, 4),
                1e-12)
          << name(one.loss);
    }
  }
  // The helper can say no.
  EXPECT_GT(test::midpoint_excess([](double z) { return std::sin(z); }, 8, 2000, 4), 0.1);
}

TEST(Losses, SlopesAndCurvaturesAreDerivatives) {
  for (const Case& one : cases()) {
    test::SeededSource bits(5);
    for (const double y : one.labels) {
      for (int i = 0; i < 300; ++i) {
        const double z = test::uniform(bits, -6, 6);
        const double h = 1e-5;
        const double slope_here = (value(one.loss, z + h, y) - value(one.loss, z - h, y)) / (2 * h);
        EXPECT_NEAR(slope(one.loss, z, y), slope_here, 2e-4) << name(one.loss) << " at " << z;
        const double bend = (slope(one.loss, z + h, y) - slope(one.loss, z - h, y)) / (2 * h);
        // A kink within the window makes the quotient say something in between.
        const double low = std::fmin(curvature(one.loss, z - h, y), curvature(one.loss, z + h, y));
        const double high = std::fmax(curvature(one.loss, z - h, y), curvature(one.loss, z + h, y));
        if (!bounds(one.loss).smooth) continue;
        EXPECT_GE(bend, low - 1e-3) << name(one.loss) << " at " << z;
        EXPECT_LE(bend, high + 1e-3) << name(one.loss) << " at " << z;
      }
    }
  }
}

TEST(Losses, BoundsHoldAndAreReached) {
  for (const Case& one : cases()) {
    const LossBounds facts = bounds(one.loss);
    double slope_most = 0;
    double curvature_most = 0;
    for (const double y : one.labels) {
      bool up = false;
      bool down = false;
      for (double z = -40; z <= 40; z += 1.0 / 64) {
        const double s = slope(one.loss, z, y);
        const double c = curvature(one.loss, z, y);
        slope_most = std::fmax(slope_most, std::fabs(s));
        curvature_most = std::fmax(curvature_most, c);
        up = up || s > 1e-12;
        down = down || s < -1e-12;
        if (facts.logistic_like) {
          EXPECT_LE(c, std::fabs(s) * (1 - std::fabs(s)) + 1e-15);
        }
        EXPECT_GE(c, 0);
      }
      EXPECT_FALSE(facts.one_signed && up && down) << name(one.loss);
    }
    EXPECT_LE(slope_most, facts.slope * (1 + 1e-15));
    EXPECT_LE(curvature_most, facts.curvature * (1 + 1e-15));
    EXPECT_TRUE(slope_most >= 0.97 * facts.slope || std::isinf(facts.slope)) << name(one.loss);
    EXPECT_TRUE(curvature_most >= 0.97 * facts.curvature || !facts.smooth) << name(one.loss);
  }
  EXPECT_EQ(lipschitz(Logistic{}, 2), 2);
  EXPECT_EQ(smoothness(Logistic{}, 2), 1);
  EXPECT_EQ(smoothness(HuberisedHinge{0.1}, 1), 5);
  EXPECT_EQ(lipschitz(Huber{0.7}, 2), 1.4);
}

TEST(Losses, FarPredictionsNeitherOverflowNorLoseDigits) {
  EXPECT_EQ(value(Logistic{}, -1e6, 1), 1e6);
  EXPECT_EQ(slope(Logistic{}, -1e6, 1), -1);
  EXPECT_NEAR(slope(Logistic{}, 40, 1) / -std::exp(-40.0), 1, 1e-12);
  EXPECT_NEAR(value(LogCosh{}, 1e4, 0), 1e4 - std::log(2.0), 1e-9);
  EXPECT_TRUE(std::isfinite(value(Poisson{2, 5}, 1e9, 5)));
}

TEST(Losses, SoftmaxOfTwoClassesIsLogistic) {
  for (const double z : {-3.0, -0.1, 0.0, 2.0}) {
    const std::vector<double> both = {-z / 2, z / 2};
    EXPECT_NEAR(softmax_value(both, 1), value(Logistic{}, z, 1), 1e-12);
    std::vector<double> gradient(2);
    softmax_gradient(both, 1, gradient);
    EXPECT_NEAR(gradient[1], slope(Logistic{}, z, 1), 1e-12);
    EXPECT_LE(std::hypot(gradient[0], gradient[1]), bounds(Softmax{2}).slope);
  }
  EXPECT_THROW(value(Softmax{3}, 0, 0), Error);
  EXPECT_EQ(bounds(Softmax{5}).hessian_rank, 4);
}

// Against long double at the same z.
TEST(Losses, SlopeErrorCoversRounding) {
  test::SeededSource bits(6);
  for (int i = 0; i < 20000; ++i) {
    const double z = test::uniform(bits, -30, 30);
    const long double exact = -1 / (1 + std::exp(static_cast<long double>(z)));
    const double off = std::fabs(static_cast<double>(exact - slope(Logistic{}, z, 1)));
    ASSERT_LE(off, slope_error(Logistic{}, 30, 1, 0x1p-53));
  }
}

TEST(Losses, BadParametersAreRefused) {
  EXPECT_THROW(validate(HuberisedHinge{0}), Error);
  EXPECT_THROW(validate(Huber{-1}), Error);
  EXPECT_THROW(validate(Poisson{99, 1}), Error);
  EXPECT_THROW(validate(Softmax{1}), Error);
  EXPECT_NO_THROW(validate(Loss{Logistic{}}));
}

TEST(Regularisers, ProximalPointMinimises) {
  test::SeededSource bits(7);
  for (const Regulariser& one : std::vector<Regulariser>{{0, 0}, {2, 0}, {0, 0.5}, {2, 0.5}}) {
    const double step = 0.3;
    for (int i = 0; i < 200; ++i) {
      const std::vector<double> v = test::uniform_vector(bits, 1, 2);
      const auto cost = [&](double w) {
        return value(one, std::vector<double>{w}) + (w - v[0]) * (w - v[0]) / (2 * step);
      };
      const double best = proximal_point(one, v, step)[0];
      for (const double off : {-0.1, -1e-3, 1e-3, 0.1})
        EXPECT_LT(cost(best), cost(best + off)) << name(one);
    }
  }
  EXPECT_EQ(name(Regulariser{0, 0}), "none");
  EXPECT_EQ(name(Regulariser{1, 1}), "elastic_net");
  EXPECT_THROW(validate(Regulariser{-1, 0}), Error);
}

}  // namespace
}  // namespace shoal::learn
