// Two ways to the same number: the analytic calibration of one Gaussian release, and the general
// one by the accountant. They share the exact delta of Gaussian noise at most, not the search, and
// for discrete noise not even that.
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/privacy/calibration.hpp>

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(CalibrationAgreement, OneGaussian) {
  for (const double epsilon : {0.05, 0.5, 1.0, 4.0, 20.0}) {
    for (const double delta : {1e-12, 1e-6, 1e-2}) {
      const double analytic = mechanism::analytic_gaussian_sigma(3, Epsilon(epsilon), Delta(delta));
      privacy::NoiseUse use;
      use.sensitivity = 3;
      const privacy::Calibrated found =
          privacy::calibrate_noise(use, {Epsilon(epsilon), Delta(delta)});
      // The analytic one is the smallest double there is; both claims must hold around it.
      EXPECT_GE(found.parameter, analytic * (1 - 1e-12)) << epsilon << ' ' << delta;
      EXPECT_LE(found.parameter, analytic * (1 + 1e-6)) << epsilon << ' ' << delta;
      EXPECT_LE(found.insufficient, analytic) << epsilon << ' ' << delta;
    }
  }
}

TEST(CalibrationAgreement, OneDiscreteGaussian) {
  for (const double epsilon : {0.5, 1.0, 4.0}) {
    for (const double delta : {1e-9, 1e-5}) {
      const double analytic =
          mechanism::discrete_gaussian_sigma(Sensitivity(2), Epsilon(epsilon), Delta(delta));
      privacy::NoiseUse use;
      use.law = privacy::NoiseLaw::discrete_gaussian;
      use.sensitivity = 2;
      const privacy::Calibrated found =
          privacy::calibrate_noise(use, {Epsilon(epsilon), Delta(delta)});
      EXPECT_NEAR(found.parameter / analytic, 1, 1e-5) << epsilon << ' ' << delta;
      EXPECT_LE(found.insufficient, analytic * (1 + 1e-9)) << epsilon << ' ' << delta;
    }
  }
}

}  // namespace
}  // namespace shoal
