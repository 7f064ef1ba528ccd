// What every profile must obey, on random events and by comparison: monotone in what makes an event
// worse, indifferent to how it is written, between its own bounds.
#include "support/seeded_source.hpp"

#include <shoal/privacy/profile.hpp>
#include <shoal/random/discrete_laplace.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace shoal::privacy {
namespace {

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Bounds epsilon_of(const Event& event, double delta = 1e-6, Neighbors neighbors = kAdd) {
  return Profile(event, neighbors).epsilon(Delta(delta)).bounds;
}

Bounds delta_of(const Event& event, double epsilon, Neighbors neighbors = kAdd) {
  return Profile(event, neighbors).delta(epsilon).bounds;
}

void expect_same(const Bounds& a, const Bounds& b, const std::string& name) {
  EXPECT_LE(a.lower, b.upper) << name;
  EXPECT_LE(b.lower, a.upper) << name;
}

Event steps(const Event& event, std::int64_t count) { return event::Repeat{count, event}; }

Event sampled(double sigma, double rate, std::int64_t count) {
  return steps(event::PoissonSampled{rate, event::Gaussian{sigma, 1}}, count);
}

// Each event of the list is at least as bad as the one before it, and by more than the bounds' gap.
void expect_worse_and_worse(const std::vector<Event>& events) {
  Bounds epsilon{0, 0};
  Bounds delta{0, 0};
  for (const Event& event : events) {
    const Bounds next = epsilon_of(event);
    EXPECT_GT(next.lower, epsilon.upper) << to_json(event);
    epsilon = next;
    const Bounds next_delta = delta_of(event, 0.5);
    EXPECT_GE(next_delta.upper, delta.lower) << to_json(event);
    delta = next_delta;
  }
}

TEST(ProfileProperties, WorseParametersCostMore) {
  expect_worse_and_worse({event::Gaussian{4, 1}, event::Gaussian{2, 1}, event::Gaussian{2, 1.5}});
  expect_worse_and_worse({sampled(2, 0.05, 200), sampled(1.5, 0.05, 200), sampled(1.5, 0.1, 200),
                          sampled(1.5, 0.1, 300)});
  expect_worse_and_worse({steps(event::Laplace{10, 1}, 30), steps(event::Laplace{8, 1}, 30),
                          steps(event::Laplace{8, 2}, 30), steps(event::Laplace{8, 2}, 40)});
  expect_worse_and_worse({steps(event::DiscreteGaussian{20, 1}, 5),
                          steps(event::DiscreteGaussian{20, 2}, 5),
                          steps(event::DiscreteGaussian{10, 2}, 5)});
  expect_worse_and_worse({event::Exponential{0.5}, event::Exponential{1}, event::Pure{2}});
  expect_worse_and_worse({event::Zcdp{0.01}, event::Zcdp{0.1}, event::Zcdp{1}});
}

TEST(ProfileProperties, SmallerDeltasCostMore) {
  for (const Event& event : {Event(event::Gaussian{1, 1}), sampled(1, 0.1, 100),
                             steps(event::Laplace{5, 1}, 20), Event(event::Zcdp{0.1})}) {
    const Profile profile(event, kAdd);
    double previous = 0;
    for (const double delta : {0.01, 1e-4, 1e-8, 1e-16, 1e-64}) {
      const Bounds bounds = profile.epsilon(Delta(delta)).bounds;
      EXPECT_GE(bounds.upper, previous) << to_json(event) << delta;
      previous = bounds.lower;
    }
  }
}

TEST(ProfileProperties, DeltaFallsAndIsConvexInTheRatio) {
  for (const Event& event :
       {Event(event::Gaussian{1, 1}), sampled(1, 0.2, 30), Event(event::Laplace{1.03, 1})}) {
    const Profile profile(event, kAdd);
    for (double at = -1; at < 2; at += 0.21) {
      const Bounds left = profile.delta(at - 0.1).bounds;
      const Bounds here = profile.delta(at).bounds;
      const Bounds right = profile.delta(at + 0.1).bounds;
      EXPECT_LE(here.lower, left.upper) << to_json(event) << at;
      EXPECT_LE(right.lower, here.upper) << to_json(event) << at;
      const double share = (std::exp(0.1) - 1) / (std::exp(0.1) - std::exp(-0.1));
      EXPECT_LE(here.lower, (share * left.upper + (1 - share) * right.upper) * (1 + 1e-12))
          << to_json(event) << at;
    }
  }
}

TEST(ProfileProperties, WritingDoesNotMatter) {
  const Event a = event::Laplace{3, 1};
  const Event b = event::PoissonSampled{0.25, event::Gaussian{1.5, 1}};
  const Event c = event::Gaussian{4, 1};
  const Bounds all = epsilon_of(event::Compose{{a, b, b, b, c}});
  expect_same(all, epsilon_of(event::Compose{{c, b, a, b, b}}), "order");
  expect_same(all, epsilon_of(event::Compose{{a, steps(b, 3), c}}), "repeat");
  expect_same(all, epsilon_of(event::Compose{{event::Compose{{a, b}}, steps(b, 2), c}}), "nesting");
  expect_same(all, epsilon_of(event::Compose{{a, b, b, b, c, event::Compose{}, event::Pure{0}}}),
              "nothing added");
  EXPECT_LE(all.upper - all.lower, 1e-4 * all.upper);
}

TEST(ProfileProperties, GaussiansCombine) {
  const Bounds one = epsilon_of(event::Gaussian{2, 1});
  expect_same(one, epsilon_of(steps(event::Gaussian{8, 1}, 16)), "sixteen of four times the noise");
  expect_same(one, epsilon_of(event::Gaussian{6, 3}), "scaled");
  expect_same(one, epsilon_of(event::Gdp{0.5}), "mu");
  expect_same(one, epsilon_of(event::Gaussian{4, 1}, 1e-6, kReplace), "exchanged");
  expect_same(one, epsilon_of(event::Group{3, event::Gaussian{6, 1}}), "group");
  expect_same(one, epsilon_of(event::PoissonSampled{1, event::Gaussian{2, 1}}), "everyone sampled");
  expect_same(epsilon_of(steps(event::DiscreteGaussian{5000, 5000}, 2)),
              epsilon_of(steps(event::Gaussian{1, 1}, 2)), "wide discrete noise");
}

TEST(ProfileProperties, SamplingCombines) {
  const Event inner = event::Gaussian{1, 1};
  expect_same(epsilon_of(steps(event::PoissonSampled{0.5, event::PoissonSampled{0.25, inner}}, 50)),
              epsilon_of(sampled(1, 0.125, 50)), "nested rates");
  // Two Gaussians on one sample are one Gaussian on it, and less than on two samples.
  const Event twice =
      event::PoissonSampled{0.125, event::Compose{{event::Gaussian{2, 1}, event::Gaussian{2, 1}}}};
  expect_same(epsilon_of(steps(twice, 50)), epsilon_of(sampled(std::sqrt(2.0), 0.125, 50)),
              "two on one sample");
  expect_same(epsilon_of(steps(event::PoissonSampled{0.125, event::Laplace{2, 1}}, 40)),
              epsilon_of(steps(event::PoissonSampled{0.125, event::Laplace{6, 3}}, 40)), "scaled");
  // A sample costs less than everyone.
  EXPECT_LT(epsilon_of(event::PoissonSampled{0.5, inner}).upper, epsilon_of(inner).lower);
  EXPECT_LT(epsilon_of(event::PoissonSampled{0.5, event::Exponential{1}}).upper,
            epsilon_of(event::Exponential{1}).upper);
}

TEST(ProfileProperties, RelationsCompare) {
  for (const Event& event : {Event(event::Gaussian{2, 1}), Event(event::Laplace{2, 1}),
                             Event(event::PoissonSampled{0.25, event::Gaussian{2, 1}}),
                             Event(event::PoissonSampled{0.25, event::Laplace{2, 1}}),
                             Event(event::DiscreteLaplace{4, 1})}) {
    // An exchange is a removal and an addition.
    EXPECT_GE(delta_of(event, 0.1, kReplace).upper, delta_of(event, 0.1).lower) << to_json(event);
  }
  EXPECT_LT(epsilon_of(event::Gaussian{2, 1, 1.0}, 1e-6, kReplace).upper,
            epsilon_of(event::Gaussian{2, 1}, 1e-6, kReplace).lower);
}

// Looser descriptions of the same thing allow at least as much.
TEST(ProfileProperties, LooserDescriptionsCostMore) {
  const Bounds laplace = epsilon_of(steps(event::Laplace{4, 1}, 12));
  const Bounds pure = epsilon_of(steps(event::Pure{0.25}, 12));
  EXPECT_LT(laplace.upper, pure.lower);
  const Bounds gaussian = epsilon_of(steps(event::Gaussian{2, 1}, 12));
  const Bounds zcdp = epsilon_of(steps(event::Zcdp{0.125}, 12));
  EXPECT_LE(gaussian.upper, zcdp.upper);
  EXPECT_LE(zcdp.lower, zcdp.upper);
  EXPECT_GE(zcdp.lower, gaussian.lower * (1 - 1e-9));  // zCDP allows a Gaussian
  const Bounds rdp = epsilon_of(steps(event::Rdp{{2, 4, 8, 16, 32}, {0.25, 0.5, 1, 2, 4}}, 12));
  EXPECT_GE(rdp.upper, zcdp.upper * (1 - 1e-12));
  const Bounds range = epsilon_of(steps(event::Exponential{0.25}, 12));
  EXPECT_LT(range.upper, pure.upper);
  // Basic composition is the largest of all.
  EXPECT_LE(pure.upper, 3.0 * (1 + 1e-12));
}

Event leaf() {
  const double size = std::exp(*rc::gen::inRange(-200, 100) / 100.0);
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      return event::Gaussian{4, size};
    case 1:
      return event::Laplace{4, size};
    case 2:
      return event::DiscreteLaplace{5, std::ceil(size)};
    case 3:
      return event::DiscreteGaussian{5, std::ceil(size)};
    case 4:
      return event::RandomizedResponse{size / 4, *rc::gen::inRange(2, 5)};
    case 5:
      return event::EpsilonDelta{size / 4, 1e-8};
    case 6:
      return event::PoissonSampled{0.25, event::Gaussian{2, size}};
    case 7:
      return event::PoissonSampled{0.5, event::Laplace{4, size}};
    default:
      return event::Pure{size / 4};
  }
}

Event tree(int depth) {
  if (depth == 0) return leaf();
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return event::Repeat{*rc::gen::inRange(0, 8), tree(depth - 1)};
    case 1: {
      event::Compose compose;
      const int parts = *rc::gen::inRange(0, 4);
      for (int i = 0; i < parts; ++i) compose.events.push_back(tree(depth - 1));
      return compose;
    }
    default:
      return leaf();
  }
}

// The loosest tolerance keeps the loss distributions small: it is the truth that is tested.
constexpr ProfileOptions kRough{1e-2, {}};

double basic_epsilon(const Event& event);

struct BasicComposition {
  double operator()(const event::Pure& e) const { return e.epsilon; }
  double operator()(const event::RandomizedResponse& e) const { return e.epsilon; }
  double operator()(const event::Laplace& e) const { return e.sensitivity / e.scale; }
  double operator()(const event::DiscreteLaplace& e) const { return e.sensitivity / e.scale; }
  double operator()(const event::Repeat& e) const {
    return e.count == 0 ? 0 : static_cast<double>(e.count) * basic_epsilon(e.event);
  }
  double operator()(const event::Compose& e) const {
    double sum = 0;
    for (const Event& part : e.events) sum += basic_epsilon(part);
    return sum;
  }
  double operator()(const auto&) const { return HUGE_VAL; }
};

// The sum of the epsilons of pure parts, infinite if there are others.
double basic_epsilon(const Event& event) { return std::visit(BasicComposition{}, event.node()); }

TEST(ProfileProperties, RandomTreesHaveSaneBounds) {
  EXPECT_TRUE(rc::check([] {
    const Event event = tree(3);
    const Profile profile(event, kAdd, kRough);
    for (const double at : {-0.5, 0.0, 0.7, 3.0}) {
      const Bounds delta = profile.delta(at).bounds;
      RC_ASSERT(delta.lower >= 0);
      RC_ASSERT(delta.lower <= delta.upper);
      RC_ASSERT(delta.upper <= 1);
    }
    const Bounds epsilon = profile.epsilon(Delta(1e-6)).bounds;
    RC_ASSERT(epsilon.lower >= 0);
    RC_ASSERT(epsilon.lower <= epsilon.upper);
    RC_ASSERT(epsilon.lower <= basic_epsilon(event) * (1 + 1e-9));
    RC_ASSERT(epsilon.upper <= basic_epsilon(event) * (1 + 1e-2) + 1e-9);
    // The upper bound is reached: delta there is at most the target.
    if (std::isfinite(epsilon.upper)) {
      RC_ASSERT(profile.delta(epsilon.upper).bounds.lower <= 1e-6 * (1 + 1e-9));
    }
  }));
}

TEST(ProfileProperties, RandomTreesGetWorseWithMore) {
  EXPECT_TRUE(rc::check([] {
    const Event event = tree(2);
    const Event more = event::Compose{{event, leaf()}};
    const Profile before(event, kAdd, kRough);
    const Profile after(more, kAdd, kRough);
    RC_ASSERT(after.epsilon(Delta(1e-6)).bounds.upper >= before.epsilon(Delta(1e-6)).bounds.lower);
    RC_ASSERT(after.delta(0.5).bounds.upper >= before.delta(0.5).bounds.lower);
  }));
}

TEST(ProfileProperties, RandomTreesSurviveTheLedger) {
  EXPECT_TRUE(rc::check([] {
    const Event event = tree(2);
    const Event again = event_from_json(to_json(event));
    RC_ASSERT(Profile(again, kAdd, kRough).delta(0.5).bounds ==
              Profile(event, kAdd, kRough).delta(0.5).bounds);
  }));
}

// Two hundred thousand draws of discrete Laplace noise around 0 and around 3: for every threshold,
// what was seen of P(x..) - e^epsilon Q(x..) stays under the stated delta by more than chance would
// allow with probability 1e-6 (Hoeffding, for 40 thresholds and 3 epsilons together).
TEST(ProfileProperties, SampledNoiseStaysUnderItsProfile) {
  constexpr int kDraws = 200'000;
  test::SeededSource bits(31);
  const random::DiscreteLaplaceSampler sampler(4);
  std::vector<std::int64_t> noise(2 * kDraws);
  sampler.fill(noise, bits);
  std::map<std::int64_t, int> with;
  std::map<std::int64_t, int> without;
  for (int i = 0; i < kDraws; ++i) {
    ++with[noise[static_cast<std::size_t>(i)] + 3];
    ++without[noise[static_cast<std::size_t>(kDraws + i)]];
  }
  const double slack = std::sqrt(std::log(2 * 40 * 3 / 1e-6) / (2.0 * kDraws));
  for (const double epsilon : {0.0, 0.25, 0.6}) {
    const double delta = delta_of(event::DiscreteLaplace{4, 3}, epsilon).upper;
    double largest = 0;
    double p = 0;
    double q = 0;
    for (std::int64_t x = 20; x >= -20; --x) {
      // Everything above 20 with the first.
      for (auto it = with.lower_bound(x); it != with.end() && (it->first == x || x == 20); ++it) {
        p += it->second;
      }
      for (auto it = without.lower_bound(x); it != without.end() && (it->first == x || x == 20);
           ++it) {
        q += it->second;
      }
      largest = std::max(largest, (p - std::exp(epsilon) * q) / kDraws);
    }
    EXPECT_LE(largest, delta + (1 + std::exp(epsilon)) * slack) << epsilon;
    // And it is nearly reached: a profile that were twice as large would be seen.
    EXPECT_GE(largest, delta - (1 + std::exp(epsilon)) * slack) << epsilon;
  }
}

}  // namespace
}  // namespace shoal::privacy
