// Every mutant of the noise is caught: by chi-square against the pmf always, by the empirical audit
// if it breaks the claim. The honest sampler passes the same checks in mechanism_contract_test.cpp.
#include "mutants/noise_mutants.hpp"

#include "support/chi_square.hpp"
#include "support/seeded_source.hpp"

#include <shoal/audit/empirical.hpp>
#include <shoal/audit/hockey_stick.hpp>

#include <gtest/gtest.h>

namespace shoal::mechanism {
namespace {

constexpr int kDraws = 200000;
constexpr double kFalseAlarm = 1e-6;

std::vector<AnyMechanism> specs() {
  return {DiscreteLaplace{2}, DiscreteGaussian{2}, RoundedLaplace{2}, RoundedGaussian{2}};
}

double p_value(const mutants::Sampler& sampler, const AnyMechanism& spec) {
  test::SeededSource bits(31);
  return test::chi_square_p_value(
      sampler, [&](Int128 x) { return log_pmf(spec, x); }, 100, kDraws, bits);
}

// Whether samples show an epsilon above the one that the honest noise has at its own delta.
bool audit_refutes(const mutants::Sampler& sampler, const AnyMechanism& spec, double epsilon) {
  const Sensitivity sensitivity(1);
  const double delta = audit::hockey_stick(spec, sensitivity, epsilon).worst();
  test::SeededSource bits(32);
  const audit::EmpiricalBound bound =
      audit::audit_sampler(sampler, audit_target(spec, sensitivity).shift, kDraws, Delta(delta),
                           Confidence(1 - kFalseAlarm), bits);
  return bound.epsilon > epsilon;
}

TEST(NoiseMutants, ChiSquareCatchesEveryOne) {
  for (const AnyMechanism& spec : specs()) {
    for (const mutants::NoiseMutant& mutant : mutants::noise_mutants()) {
      EXPECT_LT(p_value(mutant.make(spec), spec), kFalseAlarm)
          << mutant.name << " of " << describe(spec);
    }
  }
}

TEST(NoiseMutants, AuditCatchesThoseThatBreakTheClaim) {
  for (const AnyMechanism& spec : specs()) {
    for (const mutants::NoiseMutant& mutant : mutants::noise_mutants()) {
      const bool refuted = audit_refutes(mutant.make(spec), spec, 0.5);
      EXPECT_EQ(refuted, mutant.breaks_privacy) << mutant.name << " of " << describe(spec);
    }
  }
}

TEST(NoiseMutants, WrongDivisionIsCaught) {
  // At scale 3 it draws noise of epsilon 0.504 a step, while 0.333 is claimed.
  const DiscreteLaplace spec{3};
  const auto wrong = [](random::BitSource& bits) {
    return mutants::sample_with_wrong_division(3, bits);
  };
  EXPECT_LT(p_value(wrong, spec), kFalseAlarm);
  EXPECT_TRUE(audit_refutes(wrong, spec, 1.0 / 3));
}

}  // namespace
}  // namespace shoal::mechanism
