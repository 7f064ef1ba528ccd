// Charges of what is stated by a guarantee (`pure`, `zcdp`) against the exact quotient of
// sensitivity and noise: a charge reads the guarantee as a decimal, which may lie under the double
// that was rounded up.
#include <shoal/mechanism/grouped_noise.hpp>
#include <shoal/mechanism/norm_noise.hpp>
#include <shoal/mechanism/permute_and_flip.hpp>
#include <shoal/mechanism/report_noisy_max.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/mechanism/vector_noise.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace shoal::mechanism {
namespace {

using Rational = boost::multiprecision::cpp_rational;

// Scales whose quotients round in every way, among them those of the decimals that people type.
std::vector<double> scales() {
  std::vector<double> all;
  for (int i = 1; i <= 400; ++i) {
    all.push_back(10.0 / i);
    all.push_back(1 / (0.01 * i));
    all.push_back(std::sqrt(static_cast<double>(i)));
  }
  return all;
}

Rational units(std::int64_t amount, int decimals) {
  return Rational(amount) / boost::multiprecision::pow(boost::multiprecision::cpp_int(10),
                                                       static_cast<unsigned>(decimals));
}

void expect_pure_covers(const privacy::Event& event, const Rational& epsilon, double scale) {
  const auto charge = privacy::price(event, Neighbors::replace_one);
  ASSERT_TRUE(charge.epsilon_units);
  EXPECT_GE(units(*charge.epsilon_units, privacy::kEpsilonDecimals), epsilon) << scale;
  // And no more than a rounding above.
  EXPECT_LE(units(*charge.epsilon_units - 2, privacy::kEpsilonDecimals), epsilon) << scale;
}

TEST(ExactCharge, PureIsNeverBelowTheQuotient) {
  const ScoreSensitivity score{Sensitivity(1), ScoreChange::one_sided};
  for (const double scale : scales()) {
    const Rational one = 1 / Rational(scale);
    expect_pure_covers(
        vector_event(DiscreteLaplace{scale}, VectorSensitivity::from_l1(Sensitivity(3), 7)),
        3 * one, scale);
    expect_pure_covers(privacy_event(NormNoise{scale, 3}, 1.5), one * 3 / 2, scale);
    expect_pure_covers(privacy_event(PermuteAndFlip{scale}, score), one, scale);
    expect_pure_covers(privacy_event(ReportNoisyMax{scale}, score), one, scale);
  }
}

TEST(ExactCharge, MovesThatMeetAreNeverUndercharged) {
  for (const double scale : scales()) {
    GroupedNoise noise;
    noise.max_groups = 3;
    noise.statistics = {{DiscreteLaplace{scale}, -2, 5}};
    const std::vector<GroupedNoise> noises = {noise};
    expect_pure_covers(grouped_event(noises, Neighbors::replace_one), 30 / Rational(scale), scale);
    if (scale < 0.5) continue;  // more than can be counted
    noise.statistics = {{DiscreteGaussian{scale}, -2, 5}};
    const std::vector<GroupedNoise> gaussian = {noise};
    const auto charge =
        privacy::price(grouped_event(gaussian, Neighbors::replace_one), Neighbors::replace_one);
    EXPECT_GE(units(charge.rho_units, privacy::kRhoDecimals),
              Rational(3 * 50) / (2 * Rational(scale) * Rational(scale)))
        << scale;
  }
}

// What is calibrated to a decimal is charged no more than it, though never less than it is.
TEST(ExactCharge, CalibrationStaysWithinTheDecimal) {
  for (int i = 1; i <= 2000; ++i) {
    const double epsilon = i / 1000.0;
    const auto asked = numeric::decimal_units_up(epsilon, privacy::kEpsilonDecimals);
    const auto vector = VectorSensitivity::from_l1(Sensitivity(3), 7);
    const auto laplace = calibrate_laplace(vector, Epsilon(epsilon));
    const auto norm = calibrate_norm_noise(1.5, 3, Epsilon(epsilon));
    const SparseGoal goal{.epsilon = Epsilon(epsilon),
                          .hits = 3,
                          .sensitivity = {Sensitivity(2), ScoreChange::two_sided}};
    const SparseVector sparse = calibrate_sparse(goal);
    for (const privacy::Event& event : {vector_event(laplace, vector), privacy_event(norm, 1.5),
                                        privacy_event(sparse, goal.sensitivity)}) {
      EXPECT_LE(*privacy::price(event, Neighbors::replace_one).epsilon_units, asked) << epsilon;
    }
    EXPECT_GE(units(asked, privacy::kEpsilonDecimals), 3 / Rational(laplace.scale)) << epsilon;
  }
}

}  // namespace
}  // namespace shoal::mechanism
