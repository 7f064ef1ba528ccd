// What every mechanism in the registry must hold, run over all of them at several parameters. A new
// mechanism adds its specs to all_specs() and, for a new kind of event, its bound to StatedBound.
//
// That the bits consumed do not depend on the value needs no run: sample() has no value to see.
#include "support/chi_square.hpp"
#include "support/seeded_source.hpp"

#include <shoal/audit/empirical.hpp>
#include <shoal/audit/hockey_stick.hpp>
#include <shoal/base/error.hpp>
#include <shoal/mechanism/registry.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/privacy/conversion.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace shoal::mechanism {
namespace {

static_assert(std::is_same_v<
              decltype(static_cast<Int128 (*)(const AnyMechanism&, random::BitSource&)>(sample)),
              Int128 (*)(const AnyMechanism&, random::BitSource&)>);

std::vector<AnyMechanism> all_specs() {
  return {DiscreteLaplace{0.3},    DiscreteLaplace{1},      DiscreteLaplace{2.5},
          DiscreteLaplace{20},     DiscreteLaplace{1000.1}, DiscreteGaussian{0.4},
          DiscreteGaussian{1},     DiscreteGaussian{3.7},   DiscreteGaussian{20},
          DiscreteGaussian{300.3}, RoundedLaplace{0.3},     RoundedLaplace{1},
          RoundedLaplace{2.5},     RoundedLaplace{20},      RoundedLaplace{1000.1},
          RoundedGaussian{0.4},    RoundedGaussian{1},      RoundedGaussian{3.7},
          RoundedGaussian{20},     RoundedGaussian{300.3}};
}

long long radius_of(const AnyMechanism& spec) {
  return 4 * static_cast<long long>(error_interval(spec, Confidence(1 - 1e-6))) + 4;
}

// A sensitivity of about the noise's own size, where the guarantee is neither vacuous nor perfect.
Sensitivity typical_sensitivity(const AnyMechanism& spec) {
  return Sensitivity(std::max(1ll, static_cast<long long>(error_interval(spec, Confidence(0.5)))));
}

double mass_within(const AnyMechanism& spec, long long width) {
  double mass = width >= 0 ? std::exp(log_pmf(spec, 0)) : 0;
  for (long long x = width; x > 0; --x) {
    mass += std::exp(log_pmf(spec, x)) + std::exp(log_pmf(spec, -x));
  }
  return mass;
}

// Renyi divergence of the worst pair, from the pmf.
double renyi_divergence(const AnyMechanism& spec, Sensitivity sensitivity, double order) {
  const auto shift = static_cast<long long>(audit_target(spec, sensitivity).shift);
  const long long radius = radius_of(spec) + static_cast<long long>(order + 1) * shift;
  double sum = 0;
  for (long long x = -radius; x <= radius; ++x) {
    sum += std::exp(order * log_pmf(spec, x) + (1 - order) * log_pmf(spec, x - shift));
  }
  return std::log(sum) / (order - 1);
}

class MechanismContract : public testing::TestWithParam<AnyMechanism> {};

TEST_P(MechanismContract, RoundTripsThroughJson) {
  const AnyMechanism& spec = GetParam();
  EXPECT_EQ(mechanism_from_json(to_json(spec)), spec);
  EXPECT_NE(to_json(spec).find(name(spec)), std::string::npos);
  EXPECT_FALSE(describe(spec).empty());
}

TEST_P(MechanismContract, IsValid) { EXPECT_NO_THROW(validate(GetParam())); }

TEST_P(MechanismContract, PmfSumsToOne) {
  EXPECT_NEAR(mass_within(GetParam(), radius_of(GetParam())), 1, 1e-11);
}

TEST_P(MechanismContract, SamplerFollowsThePmf) {
  // Seeded, so it either always passes or never; over seeds it would fail once in a million.
  const AnyMechanism& spec = GetParam();
  test::SeededSource bits(20);
  const double p = test::chi_square_p_value(
      [&](random::BitSource& source) { return sample(spec, source); },
      [&](Int128 x) { return log_pmf(spec, x); }, radius_of(spec), 200000, bits);
  EXPECT_GT(p, 1e-6);
}

TEST_P(MechanismContract, EventNamesTheMechanismsOwnParameters) {
  const AnyMechanism& spec = GetParam();
  const privacy::Event event = privacy_event(spec, Sensitivity(7));
  const std::string json = privacy::to_json(event);
  // Rounding is post-processing: the event of rounded noise is that of the ideal noise.
  std::string_view event_name = name(spec);
  if (event_name.starts_with("rounded_")) event_name.remove_prefix(8);
  EXPECT_EQ(json.find(event_name), 2u) << json;
  EXPECT_EQ(event, privacy_event(spec, Sensitivity(7)));
  EXPECT_FALSE(event == privacy_event(spec, Sensitivity(8)));
}

// The bound that an event states, held against what the pmf does.
struct StatedBound {
  const AnyMechanism& spec;
  Sensitivity sensitivity;

  void operator()(const privacy::event::DiscreteLaplace& event) const {
    pure(event.sensitivity / event.scale);
  }

  // Beyond its middle cell, rounded noise has the ideal noise's loss at every integer.
  void operator()(const privacy::event::Laplace& event) const {
    pure(event.sensitivity / event.scale);
  }

  void pure(double epsilon) const {
    EXPECT_LE(audit::hockey_stick(spec, sensitivity, epsilon).worst(), 1e-12);
    EXPECT_GT(audit::hockey_stick(spec, sensitivity, 0.99 * epsilon).worst(), 1e-6);
  }

  void operator()(const privacy::event::DiscreteGaussian& event) const {
    const double rho = event.sensitivity * event.sensitivity / (2 * event.sigma * event.sigma);
    for (const double order : {1.25, 2.0, 3.5, 8.0}) {
      const double divergence = renyi_divergence(spec, sensitivity, order);
      EXPECT_LE(divergence, rho * order * (1 + 1e-10)) << order;
      EXPECT_GE(divergence, 0.75 * rho * order) << order;
    }
    for (const double delta : {1e-2, 1e-6}) {
      const double epsilon = privacy::epsilon_of_rho_up(Rho(rho), Delta(delta));
      EXPECT_LE(audit::hockey_stick(spec, sensitivity, epsilon).worst(), delta) << delta;
      // Close below it, unless no event is that likely to tell the neighbours apart at all.
      if (audit::hockey_stick(spec, sensitivity, 0).worst() < 2 * delta) continue;
      EXPECT_GE(audit::hockey_stick(spec, sensitivity, epsilon / 2).worst(), delta) << delta;
    }
  }

  // The delta of the ideal noise, which rounding can only lower: by little, unless the cells are as
  // wide as the noise.
  void operator()(const privacy::event::Gaussian& event) const {
    for (const double epsilon : {0.0, 0.1, 0.5, 1.0, 3.0}) {
      const double stated = numeric::gaussian_delta_up(event.sigma, event.sensitivity, epsilon);
      const double actual = audit::hockey_stick(spec, sensitivity, epsilon).worst();
      EXPECT_LE(actual, stated * (1 + 1e-9) + 1e-15) << epsilon;
      const double cells = event.sigma * event.sigma / event.sensitivity;
      if (cells > 2 && stated > 1e-12) {
        EXPECT_GE(actual, 0.9 * stated) << epsilon;
      }
    }
  }

  template <class Other>
  void operator()(const Other&) const {
    ADD_FAILURE() << "state here what this event promises";
  }
};

TEST_P(MechanismContract, PmfKeepsTheStatedBoundAndComesCloseToIt) {
  const AnyMechanism& spec = GetParam();
  for (const Sensitivity sensitivity : {Sensitivity(1), typical_sensitivity(spec)}) {
    std::visit(StatedBound{spec, sensitivity}, privacy_event(spec, sensitivity).node());
  }
}

TEST_P(MechanismContract, AuditTargetIsTheWorstShift) {
  const AnyMechanism& spec = GetParam();
  const auto curve = [&spec](long long shift) {
    return audit::hockey_stick([&spec](Int128 x) { return log_pmf(spec, x); }, shift,
                               radius_of(spec), 0.1)
        .worst();
  };
  const auto target = static_cast<long long>(audit_target(spec, Sensitivity(5)).shift);
  for (long long shift = 1; shift <= 5; ++shift) EXPECT_LE(curve(shift), curve(target) + 1e-14);
}

TEST_P(MechanismContract, IntervalCoversAndIsTight) {
  const AnyMechanism& spec = GetParam();
  for (const double confidence : {1e-9, 0.1, 0.5, 0.9, 0.95, 0.99, 1 - 1e-6, 1 - 1e-9}) {
    const auto width = static_cast<long long>(error_interval(spec, Confidence(confidence)));
    EXPECT_GE(mass_within(spec, width), confidence - 1e-12) << confidence;
    // Large sigmas use the normal tail, which may be one step wide.
    const auto* gaussian = std::get_if<DiscreteGaussian>(&spec);
    const long long slack = gaussian != nullptr && gaussian->sigma > 64 ? 2 : 1;
    if (width >= slack) {
      EXPECT_LT(mass_within(spec, width - slack), confidence + 1e-12) << confidence;
    }
  }
}

TEST_P(MechanismContract, AuditPassesIt) {
  // At epsilon 1 the pmf's own delta is the tightest claim that holds. False alarm: once in a
  // million.
  const AnyMechanism& spec = GetParam();
  const Sensitivity sensitivity = typical_sensitivity(spec);
  const double delta = audit::hockey_stick(spec, sensitivity, 1).worst();
  test::SeededSource bits(21);
  const audit::EmpiricalBound bound = audit::audit_sampler(
      [&](random::BitSource& source) { return sample(spec, source); },
      audit_target(spec, sensitivity).shift, 50000, Delta(delta), Confidence(1 - 1e-6), bits);
  EXPECT_LE(bound.epsilon, 1) << audit::describe(bound);
}

INSTANTIATE_TEST_SUITE_P(Registry, MechanismContract, testing::ValuesIn(all_specs()),
                         [](const testing::TestParamInfo<AnyMechanism>& parameter) {
                           std::string text = describe(parameter.param);
                           for (char& c : text)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return text;
                         });

TEST(MechanismRegistry, EveryMemberIsUnderContract) {
  std::vector<bool> seen(std::variant_size_v<AnyMechanism>, false);
  for (const AnyMechanism& spec : all_specs()) seen[spec.index()] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

}  // namespace
}  // namespace shoal::mechanism
