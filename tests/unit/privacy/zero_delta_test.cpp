// Epsilon at delta 0 and at 1e-18, the smallest delta that a ledger can hold: events of every class
// that have a largest loss, alone, sampled, in groups, repeated and composed, against that loss as
// it follows from the definition.
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/privacy/profile.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace shoal::privacy {
namespace {

constexpr double kRate = 0.1;

// The largest loss when a person comes or goes, and when one is exchanged; whether the event says
// both, or is told for the relation in question alone.
struct Base {
  std::string name;
  Event event;
  double come;
  double exchange;
  bool both;
};

std::vector<Base> bases() {
  return {
      {"discrete_laplace", event::DiscreteLaplace{2, 1}, 0.5, 1, true},
      {"discrete_laplace of a count", event::DiscreteLaplace{2, 1, 1}, 0.5, 0.5, true},
      {"discrete_laplace of many steps", event::DiscreteLaplace{2e9, 1e9}, 0.5, 1, true},
      {"laplace", event::Laplace{2, 1}, 0.5, 1, true},
      {"laplace of a count", event::Laplace{2, 1, 1}, 0.5, 0.5, true},
      {"randomized_response", event::RandomizedResponse{0.5, 2}, 0.5, 0.5, false},
      {"randomized_response of 4", event::RandomizedResponse{0.5, 4}, 0.5, 0.5, false},
      {"leaky_randomized_response", event::LeakyRandomizedResponse{0.5, 0}, 0.5, 0.5, false},
      {"exponential", event::Exponential{0.5}, 0.5, 0.5, false},
      {"pure", event::Pure{0.5}, 0.5, 0.5, false},
      {"epsilon_delta", event::EpsilonDelta{0.5, 0}, 0.5, 0.5, false},
      {"shuffled", event::Shuffled{0.5, 1000}, 0.5, 0.5, false},
      {"shuffled alone", event::Shuffled{0.5, 1}, 0.5, 0.5, false},
      {"name_and_shame", event::NameAndShame{0}, 0, 0, false},
  };
}

double mixed(double loss) { return std::log1p(kRate * std::expm1(loss)); }

// Of a Poisson sample: dP/dQ = (1 - q + q b) / (1 - q + q k), where b and k are at most e^come and
// at least e^-come, and at most e^exchange apart.
double exchanged_in_sample(const Base& base, double times) {
  const double come = base.come * times;
  const double exchange = base.exchange * times;
  if (!base.both) return exchange;  // whether anybody is in the sample may show
  return mixed(come) - mixed(come - std::min(exchange, 2 * come));
}

struct Case {
  std::string name;
  Event event;
  double add_remove;
  double replace_one;
  bool quick = true;  // at a delta above 0 too
};

std::vector<Case> cases() {
  constexpr double kRefused = -1;
  std::vector<Case> all;
  for (const Base& one : bases()) {
    const auto add = [&](const std::string& how, Event event, double come, double exchange) {
      const bool quick = how.empty() || how == ", sampled" || how == ", fixed sample";
      all.push_back({one.name + how, std::move(event), come, exchange, quick});
    };
    const Event twice = event::Repeat{2, one.event};
    const Event sample = event::PoissonSampled{kRate, one.event};
    const double sampled = exchanged_in_sample(one, 1);
    add("", one.event, one.come, one.exchange);
    add(", repeated", event::Repeat{3, one.event}, 3 * one.come, 3 * one.exchange);
    add(", composed", event::Compose{{one.event, event::Pure{0.25}}}, one.come + 0.25,
        one.exchange + 0.25);
    add(", group", event::Group{3, one.event}, 3 * one.come, 3 * one.exchange);
    add(", sampled", sample, mixed(one.come), sampled);
    add(", sampled twice over", event::PoissonSampled{kRate, twice}, mixed(2 * one.come),
        exchanged_in_sample(one, 2));
    add(", sampled and repeated", event::Repeat{4, sample}, 4 * mixed(one.come), 4 * sampled);
    add(", sampled group", event::Group{2, sample}, 2 * mixed(one.come), 2 * sampled);
    add(", fixed sample", event::SampledWithoutReplacement{1000, 100, one.event}, kRefused,
        mixed(one.exchange));
    add(", fixed sample twice over", event::SampledWithoutReplacement{1000, 100, twice}, kRefused,
        mixed(2 * one.exchange));
  }
  return all;
}

TEST(ZeroDelta, NoEventHasMoreThanItsLargestLoss) {
  for (const Case& one : cases()) {
    for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      const double largest = neighbors == Neighbors::add_remove ? one.add_remove : one.replace_one;
      if (largest < 0) continue;
      const std::string name = fmt::format("{} {}", one.name, to_string(neighbors));
      const Profile profile(one.event, neighbors);
      const Bounds none = profile.epsilon(Delta(0)).bounds;
      // Charges are counted in units of 1e-12, one for each step.
      EXPECT_LE(none.upper, largest * (1 + 1e-9) + 1e-11) << name;
      EXPECT_LE(none.lower, none.upper) << name;
      if (!one.quick) continue;
      const Bounds least = profile.epsilon(Delta(1e-18)).bounds;
      EXPECT_LE(least.upper, largest * (1 + 1e-9) + 1e-11) << name;
      EXPECT_LE(least.lower, least.upper) << name;
      EXPECT_EQ(profile.delta(largest + 1e-9).bounds.upper, 0) << name;
    }
  }
}

// Where noise alone is known the bounds meet at the largest loss.
TEST(ZeroDelta, NoiseAttainsItsLargestLoss) {
  for (const Base& one : bases()) {
    if (!one.both) continue;
    const Bounds bounds = Profile(one.event, Neighbors::add_remove).epsilon(Delta(0)).bounds;
    EXPECT_NEAR(bounds.lower, one.come, 1e-9) << one.name;
    EXPECT_NEAR(bounds.upper, one.come, 1e-9) << one.name;
  }
}

// What may fail has no epsilon below its delta; above, its charge holds.
TEST(ZeroDelta, WhatMayFailHasNoEpsilonBelowItsDelta) {
  const Event event =
      event::Compose{{event::EpsilonDelta{0.5, 1e-12}, event::Shuffled{0.25, 1000}}};
  const Profile profile(event, Neighbors::add_remove);
  EXPECT_EQ(profile.epsilon(Delta(0)).bounds.upper, HUGE_VAL);
  EXPECT_EQ(profile.epsilon(Delta(1e-18)).bounds.upper, HUGE_VAL);
  EXPECT_LE(profile.epsilon(Delta(1.1e-12)).bounds.upper, 0.75 + 1e-11);
  EXPECT_LE(profile.delta(0.75 + 1e-9).bounds.upper, 1e-12 * (1 + 1e-12));
}

// A base that hides exchanges alone: it tells whether the person is in the sample, and else answers
// with randomized response, or with Gaussian noise. Sampling takes nothing off its losses.
TEST(ZeroDelta, ASampleOfWhatHidesExchangesAloneIsNoBetter) {
  constexpr double kLoss = 1;
  const Profile pure(event::PoissonSampled{kRate, event::Pure{kLoss}}, Neighbors::replace_one);
  const Profile gaussian(event::PoissonSampled{kRate, event::Gdp{kLoss}}, Neighbors::replace_one);
  for (const double epsilon : {0.0, 0.05, 0.2, 0.5, 0.9, 0.99, 1.5, 3.0}) {
    const double response = (std::exp(kLoss) - std::exp(epsilon)) / (std::exp(kLoss) + 1);
    EXPECT_GE(pure.delta(epsilon).bounds.upper, kRate * std::max(0.0, response)) << epsilon;
    EXPECT_GE(gaussian.delta(epsilon).bounds.upper,
              kRate * numeric::gaussian_delta_down(1, kLoss, epsilon))
        << epsilon;
  }
}

}  // namespace
}  // namespace shoal::privacy
