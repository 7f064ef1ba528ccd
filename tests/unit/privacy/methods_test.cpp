// All methods side by side: what each says against its own theorem, which may be asked when, and
// that none undercuts the certified lower bound.
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/methods.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace shoal::privacy {
namespace {

constexpr Neighbors kAddRemove = Neighbors::add_remove;

const Method& row(const std::vector<Method>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Method& m) { return m.name == name; });
  if (found == rows.end()) throw std::runtime_error("no row " + name);
  return *found;
}

double value(const std::vector<Method>& rows, const std::string& name) {
  const Method& method = row(rows, name);
  EXPECT_TRUE(method.value) << name << ": " << method.note;
  return method.value.value_or(NAN);
}

TEST(Methods, RenyiDivergencesOfTheReference) {
  for (const auto& fields : test::read_golden_text("renyi_divergence")) {
    const double first = std::stod(fields.at(1));
    Event step = event::Pure{first};
    if (fields.at(0) == "exponential") step = event::Exponential{first};
    if (fields.at(0) == "poisson_gaussian") {
      step = event::PoissonSampled{std::stod(fields.at(2)), event::Gaussian{first, 1}};
    }
    const Event event = event::Repeat{std::stoll(fields.at(3)), step};
    const double expected = std::stod(fields.at(5));
    const double found = renyi_divergence_up(event, kAddRemove, std::stod(fields.at(4)));
    EXPECT_GE(found, expected * (1 - 1e-14)) << fields.at(0) << " " << fields.at(4);
    EXPECT_NEAR(found, expected, 1e-8 * expected) << fields.at(0) << " " << fields.at(4);
  }
}

TEST(Methods, RenyiDivergencesInClosedForm) {
  for (const double order : {1.5, 2.0, 10.0, 64.0}) {
    EXPECT_NEAR(renyi_divergence_up(event::Gaussian{2, 1}, kAddRemove, order), order / 8, 1e-12);
    EXPECT_NEAR(renyi_divergence_up(event::Gaussian{2, 1}, Neighbors::replace_one, order),
                order / 2, 1e-12);
    const double laplace = laplace_renyi_up(0.5, order);
    EXPECT_NEAR(renyi_divergence_up(event::Laplace{2, 1}, kAddRemove, order), laplace, 1e-9);
    EXPECT_NEAR(renyi_divergence_up(event::RandomizedResponse{1, 2}, kAddRemove, order),
                pure_renyi_up(Epsilon(1), order), 1e-9);
    EXPECT_DOUBLE_EQ(renyi_divergence_up(event::Zcdp{0.1}, kAddRemove, order), 0.1 * order);
    // Discrete noise: at most order rho, though a few outputs are not summed.
    const double discrete = renyi_divergence_up(event::DiscreteGaussian{2, 1}, kAddRemove, order);
    EXPECT_NEAR(discrete, order / 8, 1e-9);
  }
  EXPECT_EQ(renyi_divergence_up(event::Pure{0.5}, kAddRemove, HUGE_VAL), 0.5);
  EXPECT_EQ(renyi_divergence_up(event::NameAndShame{0.1}, kAddRemove, 2), HUGE_VAL);
  EXPECT_EQ(renyi_divergence_up(event::Compose{}, kAddRemove, 2), 0);
  EXPECT_DOUBLE_EQ(renyi_divergence_up(event::Rdp{{2, 4}, {0.1, 0.3}}, kAddRemove, 2), 0.1);
  // Between two orders, (order - 1) divergence lies under the chord: (0.1 + 0.9) / 2 / 2.
  EXPECT_NEAR(renyi_divergence_up(event::Rdp{{2, 4}, {0.1, 0.3}}, kAddRemove, 3), 0.25, 1e-12);
  EXPECT_EQ(renyi_divergence_up(event::Rdp{{2, 4}, {0.1, 0.3}}, kAddRemove, 5), HUGE_VAL);
  EXPECT_THROW(renyi_divergence_up(event::Pure{1}, kAddRemove, 1), Error);
}

TEST(Methods, EqualPureStepsByEachTheorem) {
  const Guarantee step{0.1, 0};
  const auto rows = methods_at_delta(event::Repeat{100, event::Pure{0.1}}, kAddRemove, Delta(1e-6));
  EXPECT_NEAR(value(rows, "basic"), 10, 1e-12);
  EXPECT_NEAR(value(rows, "advanced"), advanced_composition_up(step, 100, 1e-6).epsilon, 1e-9);
  EXPECT_NEAR(value(rows, "dwork_rothblum_vadhan"),
              dwork_rothblum_vadhan_up(step, 100, 1e-6).epsilon, 1e-9);
  EXPECT_NEAR(value(rows, "simplified_optimal"),
              simplified_optimal_composition_up(step, 100, 1e-6).epsilon, 1e-9);
  const Bounds optimal = optimal_composition_epsilon(step, 100, Delta(1e-6));
  EXPECT_EQ(row(rows, "optimal").kind, MethodKind::bracket);
  EXPECT_NEAR(value(rows, "optimal"), optimal.upper, 1e-9);
  EXPECT_NEAR(value(rows, "certified"), optimal.upper, 1e-9);
  EXPECT_FALSE(row(rows, "gdp_central_limit").value);
  EXPECT_GE(value(rows, "rdp"), optimal.lower);
  EXPECT_LT(value(rows, "rdp"), value(rows, "zcdp"));
}

TEST(Methods, OwnDeltasComeOffFirst) {
  const Event event = event::Repeat{10, event::EpsilonDelta{0.2, 1e-7}};
  const auto rows = methods_at_delta(event, kAddRemove, Delta(1e-5));
  EXPECT_NEAR(value(rows, "basic"), 2, 1e-12);
  EXPECT_NEAR(value(rows, "advanced"),
              advanced_composition_up({0.2, 1e-7}, 10, 1e-5 - 1e-6).epsilon, 1e-7);
  EXPECT_LE(advanced_composition_up({0.2, 1e-7}, 10, 1e-5 - 1e-6 + 1e-12).epsilon,
            value(rows, "advanced"));
  const auto none = methods_at_delta(event, kAddRemove, Delta(1e-7));
  for (const char* name : {"basic", "advanced", "optimal", "zcdp", "rdp", "certified"}) {
    EXPECT_EQ(value(none, name), HUGE_VAL) << name;
  }
}

TEST(Methods, DifferentStepsHaveNoAdvancedTheorem) {
  const auto rows =
      methods_at_delta(event::Compose{{event::Pure{0.1}, event::Repeat{3, event::Pure{0.3}},
                                       event::EpsilonDelta{0.5, 1e-8}}},
                       kAddRemove, Delta(1e-6));
  EXPECT_FALSE(row(rows, "advanced").value);
  EXPECT_NE(row(rows, "advanced").note.find("3"), std::string::npos);
  EXPECT_NEAR(value(rows, "basic"), 1.5, 1e-12);
  EXPECT_EQ(row(rows, "optimal").kind, MethodKind::bracket);
  EXPECT_NEAR(value(rows, "optimal"), value(rows, "certified"), 1e-4);
}

TEST(Methods, GaussianSteps) {
  const auto rows =
      methods_at_delta(event::Repeat{4, event::Gaussian{2, 1}}, kAddRemove, Delta(1e-5));
  const double exact = gdp_epsilon(1, Delta(1e-5)).upper;
  EXPECT_NEAR(value(rows, "certified"), exact, 1e-6);
  EXPECT_NEAR(value(rows, "gdp"), exact, 1e-6);
  EXPECT_NEAR(value(rows, "zcdp"), epsilon_of_rho_up(Rho(0.5), Delta(1e-5)), 1e-6);
  EXPECT_NEAR(value(rows, "rdp"), value(rows, "zcdp"), 1e-6);
  EXPECT_NEAR(value(rows, "basic"), 4 * gdp_epsilon(0.5, Delta(2.5e-6)).upper, 1e-6);
  EXPECT_FALSE(row(rows, "advanced").value);
  EXPECT_FALSE(row(rows, "optimal").value);
}

TEST(Methods, NoisyGradientDescent) {
  const Event event = event::Repeat{1000, event::PoissonSampled{0.01, event::Gaussian{1, 1}}};
  const auto rows = methods_at_delta(event, kAddRemove, Delta(1e-5), {.tolerance = 1e-4});
  EXPECT_EQ(row(rows, "gdp_central_limit").kind, MethodKind::estimate);
  EXPECT_NEAR(value(rows, "gdp_central_limit"),
              poisson_gaussian_epsilon_estimate(1, 0.01, 1000, Delta(1e-5)).value, 1e-6);
  // It is no bound: it undercuts the truth.
  EXPECT_LT(value(rows, "gdp_central_limit"), *row(rows, "certified").lower);
  EXPECT_LT(value(rows, "certified"), value(rows, "rdp"));
  EXPECT_LT(value(rows, "rdp"), value(rows, "basic"));
}

// Both questions are answered by the same curve, for every theorem.
TEST(Methods, DeltaAndEpsilonAreInverse) {
  for (const Event& event : {Event(event::Repeat{50, event::Pure{0.1}}),
                             Event(event::Repeat{50, event::EpsilonDelta{0.1, 1e-9}}),
                             Event(event::Repeat{10, event::Gaussian{4, 1}})}) {
    const auto epsilons = methods_at_delta(event, kAddRemove, Delta(1e-5));
    for (const Method& method : epsilons) {
      if (!method.value || method.name == "basic") continue;
      const auto deltas = methods_at_epsilon(event, kAddRemove, *method.value * (1 + 1e-9));
      EXPECT_NEAR(value(deltas, method.name), 1e-5, 1e-9) << method.name << " " << to_json(event);
    }
  }
}

TEST(Methods, NoBoundUndercutsTheTruth) {
  const std::vector<Event> events = {
      event::Repeat{20, event::Laplace{5, 1}},
      event::Repeat{7, event::DiscreteGaussian{3, 1}},
      event::Repeat{30, event::Exponential{0.2}},
      event::Compose{{event::Repeat{5, event::DiscreteLaplace{10, 1}}, event::Gdp{0.3}}},
      event::Repeat{3, event::RandomizedResponse{1, 5}},
      event::Compose{{event::NameAndShame{1e-7}, event::Pure{0.5}}}};
  for (const Event& event : events) {
    for (const Neighbors neighbors : {kAddRemove, Neighbors::replace_one}) {
      const auto rows = methods_at_delta(event, neighbors, Delta(1e-6));
      const double lower = *row(rows, "certified").lower;
      EXPECT_GT(lower, 0.3) << to_json(event);
      for (const Method& method : rows) {
        if (method.kind == MethodKind::estimate || !method.value) continue;
        EXPECT_GE(*method.value, lower) << method.name << " " << to_json(event);
      }
      const auto deltas = methods_at_epsilon(event, neighbors, 1);
      for (const Method& method : deltas) {
        if (method.kind == MethodKind::estimate || !method.value) continue;
        EXPECT_GE(*method.value, *row(deltas, "certified").lower)
            << method.name << " " << to_json(event);
        EXPECT_LE(*method.value, 1) << method.name;
      }
    }
  }
}

TEST(Methods, EveryRowSaysSomething) {
  const auto rows = methods_at_delta(event::Rdp{{2, 8}, {0.1, 0.5}}, kAddRemove, Delta(1e-6));
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows.front().name, "basic");
  EXPECT_EQ(rows.back().name, "certified");
  for (const Method& method : rows) EXPECT_FALSE(method.note.empty()) << method.name;
  EXPECT_FALSE(row(rows, "zcdp").value);
  EXPECT_NEAR(value(rows, "rdp"), value(rows, "certified"), 1e-6);
  EXPECT_THROW(methods_at_epsilon(event::Pure{1}, kAddRemove, -1), Error);
  EXPECT_THROW(methods_at_delta(event::SampledWithoutReplacement{10, 2, event::Pure{1}}, kAddRemove,
                                Delta(1e-6)),
               Error);
  EXPECT_EQ(to_string(MethodKind::upper_bound), "upper bound");
}

}  // namespace
}  // namespace shoal::privacy
