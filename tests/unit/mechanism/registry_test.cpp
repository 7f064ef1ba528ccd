// What the registry refuses: malformed JSON, unknown mechanisms, parameters out of range; and that
// the concept refuses a mechanism that lacks a function.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/registry.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace shoal::mechanism {

// As DiscreteLaplace, but it says nothing about its accuracy and its audit.
struct Incomplete {
  double scale = 0;
  bool operator==(const Incomplete&) const = default;
};
void validate(const Incomplete&);
Int128 sample(const Incomplete&, random::BitSource&);
double log_pmf(const Incomplete&, Int128);
privacy::Event privacy_event(const Incomplete&, Sensitivity);

static_assert(!Mechanism<Incomplete>);
static_assert(!Mechanism<double>);

namespace {

ErrorCode code_of_reading(const std::string& text) {
  try {
    mechanism_from_json(text);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "was read: " << text;
  return ErrorCode::internal;
}

TEST(MechanismJson, HasOneFixedForm) {
  EXPECT_EQ(to_json(AnyMechanism(DiscreteLaplace{20})), R"({"discrete_laplace": {"scale": 20}})");
  EXPECT_EQ(to_json(AnyMechanism(DiscreteGaussian{0.1})),
            R"({"discrete_gaussian": {"sigma": 0.1}})");
  EXPECT_EQ(to_json(AnyMechanism(RoundedLaplace{20})), R"({"rounded_laplace": {"scale": 20}})");
  EXPECT_EQ(to_json(AnyMechanism(RoundedGaussian{0.1})), R"({"rounded_gaussian": {"sigma": 0.1}})");
  EXPECT_EQ(mechanism_from_json(R"( {"discrete_laplace":{"scale":2e1}} )"),
            AnyMechanism(DiscreteLaplace{20}));
}

TEST(MechanismJson, KeepsEveryBitOfAScale) {
  test::SeededSource bits(40);
  for (int i = 0; i < 1000; ++i) {
    const double fraction = 1 + static_cast<double>(bits.next_bits(52)) * 0x1p-52;
    const DiscreteGaussian spec{
        std::ldexp(fraction, static_cast<int>(bits.next_bits(6)) % 60 - 10)};
    ASSERT_EQ(mechanism_from_json(to_json(spec)), AnyMechanism(spec));
  }
}

TEST(MechanismJson, RefusesWhatIsNoMechanism) {
  for (const char* text :
       {"",
        "{",
        "[]",
        "1",
        "null",
        "{}",
        R"({"laplace": {"scale": 1}})",
        R"({"discrete_laplace": 1})",
        R"({"discrete_laplace": {}})",
        R"({"discrete_laplace": {"sigma": 1}})",
        R"({"discrete_laplace": {"scale": "1"}})",
        R"({"discrete_laplace": {"scale": 1, "epsilon": 1}})",
        R"({"discrete_laplace": {"scale": 1}, "discrete_gaussian": {"sigma": 1}})",
        R"({"discrete_laplace": {"scale": 1, "scale": 2}})",
        R"({"discrete_laplace": {"scale": 0}})",
        R"({"discrete_laplace": {"scale": -1}})",
        R"({"discrete_laplace": {"scale": 1e300}})",
        R"({"discrete_laplace": {"scale": 1e999}})",
        R"({"discrete_gaussian": {"sigma": 0.0009}})",
        R"({"discrete_gaussian": {"sigma": 1}} x)"}) {
    EXPECT_EQ(code_of_reading(text), ErrorCode::parse_error) << text;
  }
  EXPECT_EQ(code_of_reading(std::string(100000, '[')), ErrorCode::parse_error);
}

TEST(Mechanisms, RefuseParametersOutOfRange) {
  test::SeededSource bits(41);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double scale :
       {0.0, -1.0, 0x1p-11, 0x1p51, nan, std::numeric_limits<double>::infinity()}) {
    for (const AnyMechanism& spec :
         {AnyMechanism(DiscreteLaplace{scale}), AnyMechanism(DiscreteGaussian{scale}),
          AnyMechanism(RoundedLaplace{scale}), AnyMechanism(RoundedGaussian{scale})}) {
      EXPECT_THROW(validate(spec), Error);
      EXPECT_THROW(sample(spec, bits), Error);
      EXPECT_THROW(log_pmf(spec, 0), Error);
      EXPECT_THROW(privacy_event(spec, Sensitivity(1)), Error);
      EXPECT_THROW(error_interval(spec, Confidence(0.95)), Error);
      EXPECT_THROW(audit_target(spec, Sensitivity(1)), Error);
      EXPECT_THROW(to_json(spec), Error);
    }
  }
}

TEST(Mechanisms, RoundTheSensitivityOfTheirEventUp) {
  // 2^53 + 1 lies between two doubles.
  const Sensitivity odd((1ll << 53) + 1);
  EXPECT_EQ(privacy_event(DiscreteLaplace{1}, odd),
            privacy::Event(privacy::event::DiscreteLaplace{1, 0x1p53 + 2}));
  EXPECT_EQ(privacy_event(DiscreteGaussian{1}, Sensitivity(std::numeric_limits<long long>::max())),
            privacy::Event(privacy::event::DiscreteGaussian{1, 0x1p63}));
  EXPECT_EQ(privacy_event(DiscreteLaplace{20}, Sensitivity(10)),
            privacy::Event(privacy::event::DiscreteLaplace{20, 10}));
}

TEST(Mechanisms, IntervalsOfTheLargestScalesAreInProportion) {
  const double expected = 0x1p50 * std::log(20.0);
  EXPECT_NEAR(
      static_cast<double>(error_interval(DiscreteLaplace{0x1p50}, Confidence(0.95))) / expected, 1,
      1e-12);
  const double normal = 0x1p50 * 1.959963984540054;
  EXPECT_NEAR(
      static_cast<double>(error_interval(DiscreteGaussian{0x1p50}, Confidence(0.95))) / normal, 1,
      1e-12);
  EXPECT_EQ(error_interval(DiscreteLaplace{0x1p-10}, Confidence(0.999)), 0);
  EXPECT_EQ(error_interval(DiscreteGaussian{0x1p-10}, Confidence(0.999)), 0);
}

TEST(Mechanisms, RoundedLogPmfKeepsItsDigitsInTheFarTails) {
  // Beyond zero, rounded Laplace falls by e^(-1 / scale) a step, however far out.
  const RoundedLaplace laplace{0.25};
  EXPECT_NEAR(log_pmf(laplace, 100000) - log_pmf(laplace, 100001), 4, 1e-9);
  // A fine grid: the density times one step. A coarse one: the tail from 99.5 on.
  EXPECT_NEAR(log_pmf(RoundedGaussian{0x1p40}, Int128{1} << 45),
              -512 - std::log(0x1p40 * std::sqrt(2 * std::numbers::pi)), 1e-10);
  const double near = 99.5;
  EXPECT_NEAR(log_pmf(RoundedGaussian{1}, 100),
              -near * near / 2 - 0.5 * std::log(2 * std::numbers::pi) -
                  std::log(near + 1 / (near + 2 / near)),
              1e-9);
  EXPECT_EQ(noise_scale(RoundedLaplace{3}), 3);
  EXPECT_EQ(noise_scale(RoundedGaussian{4}), 4);
  EXPECT_EQ(noise_scale(DiscreteGaussian{5}), 5);
}

TEST(Mechanisms, LaplaceLogPmfKeepsItsDigitsAtBothEnds) {
  // log tanh(h) is log(h) for small h and -2 e^-2h for large.
  EXPECT_NEAR(log_pmf(DiscreteLaplace{0x1p40}, 0), std::log(0x1p-41), 1e-12);
  EXPECT_NEAR(log_pmf(DiscreteLaplace{0x1p-5}, 0) / (-2 * std::exp(-32.0)), 1, 1e-12);
}

}  // namespace
}  // namespace shoal::mechanism
