// The privacy loss: moments and tails in closed form, tables that add up, and what cannot be asked.
#include <shoal/base/error.hpp>
#include <shoal/privacy/privacy_loss.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::privacy {
namespace {

constexpr Neighbors kAddRemove = Neighbors::add_remove;

double normal_tail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

struct Summary {
  double mass = 0;
  double mean = 0;
  double variance = 0;
};

Summary summary(const LossTable& table) {
  Summary result;
  for (const LossPoint& point : table.points) {
    result.mass += point.mass;
    result.mean += point.mass * point.loss;
  }
  for (const LossPoint& point : table.points) {
    result.variance += point.mass * (point.loss - result.mean) * (point.loss - result.mean);
  }
  return result;
}

TEST(PrivacyLoss, GaussianInClosedForm) {
  for (const double mu : {0.1, 1.0, 3.0}) {
    for (const double count : {1.0, 100.0}) {
      const Event event = event::Repeat{static_cast<std::int64_t>(count), event::Gaussian{1, mu}};
      const PrivacyLoss loss = PrivacyLoss::removed(event, kAddRemove);
      const double square = count * mu * mu;
      EXPECT_NEAR(loss.mean(), square / 2, 1e-9 * square);
      EXPECT_NEAR(loss.variance(), square, 1e-9 * square);
      EXPECT_EQ(loss.infinite(), (Bounds{0, 0}));
      for (const double z : {-1.0, 0.0, 1.0, 3.0}) {
        const double x = square / 2 + z * std::sqrt(square);
        const Bounds tail = loss.tail(x);
        EXPECT_LE(tail.lower, normal_tail(z)) << mu << " " << count << " " << z;
        EXPECT_GE(tail.upper, normal_tail(z)) << mu << " " << count << " " << z;
        EXPECT_LT(tail.upper - tail.lower, 0.02 * normal_tail(z)) << mu << " " << count << " " << z;
      }
      const LossTable table = loss.table();
      const Summary found = summary(table);
      EXPECT_FALSE(table.exact);
      EXPECT_GT(table.points.size(), 150u);
      EXPECT_NEAR(found.mass, 1, 1e-6);
      EXPECT_NEAR(found.mean, square / 2, 0.01 * std::sqrt(square));
      EXPECT_NEAR(found.variance, square, 0.01 * square);
      // The density at the mean.
      double highest = 0;
      for (const LossPoint& point : table.points) {
        highest = std::max(highest, point.mass / table.step);
      }
      EXPECT_NEAR(highest, 1 / std::sqrt(2 * M_PI * square), 0.01 / std::sqrt(square));
    }
  }
}

TEST(PrivacyLoss, RandomizedResponseIsBinomial) {
  const double epsilon = 0.7;
  const int count = 6;
  const double truth = 1 / (1 + std::exp(-epsilon));
  const PrivacyLoss loss =
      PrivacyLoss::removed(event::Repeat{count, event::RandomizedResponse{epsilon, 2}}, kAddRemove);
  EXPECT_NEAR(loss.mean(), count * epsilon * std::tanh(epsilon / 2), 1e-12);
  EXPECT_NEAR(loss.variance(), count * 4 * epsilon * epsilon * truth * (1 - truth), 1e-12);
  const LossTable table = loss.table();
  EXPECT_TRUE(table.exact);
  EXPECT_EQ(table.step, 0);
  ASSERT_EQ(table.points.size(), 7u);
  for (int lies = 0; lies <= count; ++lies) {
    const LossPoint& point = table.points[static_cast<std::size_t>(count - lies)];
    const double ways =
        std::tgamma(count + 1) / (std::tgamma(lies + 1) * std::tgamma(count - lies + 1));
    EXPECT_NEAR(point.loss, (count - 2 * lies) * epsilon, 1e-9);
    EXPECT_NEAR(point.mass, ways * std::pow(truth, count - lies) * std::pow(1 - truth, lies), 1e-9);
  }
  // Between two losses the tail is flat, and known on both sides.
  const Bounds tail = loss.tail(5 * epsilon);
  EXPECT_LE(tail.lower, std::pow(truth, count) + 1e-12);
  EXPECT_GE(tail.upper, std::pow(truth, count) - 1e-12);
  EXPECT_LT(tail.upper - tail.lower, 1e-9);
}

TEST(PrivacyLoss, Laplace) {
  const double epsilon = 1;
  const PrivacyLoss loss = PrivacyLoss::removed(event::Laplace{1, 1}, kAddRemove);
  EXPECT_NEAR(loss.mean(), epsilon + std::exp(-epsilon) - 1, 1e-9);
  EXPECT_NEAR(loss.mean(), laplace_renyi_up(1, 1), 1e-9);
  // Half of the mass is at epsilon; e^-epsilon / 2 at -epsilon; P(L > x) between.
  for (const double x : {-0.9, -0.3, 0.0, 0.6}) {
    const double exact = 1 - std::exp((x - epsilon) / 2) / 2;
    const Bounds tail = loss.tail(x);
    EXPECT_LE(tail.lower, exact) << x;
    EXPECT_GE(tail.upper, exact) << x;
    EXPECT_LT(tail.upper - tail.lower, 2e-3) << x;
  }
  EXPECT_EQ(loss.tail(1.01).upper, 0);
  EXPECT_NEAR(summary(loss.table()).mass, 1, 1e-6);
}

// What was removed is more telling than what was added: losses up to infinity against losses below
// -ln(1 - q).
TEST(PrivacyLoss, SampledDirections) {
  const double rate = 0.1;
  const Event event = event::PoissonSampled{rate, event::Gaussian{1, 1}};
  const PrivacyLoss removed = PrivacyLoss::removed(event, kAddRemove);
  const PrivacyLoss added = PrivacyLoss::added(event, kAddRemove);
  // Against quadrature over the output: P(x) = (1 - q) phi(x) + q phi(x - 1), Q(x) = phi(x).
  double kl_removed = 0;
  double kl_added = 0;
  double square = 0;
  const double h = 1e-3;
  for (double x = -12; x < 14; x += h) {
    const double q = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    const double ratio = 1 - rate + rate * std::exp(x - 0.5);
    kl_removed += h * q * ratio * std::log(ratio);
    kl_added -= h * q * std::log(ratio);
    square += h * q * std::log(ratio) * std::log(ratio);
  }
  EXPECT_NEAR(removed.mean(), kl_removed, 1e-9);
  EXPECT_NEAR(added.mean(), kl_added, 1e-9);
  EXPECT_NEAR(added.variance(), square - kl_added * kl_added, 1e-9);
  EXPECT_EQ(added.tail(-std::log1p(-rate) + 1e-3).upper, 0);
  EXPECT_GT(removed.tail(0.5).lower, 1e-3);
  const PrivacyLoss many = PrivacyLoss::removed(event::Repeat{50, event}, kAddRemove);
  EXPECT_NEAR(many.mean(), 50 * kl_removed, 1e-7);
  const Summary table = summary(many.table());
  EXPECT_NEAR(table.mass, 1, 1e-6);
  EXPECT_NEAR(table.mean, many.mean(), 0.02 * std::sqrt(many.variance()));
  EXPECT_NEAR(table.variance, many.variance(), 0.02 * many.variance());
}

TEST(PrivacyLoss, WhatIsToldIsInfinite) {
  const PrivacyLoss told =
      PrivacyLoss::removed(event::Repeat{2, event::NameAndShame{0.1}}, kAddRemove);
  EXPECT_NEAR(told.infinite().lower, 0.19, 1e-12);
  EXPECT_NEAR(told.infinite().upper, 0.19, 1e-12);
  EXPECT_LE(told.infinite().lower, told.infinite().upper);
  EXPECT_EQ(told.mean(), HUGE_VAL);
  const Bounds tail = told.tail(100);
  EXPECT_LE(tail.lower, 0.19 + 1e-12);
  EXPECT_GE(tail.upper, 0.19 - 1e-12);
  const LossTable table = told.table();
  ASSERT_EQ(table.points.size(), 1u);
  EXPECT_NEAR(table.points[0].mass, 0.81, 1e-9);
  EXPECT_NEAR(table.infinite, 0.19, 1e-9);
}

TEST(PrivacyLoss, NothingHappened) {
  const PrivacyLoss none = PrivacyLoss::removed(event::Compose{}, kAddRemove);
  EXPECT_EQ(none.mean(), 0);
  EXPECT_EQ(none.variance(), 0);
  ASSERT_EQ(none.table().points.size(), 1u);
  EXPECT_EQ(none.table().points[0].mass, 1);
}

TEST(PrivacyLoss, RefusesWhatHasNoLaw) {
  EXPECT_THROW(PrivacyLoss::removed(event::Zcdp{0.1}, kAddRemove), Error);
  EXPECT_THROW(PrivacyLoss::removed(event::Rdp{{2}, {0.1}}, kAddRemove), Error);
  EXPECT_THROW(PrivacyLoss::added(event::SampledWithoutReplacement{10, 1, event::Gaussian{1, 1}},
                                  kAddRemove),
               Error);
  const PrivacyLoss loss = PrivacyLoss::removed(event::Gaussian{1, 1}, kAddRemove);
  EXPECT_THROW(loss.tail(NAN), Error);
  EXPECT_THROW(loss.table(5), Error);
}

}  // namespace
}  // namespace shoal::privacy
