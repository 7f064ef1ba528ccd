// Every mutant of the selections is caught: by chi-square against the probabilities always, by the
// audit of samples if it breaks the claim by much. So are wrong prices. The honest selection passes
// the same checks in selection_contract_test.cpp.
#include "mutants/selection_mutants.hpp"

#include "support/seeded_source.hpp"
#include "support/selection_checks.hpp"

#include <gtest/gtest.h>

namespace shoal::mechanism {
namespace {

constexpr double kFalseAlarm = 1e-6;
constexpr double kScale = 4;

std::vector<AnySelection> specs() {
  return {ExponentialMechanism{kScale}, PermuteAndFlip{kScale}, ReportNoisyMax{kScale},
          NoisyTopK{kScale, 2}};
}

double p_value(const mutants::Chooser& choose, const AnySelection& spec) {
  test::SeededSource bits(100);
  return test::choice_p_value(choose, spec, std::vector<Int128>{0, 5, 5, 3}, 50000, bits);
}

// Neighbours one scale apart, two-sided: epsilon is 2.
constexpr ScoreChange kChange = ScoreChange::two_sided;
constexpr int kSteps = 4;

double audited(const mutants::Chooser& choose, const AnySelection& spec) {
  test::SeededSource bits(101);
  return test::audited_epsilon(choose, audit_target(spec, {Sensitivity(kSteps), kChange}), 10000,
                               kFalseAlarm, bits);
}

TEST(SelectionMutants, ChiSquareCatchesEveryOne) {
  for (const AnySelection& spec : specs()) {
    const SelectionNoise noise = selection_noise(spec);
    EXPECT_GT(p_value(mutants::plain_selection(noise), spec), kFalseAlarm) << describe(spec);
    for (const mutants::SelectionMutant& mutant : mutants::selection_mutants()) {
      EXPECT_LT(p_value(mutant.make(noise), spec), kFalseAlarm)
          << mutant.name << " of " << describe(spec);
    }
  }
}

TEST(SelectionMutants, AuditCatchesThoseThatBreakTheClaim) {
  for (const AnySelection& spec : specs()) {
    const SelectionNoise noise = selection_noise(spec);
    if (noise.count > 1) continue;
    const double stated = selection_epsilon(noise.scale, {Sensitivity(kSteps), kChange});
    EXPECT_LE(audited(mutants::plain_selection(noise), spec), stated) << describe(spec);
    for (const mutants::SelectionMutant& mutant : mutants::selection_mutants()) {
      if (!mutant.breaks_privacy) continue;
      EXPECT_GT(audited(mutant.make(noise), spec), stated)
          << mutant.name << " of " << describe(spec);
    }
  }
}

// The price of one-sided scores does not do for two-sided ones: both the probabilities and the
// samples show it.
TEST(SelectionMutants, AForgottenFactorOfTwoIsCaught) {
  for (const AnySelection& spec : specs()) {
    const SelectionNoise noise = selection_noise(spec);
    const Sensitivity steps(kSteps);
    const privacy::Event wrong = privacy_event(spec, {steps, ScoreChange::one_sided});
    double worst = -1;
    const std::vector<Int128> scores = {0, 5, 5};
    for (const auto& other : test::neighbours(scores, steps, ScoreChange::two_sided)) {
      worst = std::max(
          worst, test::excess_over(wrong, test::loss_range(spec, scores, other, noise.count)));
    }
    EXPECT_GT(worst, 0.05) << describe(spec);
    if (noise.count > 1) continue;
    const auto choose = [&](std::span<const Int128> list, random::BitSource& source) {
      return select(spec, list, source);
    };
    EXPECT_GT(audited(choose, spec),
              selection_epsilon(noise.scale, {steps, ScoreChange::one_sided}))
        << describe(spec);
  }
}

}  // namespace
}  // namespace shoal::mechanism
