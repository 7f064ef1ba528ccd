// Calibration: independently computed values, closed forms where there are any, and what was
// promised of each result, asked of the accountant again.
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/privacy/calibration.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace shoal::privacy {
namespace {

Target target(double epsilon, double delta, Neighbors neighbors = Neighbors::add_remove) {
  return {Epsilon(epsilon), Delta(delta), neighbors};
}

NoiseUse noise(NoiseLaw law, double sensitivity, std::int64_t count, double rate = 1) {
  NoiseUse use;
  use.law = law;
  use.sensitivity = sensitivity;
  use.count = count;
  if (rate < 1) use.rate = rate;
  return use;
}

void expect_refused(const std::function<void()>& call, const std::string& fragment) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
  }
}

TEST(Calibration, GoldenSigmas) {
  for (const std::vector<std::string>& row : test::read_golden_text("calibration")) {
    const auto number = [&row](std::size_t i) { return std::stod(row.at(i)); };
    const Calibrated found = calibrate_noise(
        noise(NoiseLaw::gaussian, number(0), static_cast<std::int64_t>(number(1)), number(2)),
        target(number(3), number(4)));
    const double lower = number(6);
    const double upper = number(7);
    // The true value lies in both brackets, so neither may lie beside the other.
    EXPECT_GE(found.parameter, lower) << row.back();
    EXPECT_LE(found.insufficient, upper) << row.back();
    EXPECT_GT(found.insufficient, 0) << row.back();
    EXPECT_LT(found.insufficient, found.parameter) << row.back();
    // And the waste is small, except where the row or the accountant knows less.
    const bool few_steps = number(1) == 25;
    EXPECT_LE(found.parameter, upper * (1 + 1e-6)) << row.back();
    EXPECT_LE(found.parameter, found.insufficient * (1 + (few_steps ? 1e-3 : 1e-6))) << row.back();
    EXPECT_LE(found.epsilon.bounds.upper, number(3));
    EXPECT_GE(found.epsilon.bounds.lower, number(3) * (1 - (few_steps ? 1e-3 : 1e-5)));
  }
}

// What the header promises, asked of the accountant afresh: by epsilon, where the search asks for
// delta.
void expect_promise(const NoiseUse& use, const Target& asked, double gap = 1.01e-6) {
  const Calibrated found = calibrate_noise(use, asked);
  const std::string what = to_json(found.event);
  const double epsilon = asked.epsilon.value();
  EXPECT_EQ(found.event, event_of(use, found.parameter)) << what;
  const Bounds met = Profile(found.event, asked.neighbors).epsilon(asked.delta).bounds;
  EXPECT_LE(met.upper, epsilon * (1 + 1e-9)) << what;
  EXPECT_LE(found.epsilon.bounds.upper, epsilon) << what;
  EXPECT_GE(found.epsilon.bounds.upper, found.epsilon.bounds.lower) << what;
  EXPECT_GT(found.epsilon.bounds.lower, 0.999 * epsilon) << what;
  ASSERT_GT(found.insufficient, 0) << what;
  EXPECT_LT(found.insufficient, found.parameter) << what;
  EXPECT_LE(found.parameter, found.insufficient * (1 + gap)) << what;
  // Proven, not just not refuted: by the lower bound.
  const Profile less(event_of(use, found.insufficient), asked.neighbors);
  EXPECT_GT(less.log_delta(epsilon).bounds.lower, std::log(asked.delta.value())) << what;
  EXPECT_GT(less.epsilon(asked.delta).bounds.upper, epsilon) << what;
}

TEST(Calibration, ResultsKeepTheirPromise) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    expect_promise(noise(NoiseLaw::gaussian, 1, 1), target(1, 1e-6, neighbors));
    expect_promise(noise(NoiseLaw::gaussian, 3, 7), target(0.2, 1e-9, neighbors));
    expect_promise(noise(NoiseLaw::gaussian, 1, 10), target(1, 0.9, neighbors));
    expect_promise(noise(NoiseLaw::gaussian, 1, 2000, 0.04), target(8, 1e-5, neighbors));
    expect_promise(noise(NoiseLaw::gaussian, 1, 5000, 0.02), target(2, 1e-6, neighbors));
    expect_promise(noise(NoiseLaw::discrete_gaussian, 1, 1), target(1, 1e-6, neighbors));
    expect_promise(noise(NoiseLaw::discrete_laplace, 1, 100), target(1, 1e-6, neighbors));
    expect_promise(noise(NoiseLaw::laplace, 2, 1), target(0.5, 1e-3, neighbors));
    // Here the bounds of the accountant are wider.
    expect_promise(noise(NoiseLaw::laplace, 1, 100), target(1, 1e-6, neighbors), 1e-4);
    expect_promise(noise(NoiseLaw::discrete_gaussian, 5, 10), target(1, 1e-6, neighbors), 1e-5);
  }
  // Under replace_one nothing is known about it from below.
  expect_promise(noise(NoiseLaw::discrete_laplace, 1, 1000, 0.01), target(1, 1e-6));
}

TEST(Calibration, OneGaussianByItsFormula) {
  for (const double epsilon : {0.01, 0.5, 1.0, 8.0, 100.0}) {
    for (const double delta : {1e-10, 1e-5, 0.1}) {
      const double sigma =
          calibrate_noise(noise(NoiseLaw::gaussian, 2, 1), target(epsilon, delta)).parameter;
      EXPECT_LE(numeric::gaussian_delta_up(sigma, 2, epsilon), delta) << epsilon << ' ' << delta;
      EXPECT_GT(numeric::gaussian_delta_up(sigma * (1 - 1.1e-6), 2, epsilon), delta)
          << epsilon << ' ' << delta;
    }
  }
}

// Many Gaussian steps are one with less noise: nothing but the square root of the count may change.
TEST(Calibration, GaussianStepsGrowAsTheSquareRoot) {
  const double one = calibrate_noise(noise(NoiseLaw::gaussian, 1, 1), target(1, 1e-6)).parameter;
  for (const std::int64_t count : {4, 100, 1'000'000, 1'000'000'000}) {
    const double many =
        calibrate_noise(noise(NoiseLaw::gaussian, 1, count), target(1, 1e-6)).parameter;
    EXPECT_NEAR(many / (one * std::sqrt(static_cast<double>(count))), 1, 1e-6) << count;
  }
}

TEST(Calibration, PureLaplaceIsExact) {
  for (const NoiseLaw law : {NoiseLaw::laplace, NoiseLaw::discrete_laplace}) {
    EXPECT_EQ(calibrate_noise(noise(law, 1, 1), target(1, 0)).parameter, 1);
    EXPECT_EQ(calibrate_noise(noise(law, 3, 100), target(0.5, 0)).parameter, 600);
    EXPECT_EQ(calibrate_noise(noise(law, 3, 100), target(0.5, 0, Neighbors::replace_one)).parameter,
              1200);
    // 0.1 is a double above one tenth, and 1 / 3 a quotient that no double is.
    const Calibrated third = calibrate_noise(noise(law, 1, 1), target(3, 0));
    EXPECT_GE(std::fma(third.parameter, 3.0, -1.0), 0);
    EXPECT_LT(std::fma(third.insufficient, 3.0, -1.0), 0);
    EXPECT_LE(third.parameter - third.insufficient, 2 * 0x1p-54);
  }
  // A count of people moves by 1 when one is exchanged for another.
  NoiseUse counting = noise(NoiseLaw::laplace, 1, 1);
  counting.replace_sensitivity = 1;
  EXPECT_EQ(calibrate_noise(counting, target(1, 0, Neighbors::replace_one)).parameter, 1);
}

// A delta never costs noise, however coarse the search.
TEST(Calibration, NeverMoreThanWithoutDelta) {
  for (const std::int64_t count : {1, 2, 5}) {
    const NoiseUse use = noise(NoiseLaw::laplace, 1, count);
    const Calibrated found = calibrate_noise(use, target(1, 1e-7), 1e-2);
    EXPECT_LE(found.parameter, static_cast<double>(count));
    EXPECT_LT(found.insufficient, found.parameter);
    EXPECT_LE(found.epsilon.bounds.upper, 1);
  }
}

// Sampling turns e^e0 into 1 + q (e^e0 - 1), in the direction where the person is removed.
TEST(Calibration, PureSampledLaplace) {
  const Calibrated found = calibrate_noise(noise(NoiseLaw::laplace, 1, 10, 0.01), target(1, 0));
  const double scale = 1 / std::log1p(std::expm1(0.1) / 0.01);
  EXPECT_NEAR(found.parameter / scale, 1, 1e-6);
  EXPECT_GE(found.parameter, scale * (1 - 1e-12));
}

TEST(Calibration, ParametersAreShortDecimals) {
  const double sigma = calibrate_noise(noise(NoiseLaw::gaussian, 1, 3), target(1, 1e-6)).parameter;
  EXPECT_EQ(std::strtod(fmt::format("{:.9e}", sigma).c_str(), nullptr), sigma);
}

TEST(Calibration, AnyFamilyOfEvents) {
  // Randomized response with epsilon 1 / x: 20 of them at delta 0 need x = 20 / epsilon.
  const auto responses = [](double x) -> Event {
    return event::Repeat{20, event::RandomizedResponse{1 / x, 2}};
  };
  const Calibrated pure = calibrate(responses, target(2, 0));
  EXPECT_NEAR(pure.parameter, 10, 1e-5);
  const Calibrated approximate = calibrate(responses, target(2, 1e-3));
  EXPECT_LT(approximate.parameter, 8);
  EXPECT_LE(Profile(approximate.event, Neighbors::add_remove).epsilon(Delta(1e-3)).bounds.upper,
            2 * (1 + 1e-9));
  // Only bounded from above: a result, and nothing said about how good it is or a true statement.
  const auto concentrated = [](double x) -> Event { return event::Zcdp{1 / x}; };
  const Calibrated rho = calibrate(concentrated, target(1, 1e-6));
  EXPECT_LE(rho.epsilon.bounds.upper, 1);
  EXPECT_LT(rho.insufficient, rho.parameter);
}

TEST(Calibration, FromAnyStart) {
  const auto family = [](double sigma) -> Event { return event::Gaussian{sigma, 1}; };
  const double expected = calibrate(family, target(1, 1e-5)).parameter;
  for (const double start : {1e-6, 1e-2, 1.0, 50.0, 1000.0}) {
    CalibrationOptions options;
    options.start = start;
    EXPECT_NEAR(calibrate(family, target(1, 1e-5), options).parameter / expected, 1, 1e-6) << start;
  }
}

TEST(Calibration, AtTheEndsOfTheRange) {
  const auto family = [](double sigma) -> Event { return event::Gaussian{sigma, 1}; };
  CalibrationOptions options;
  options.start = options.least = 10;
  options.most = 20;
  const Calibrated least = calibrate(family, target(1, 1e-5), options);
  EXPECT_EQ(least.parameter, 10);
  EXPECT_EQ(least.insufficient, 0);
  options.start = options.least = 0.1;
  options.most = 3;
  expect_refused([&] { calibrate(family, target(1, 1e-5), options); }, "no parameter up to 3");
}

// A family that loses more the larger its parameter is: whatever comes back meets the target.
TEST(Calibration, AFamilyTheWrongWayRoundIsNotTrusted) {
  const auto wrong = [](double x) -> Event { return event::Gaussian{1 / x, 1}; };
  try {
    const Calibrated found = calibrate(wrong, target(1, 1e-5));
    EXPECT_LE(Profile(found.event, Neighbors::add_remove).epsilon(Delta(1e-5)).bounds.upper,
              1 + 1e-9);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

TEST(Calibration, LargestCounts) {
  const struct {
    NoiseUse use;
    double parameter;
    Target asked;
  } cases[] = {
      {noise(NoiseLaw::gaussian, 1, 1), 40, target(1, 1e-6)},
      {noise(NoiseLaw::gaussian, 1, 1), 4224.67942, target(1, 1e-6)},
      {noise(NoiseLaw::gaussian, 1, 1), 40, target(1, 1e-6, Neighbors::replace_one)},
      {noise(NoiseLaw::gaussian, 1, 1, 0.04), 1.29, target(8, 1e-5)},
      {noise(NoiseLaw::discrete_laplace, 1, 1), 30, target(1, 1e-6)},
      {noise(NoiseLaw::discrete_gaussian, 1, 1), 30, target(1, 1e-6)},
      {noise(NoiseLaw::laplace, 1, 1), 10, target(1, 0)},
      {noise(NoiseLaw::laplace, 1, 1), 30, target(1, 1e-6)},
  };
  for (const auto& one : cases) {
    const LargestCount found = largest_count(one.use, one.parameter, one.asked);
    const auto epsilon = [&](std::int64_t count) {
      NoiseUse several = one.use;
      several.count = count;
      return Profile(event_of(several, one.parameter), one.asked.neighbors)
          .epsilon(one.asked.delta)
          .bounds;
    };
    const double asked = one.asked.epsilon.value();
    ASSERT_GT(found.count, 0);
    EXPECT_LE(epsilon(found.count).upper, asked * (1 + 1e-9));
    EXPECT_LE(found.epsilon.bounds.upper, asked);
    ASSERT_TRUE(found.too_many);
    EXPECT_EQ(*found.too_many, found.count + 1);
    EXPECT_GT(epsilon(*found.too_many).lower, asked * (1 - 1e-9));
  }
  EXPECT_EQ(largest_count(cases[1].use, 4224.67942, cases[1].asked).count, 1'000'000);
  EXPECT_EQ(largest_count(cases[6].use, 10, cases[6].asked).count, 10);
}

TEST(Calibration, NoneAndAll) {
  const LargestCount none = largest_count(noise(NoiseLaw::gaussian, 1, 1), 1, target(1, 1e-6));
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.too_many, 1);
  const LargestCount no_laplace = largest_count(noise(NoiseLaw::laplace, 1, 1), 0.5, target(1, 0));
  EXPECT_EQ(no_laplace.count, 0);
  EXPECT_EQ(no_laplace.too_many, 1);
  for (const NoiseLaw law : {NoiseLaw::gaussian, NoiseLaw::laplace}) {
    const LargestCount all =
        largest_count(noise(law, 1, 1), 1e12, target(1, law == NoiseLaw::laplace ? 0 : 1e-6));
    EXPECT_EQ(all.count, kMaxCalibratedCount);
    EXPECT_FALSE(all.too_many);
  }
}

TEST(Calibration, RefusesBadInput) {
  const Target good = target(1, 1e-6);
  const auto with = [](auto change) {
    NoiseUse use;
    change(use);
    return use;
  };
  const struct {
    NoiseUse use;
    Target asked;
    std::string fragment;
  } cases[] = {
      {NoiseUse{}, target(0, 1e-6), "epsilon is 0; it must be above 0"},
      {NoiseUse{}, target(1, 0), "delta is 0; Gaussian noise needs a delta above 0"},
      {with([](NoiseUse& use) { use.law = NoiseLaw::laplace; }), target(0, 0), "epsilon is 0"},
      {with([](NoiseUse& use) { use.sensitivity = 0; }), good, "the sensitivity is 0"},
      {with([](NoiseUse& use) { use.sensitivity = -1; }), good, "the sensitivity is -1"},
      {with([](NoiseUse& use) { use.sensitivity = std::nan(""); }), good, "the sensitivity is nan"},
      {with([](NoiseUse& use) { use.count = 0; }), good, "the count is 0"},
      {with([](NoiseUse& use) { use.count = kMaxCalibratedCount + 1; }), good, "from 1 to"},
      {with([](NoiseUse& use) { use.rate = 0; }), good, "the rate is 0"},
      {with([](NoiseUse& use) { use.rate = 1.5; }), good, "the rate is 1.5"},
      {with([](NoiseUse& use) { use.rate = std::nan(""); }), good, "the rate is nan"},
      {with([](NoiseUse& use) {
         use.law = NoiseLaw::discrete_gaussian;
         use.sensitivity = 1.5;
       }),
       good, "whole steps"},
      {with([](NoiseUse& use) { use.replace_sensitivity = 3; }), good, "cannot exceed twice"},
      {with([](NoiseUse& use) {
         use.law = NoiseLaw::discrete_laplace;
         use.count = kMaxCalibratedCount;
       }),
       target(1e-9, 0), "no parameter up to 1125899906842624"},
  };
  for (const auto& bad : cases) {
    expect_refused([&] { calibrate_noise(bad.use, bad.asked); }, bad.fragment);
  }
  for (const double parameter : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    expect_refused([&] { largest_count(NoiseUse{}, parameter, good); }, "sigma is");
  }
  const auto family = [](double sigma) -> Event { return event::Gaussian{sigma, 1}; };
  const auto refuses = [&](auto change, const std::string& fragment) {
    CalibrationOptions options;
    change(options);
    expect_refused([&] { calibrate(family, good, options); }, fragment);
  };
  refuses([](CalibrationOptions& options) { options.tolerance = 0; }, "the tolerance is 0");
  refuses([](CalibrationOptions& options) { options.start = -1; }, "the start is -1");
  refuses([](CalibrationOptions& options) { options.least = 0; }, "range is 0");
  refuses([](CalibrationOptions& options) { options.most = 0x1p-600; }, "not empty");
}

}  // namespace
}  // namespace shoal::privacy
