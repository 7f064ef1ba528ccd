// Profiles of whole events: golden values, the engines against each other and against closed forms,
// and questions at the edge of what there is.
#include "privacy/two_way.hpp"
#include "support/accounting_rows.hpp"
#include "support/loss_reference.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/profile.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace shoal::privacy {
namespace {

using test::Long;

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Event sampled(double sigma, double rate, std::int64_t count) {
  return event::Repeat{count, event::PoissonSampled{rate, event::Gaussian{sigma, 1}}};
}

Bounds epsilon_of(const Event& event, double delta, ProfileOptions options = {},
                  Neighbors neighbors = kAdd) {
  return Profile(event, neighbors, options).epsilon(Delta(delta)).bounds;
}

Bounds delta_of(const Event& event, double epsilon, Neighbors neighbors = kAdd) {
  return Profile(event, neighbors).delta(epsilon).bounds;
}

// The gap that an engine promises for epsilon, relative to it.
double promised_gap(Engine engine) {
  switch (engine) {
    case Engine::closed_form:
      return 1e-9;
    case Engine::contour:
      return 1e-6;
    default:
      return 1e-4;
  }
}

void expect_sane(const Bounds& bounds, const std::string& name) {
  EXPECT_FALSE(std::isnan(bounds.lower)) << name;
  EXPECT_FALSE(std::isnan(bounds.upper)) << name;
  EXPECT_GE(bounds.lower, 0) << name;
  EXPECT_LE(bounds.lower, bounds.upper) << name;
}

void expect_overlap(const Bounds& a, double lower, double upper, const std::string& name) {
  expect_sane(a, name);
  // Golden numbers have 15 digits.
  EXPECT_LE(a.lower, upper + 2e-14 * std::abs(upper)) << name;
  EXPECT_GE(a.upper, lower - 2e-14 * std::abs(lower)) << name;
}

// Exact but for the rounding of long double.
void expect_brackets(const Bounds& bounds, Long exact, const std::string& name) {
  expect_sane(bounds, name);
  EXPECT_LE(bounds.lower, exact * (1 + 1e-17L)) << name;
  EXPECT_GE(bounds.upper, exact * (1 - 1e-17L)) << name;
}

TEST(Profile, OverlapsEveryGoldenBracket) {
  int asked = 0;
  for (const test::AccountingRow& row : test::accounting_rows()) {
    const Event event = event_from_json(row.event);
    if (row.direction != "both") {
      TwoWay sides(event, row.neighbors);
      const Direction direction = row.direction == "added" ? Direction::added : Direction::removed;
      const Bounds bounds = sides.delta(direction, row.at);
      expect_overlap(bounds, row.lower, row.upper, row.name());
      EXPECT_LE(bounds.upper - bounds.lower, 5e-3 * bounds.upper) << row.name();
      ++asked;
      continue;
    }
    const Profile profile(event, row.neighbors);
    const Certified answer =
        row.epsilon_asked ? profile.epsilon(Delta(row.at)) : profile.delta(row.at);
    expect_overlap(answer.bounds, row.lower, row.upper, row.name());
    ++asked;
    // What is known from above only has no gap to speak of.
    if (answer.engine == Engine::renyi || row.event.find("shuffled") != std::string::npos) continue;
    EXPECT_LE(answer.bounds.upper - answer.bounds.lower,
              promised_gap(answer.engine) * answer.bounds.upper)
        << row.name() << " by " << to_string(answer.engine);
  }
  EXPECT_GE(asked, 95);
}

TEST(Profile, EnginesAgreeOnSampledGaussians) {
  for (const double sigma : {0.8, 2.0}) {
    for (const double rate : {0.02, 0.2}) {
      for (const std::int64_t count : {50, 2000}) {
        const Event event = sampled(sigma, rate, count);
        ProfileOptions contour{1e-6, Engine::contour};
        ProfileOptions lattice{1e-3, Engine::loss_distribution};
        const Bounds a = epsilon_of(event, 1e-5, contour);
        const Bounds b = epsilon_of(event, 1e-5, lattice);
        const std::string name = to_json(event);
        expect_overlap(a, b.lower, b.upper, name);
        EXPECT_LE(b.upper - b.lower, 1e-2 * b.upper) << name;
      }
    }
  }
}

TEST(Profile, EnginesBracketTheGaussianFormula) {
  for (const double mu : {0.05, 0.5, 3.0}) {
    const test::NormalPair pair{mu, {0, 1}, {1}};
    const Event event = event::Gdp{mu};
    for (const double z : {0.0, 2.0, 5.0}) {
      const double at = std::max(0.0, mu * (z + mu / 2));
      const Long exact = pair.delta(at);
      for (const auto engine : {std::optional<Engine>{}, std::optional(Engine::contour),
                                std::optional(Engine::loss_distribution)}) {
        const Profile profile(event, kAdd, {1e-4, engine});
        const std::string name = "mu " + std::to_string(mu) + " at " + std::to_string(at) +
                                 (engine ? " by " + std::string(to_string(*engine)) : "");
        expect_brackets(profile.delta(at).bounds, exact, name);
        EXPECT_LE(profile.delta(at).bounds.upper, 1.01L * exact) << name;
      }
    }
  }
}

TEST(Profile, EnginesBracketOptimalComposition) {
  for (const std::int64_t count : {10, 200}) {
    const double each = 2 / std::sqrt(static_cast<double>(count));
    for (const double delta : {0.0, 1e-4}) {
      const Event event = event::Repeat{count, event::EpsilonDelta{each, delta}};
      for (const double at : {0.5, 3.0, 6.0}) {
        const Bounds formula = optimal_composition_delta({each, delta}, count, at);
        expect_overlap(delta_of(event, at), formula.lower, formula.upper, to_json(event));
        // With a sample of nothing beside it, nothing changes, but the formula does not apply.
        const Event beside = event::PoissonSampled{0.5, event::Pure{0}};
        const Profile lattice(event::Compose{{event, beside}}, kAdd,
                              {1e-6, Engine::loss_distribution});
        const Bounds other = lattice.delta(at).bounds;
        expect_overlap(other, formula.lower, formula.upper, to_json(event));
        EXPECT_LE(other.upper - other.lower, 1e-6 * other.upper) << to_json(event) << at;
      }
    }
  }
}

// Far out a double has no digits left to lose: bounds in logarithms must still bracket.
TEST(Profile, SmallDeltasOfAGaussianAreBracketed) {
  for (const double mu : {0.5, 1.0, 2.0}) {
    const test::NormalPair pair{mu, {0, 1}, {1}};
    const Profile profile(event::Gdp{mu}, kAdd);
    for (double z = 5; z < 36; z += 0.5) {
      const double at = mu * (z + mu / 2);
      const Long exact = pair.delta(at);
      expect_brackets(profile.delta(at).bounds, exact, std::to_string(z));
      const Certified logarithm = profile.log_delta(at);
      EXPECT_LE(logarithm.bounds.lower, logl(exact)) << z;
      EXPECT_GE(logarithm.bounds.upper, logl(exact)) << z;
      EXPECT_LE(logarithm.bounds.upper - logarithm.bounds.lower, 1e-6) << z;
    }
  }
}

TEST(Profile, SmallDeltasOfOneSampledStepAreBracketed) {
  for (const double rate : {1e-9, 0.01, 0.5}) {
    const test::NormalPair pair{1, {1 - rate, rate}, {1}};
    const Profile profile(event::PoissonSampled{rate, event::Gaussian{1, 1}}, kAdd);
    for (double at = 0.5; at < 60; at *= 1.5) {
      const Long exact = pair.delta(at);
      if (!(exact > 0)) continue;  // the reference, a difference of two tails, has no digit left
      const Bounds bounds = profile.log_delta(at).bounds;
      EXPECT_LE(bounds.lower, logl(exact) + 1e-15L) << rate << " " << at;
      EXPECT_GE(bounds.upper, logl(exact) - 1e-15L) << rate << " " << at;
    }
  }
}

// epsilon(delta) must be an epsilon at which delta is indeed reached: the upper bound from above,
// the lower from below. For laws with a formula, near the end of their range too.
TEST(Profile, EpsilonIsWhereDeltaIsReached) {
  struct Case {
    Event event;
    Long largest;  // loss
  };
  const Case cases[] = {
      {event::Laplace{2, 1}, 0.5L},
      {event::DiscreteLaplace{2, 1}, 0.5L},
      {event::RandomizedResponse{0.5, 3}, 0.5L},
      {event::PoissonSampled{0.25, event::Laplace{2, 1}}, log1pl(0.25L * expm1l(0.5L))}};
  for (const Case& c : cases) {
    // delta at epsilon near the largest loss L is mass * (L - epsilon), mass at most 1: an epsilon
    // below L - 10 delta can not be right.
    for (const double delta : {1e-6, 1e-8, 1e-9, 1e-12, 1e-15}) {
      const Bounds bounds = epsilon_of(c.event, delta);
      expect_sane(bounds, to_json(c.event));
      EXPECT_GE(bounds.upper, c.largest - 20 * delta - 1e-15L) << to_json(c.event) << " " << delta;
      EXPECT_LE(bounds.lower, c.largest * (1 + 1e-15L)) << to_json(c.event) << " " << delta;
      EXPECT_LE(bounds.upper, c.largest + 1e-6L) << to_json(c.event) << " " << delta;
    }
  }
  for (const double rate : {1e-9, 0.01, 0.5}) {
    for (const double sigma : {0.1, 1.0, 1000.0}) {
      const test::NormalPair pair{1 / Long(sigma), {1 - rate, rate}, {1}};
      for (const double delta : {1e-6, 1e-30, 1e-300}) {
        const Bounds bounds =
            epsilon_of(event::PoissonSampled{rate, event::Gaussian{sigma, 1}}, delta);
        const std::string name = std::to_string(rate) + " " + std::to_string(sigma) + " " +
                                 std::to_string(std::log10(delta));
        expect_sane(bounds, name);
        if (sigma < 1) continue;  // the reference is not made for that
        EXPECT_LE(pair.delta(bounds.upper), delta * (1 + 1e-9L)) << name;
        if (bounds.lower > 0) {
          EXPECT_GE(pair.delta(bounds.lower), delta * (1 - 1e-9L)) << name;
        }
      }
    }
  }
}

TEST(Profile, DeltaAndEpsilonAreInverse) {
  for (const Event& event :
       {Event(event::Gaussian{1, 1}), Event(event::Repeat{20, event::Laplace{10, 1}}),
        sampled(1, 0.1, 50), Event(event::Repeat{10, event::Pure{0.3}})}) {
    const Profile profile(event, kAdd);
    for (const double epsilon : {0.4, 1.3}) {
      const Bounds delta = profile.delta(epsilon).bounds;
      EXPECT_LE(profile.epsilon(Delta(delta.upper)).bounds.lower, epsilon * (1 + 1e-12))
          << to_json(event);
      if (delta.lower == 0) continue;
      EXPECT_GE(profile.epsilon(Delta(delta.lower)).bounds.upper, epsilon * (1 - 1e-12))
          << to_json(event);
    }
  }
}

TEST(Profile, NothingCostsNothing) {
  for (const Event& event :
       {Event(event::Compose{}), Event(event::Repeat{0, event::Pure{5}}),
        Event(event::Gaussian{1, 0}), Event(event::PoissonSampled{0, event::Gaussian{1, 1}})}) {
    const Profile profile(event, kAdd);
    EXPECT_EQ(profile.delta(0).bounds, (Bounds{0, 0})) << to_json(event);
    EXPECT_EQ(profile.epsilon(Delta(0)).bounds, (Bounds{0, 0})) << to_json(event);
    EXPECT_EQ(profile.epsilon(Delta(1e-6)).bounds, (Bounds{0, 0})) << to_json(event);
    EXPECT_NEAR(profile.delta(-1).bounds.upper, -std::expm1(-1), 1e-14) << to_json(event);
  }
}

TEST(Profile, EdgesOfEpsilonAndDelta) {
  const Event events[] = {Event(event::Gaussian{1, 1}), Event(event::Laplace{1, 1}),
                          sampled(1, 0.1, 10),          Event(event::EpsilonDelta{1, 0.01}),
                          Event(event::Zcdp{0.5}),      Event(event::Rdp{{2, 4}, {0.2, 0.4}}),
                          Event(event::Exponential{1}), Event(event::DiscreteGaussian{2, 1})};
  for (const Event& event : events) {
    const Profile profile(event, kAdd);
    const std::string name = to_json(event);
    for (const double epsilon :
         {-1000.0, -30.0, -1.0, -1e-12, 0.0, 1e-12, 1.0, 30.0, 1000.0, 1e6}) {
      const Bounds bounds = profile.delta(epsilon).bounds;
      expect_sane(bounds, name + " at " + std::to_string(epsilon));
      EXPECT_LE(bounds.upper, 1) << name;
      // Nothing protects better than nothing.
      if (epsilon < 0) {
        EXPECT_GE(bounds.upper, -std::expm1(epsilon) * (1 - 1e-15)) << name << epsilon;
      }
    }
    for (const double delta : {0.0, 1e-300, 1e-12, 0.3, 0.999999}) {
      expect_sane(profile.epsilon(Delta(delta)).bounds, name + " delta " + std::to_string(delta));
    }
    EXPECT_EQ(profile.epsilon_at_log_delta(0).bounds, (Bounds{0, 0})) << name;
  }
  EXPECT_EQ(epsilon_of(event::Gaussian{1, 1}, 0).lower, HUGE_VAL);
  EXPECT_NEAR(epsilon_of(event::Repeat{3, event::Laplace{2, 1}}, 0).upper, 1.5, 1e-10);
  EXPECT_EQ(epsilon_of(event::EpsilonDelta{1, 0.01}, 0.001).lower, HUGE_VAL);
}

TEST(Profile, RefusesWhatIsNoQuestion) {
  const Profile profile(event::Pure{1}, kAdd);
  EXPECT_THROW(profile.delta(HUGE_VAL), Error);
  EXPECT_THROW(profile.delta(std::nan("")), Error);
  EXPECT_THROW(profile.epsilon_at_log_delta(0.5), Error);
  EXPECT_THROW(profile.epsilon_at_log_delta(std::nan("")), Error);
  EXPECT_THROW(Profile(event::Pure{1}, kAdd, {1e-12, {}}), Error);
  EXPECT_THROW(Profile(event::Pure{1}, kAdd, {0.5, {}}), Error);
  EXPECT_THROW(Profile(event::SampledWithoutReplacement{10, 1, event::Pure{1}}, kAdd), Error);
}

// What is far from ordinary must still be answered, with sane bounds; the time is not tested here.
TEST(Profile, ExtremeParametersGiveSaneBounds) {
  const Event events[] = {Event(event::Gaussian{1, 1e-200}),
                          Event(event::Gaussian{1e-150, 1e150}),
                          Event(event::Laplace{1e-6, 1}),
                          Event(event::DiscreteLaplace{1e-3, 1e5}),
                          Event(event::Pure{1e5}),
                          Event(event::Repeat{10'000'000, event::Pure{1e-4}}),
                          sampled(1, 0.999, 10'000'000),
                          sampled(1, 0.01, 10'000'000),
                          sampled(1000, 0.01, 10'000'000),
                          Event(event::PoissonSampled{1e-300, event::Gaussian{1, 1}}),
                          Event(event::Compose{{event::EpsilonDelta{1, 1}, event::Gaussian{1, 1}}}),
                          Event(event::NameAndShame{1})};
  for (const Event& event : events) {
    const std::string name = to_json(event);
    try {
      const Profile profile(event, kAdd);
      expect_sane(profile.delta(1).bounds, name);
      for (const double delta : {1e-6, 0.5}) {
        expect_sane(profile.epsilon(Delta(delta)).bounds, name);
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << " threw " << error.what();
    }
  }
}

// A leak beside noise: its mass at infinity, and the rest by both answers of the response.
TEST(Profile, LeaksStayBesideNoise) {
  const test::NormalPair pair{1, {0, 1}, {1}};
  const Event event = event::Compose{{event::EpsilonDelta{0.5, 0.001}, event::Gaussian{1, 1}}};
  const Long kept = (1 - Long(0.001)) / (1 + expl(-0.5L));
  for (const auto engine : {Engine::contour, Engine::loss_distribution}) {
    const Profile profile(event, kAdd, {1e-3, engine});
    for (const double at : {0.0, 1.0, 4.0, 8.0}) {
      const Long exact =
          Long(0.001) + kept * pair.delta(at - 0.5L) + kept * expl(-0.5L) * pair.delta(at + 0.5L);
      expect_brackets(profile.delta(at).bounds, exact, std::string(to_string(engine)));
      EXPECT_LE(profile.delta(at).bounds.upper, 1.01L * exact) << at;
    }
  }
}

// Losses beyond the range of e^x are still losses.
TEST(Profile, EnormousLossesAreNotLost) {
  const Event laplace = event::Laplace{0.001, 1};
  for (const Event& event :
       {Event(event::Repeat{2, laplace}), Event(event::Compose{{laplace, event::Gaussian{1, 1}}}),
        Event(event::Compose{{laplace, event::Pure{0.5}}})}) {
    const std::string name = to_json(event);
    const Profile profile(event, kAdd);
    const Bounds epsilon = profile.epsilon(Delta(1e-6)).bounds;
    expect_sane(epsilon, name);
    EXPECT_GE(epsilon.upper, 999) << name;
  }
}

// Nearly all of the mass within rounding of the lowest loss, or ruled by rare enormous losses:
// where contours decay slowly and high tilts mislead. The brackets are an independent computation's
// (losses rounded up and down on a fine grid, convolved with NumPy).
TEST(Profile, RareLargeLossesKeepTheirDigits) {
  struct Case {
    double sigma, rate;
    std::int64_t count;
    double lower, upper;
  };
  for (const Case& c :
       {Case{1, 1e-4, 10, 0.002359993, 0.002379994}, Case{1, 1e-4, 100, 0.005462978, 0.005662979},
        Case{0.1, 0.01, 100, 403.592030, 403.792031}, Case{0.3, 0.01, 10, 18.144797, 18.145798}}) {
    const Bounds bounds = epsilon_of(sampled(c.sigma, c.rate, c.count), 1e-6);
    const std::string name = fmt::format("{} {} {}", c.sigma, c.rate, c.count);
    expect_overlap(bounds, c.lower, c.upper, name);
    EXPECT_LE(bounds.upper - bounds.lower, 1e-4 * bounds.upper) << name;
  }
  const Bounds many = epsilon_of(sampled(1, 1e-4, 1000000), 1e-6);
  EXPECT_LE(many.upper - many.lower, 1e-6 * many.upper);
}

// Of a zcdp event moments are all that is known, of an exponential one better moments than those of
// the pair that dominates it.
TEST(Profile, MomentsOfEveryKindGoTogether) {
  const Event both = event::Compose{{event::Zcdp{0.1}, event::Exponential{0.5}}};
  const Bounds bounds = epsilon_of(both, 1e-6);
  expect_sane(bounds, "zcdp and exponential");
  // Both are zCDP, of 0.1 and 0.5^2 / 8 together; the conversion by the best order.
  EXPECT_LE(bounds.upper, 2.41);
  EXPECT_GE(bounds.lower, epsilon_of(event::Zcdp{0.1}, 1e-6).lower);
  EXPECT_LE(delta_of(both, bounds.upper).upper, 1e-6 * (1 + 1e-6));
}

TEST(Profile, LaplaceAtItsOwnEpsilon) {
  const Profile profile(event::Laplace{1, 1}, kAdd);
  expect_brackets(profile.delta(-1).bounds, -expm1l(-1), "at -1");
  EXPECT_LE(profile.delta(1).bounds.upper, 1e-14);
  expect_brackets(profile.delta(0.25).bounds, -expm1l(-0.375L), "at 1/4");
  EXPECT_NEAR(profile.epsilon(Delta(0)).bounds.upper, 1, 1e-11);
}

// The rows of a table are not named together: whoever is not named looks like someone absent.
TEST(Profile, NameAndShameIsNotBelowItself) {
  const double delta = 0.125;
  const Event event = event::Compose{{event::NameAndShame{delta}, event::RandomizedResponse{1, 2}}};
  // Removed: named for good, or else ln(1 - delta) less.
  const Long kept = 1 / (1 + expl(-1.0L));
  for (const double at : {0.2, 0.7}) {
    const Long top = 1 + log1pl(-Long(delta));
    const Long removed = delta + (1 - Long(delta)) * kept * std::max(Long(0), -expm1l(at - top));
    // Added: never named, so always as much more likely than with the person.
    const Long more = -log1pl(-Long(delta));
    const Long added = kept * std::max(Long(0), -expm1l(at - 1 - more)) +
                       kept * expl(-1.0L) * std::max(Long(0), -expm1l(at + 1 - more));
    const Long exact = std::max(removed, added);
    EXPECT_LE(delta_of(event, at).lower, exact * (1 + 1e-15L)) << at;
    EXPECT_GE(delta_of(event, at).upper, exact * (1 - 1e-15L)) << at;
  }
  // A group of three: 1 - (1 - delta)^3, on the safe side.
  for (const double each : {0.1, 0.01, 1e-5, 0.3}) {
    const Long exact = -expm1l(3 * log1pl(-Long(each)));
    const Bounds bounds = delta_of(event::Group{3, event::NameAndShame{each}}, 0);
    EXPECT_GE(bounds.upper, exact) << each;
    EXPECT_LE(bounds.lower, exact) << each;
  }
}

TEST(Profile, FixedSampleIsItsFormula) {
  const double rate = 0.01;
  const Event event = event::SampledWithoutReplacement{1000, 10, event::Gaussian{1, 1}};
  const test::NormalPair pair{2, {0, 1}, {1}};  // an exchange moves by 2
  for (const double at : {0.05, 0.5, 2.0}) {
    const Long exact = rate * pair.delta(log1pl(expm1l(at) / Long(rate)));
    const Bounds bounds = delta_of(event, at, kReplace);
    EXPECT_GE(bounds.upper, exact * (1 - 1e-15L)) << at;
    EXPECT_LE(bounds.upper, exact * (1 + 1e-9L)) << at;
    EXPECT_LE(bounds.lower, exact * (1 + 1e-15L)) << at;
  }
}

TEST(Profile, ShufflingIsNeverWorseThanTheLocalEpsilon) {
  for (const double local : {0.1, 1.0, 4.0}) {
    for (const std::int64_t users : {1, 3, 1000}) {
      const Bounds bounds = epsilon_of(event::Shuffled{local, users}, 1e-6);
      expect_sane(bounds, "shuffled");
      EXPECT_LE(bounds.upper, local * (1 + 1e-9)) << local << " " << users;
    }
  }
  EXPECT_LT(epsilon_of(event::Shuffled{1, 1000}, 1e-6).upper, 0.5);
}

TEST(Profile, NamesItsEngines) {
  EXPECT_EQ(to_string(Engine::closed_form), "closed_form");
  EXPECT_EQ(to_string(Engine::contour), "contour");
  EXPECT_EQ(to_string(Engine::loss_distribution), "loss_distribution");
  EXPECT_EQ(to_string(Engine::renyi), "renyi");
  EXPECT_EQ(Profile(event::Gaussian{1, 1}, kAdd).epsilon(Delta(1e-5)).engine, Engine::closed_form);
  EXPECT_EQ(Profile(sampled(1, 0.01, 10000), kAdd).epsilon(Delta(1e-5)).engine, Engine::contour);
  EXPECT_EQ(Profile(event::Zcdp{0.1}, kAdd).epsilon(Delta(1e-5)).engine, Engine::renyi);
}

}  // namespace
}  // namespace shoal::privacy
