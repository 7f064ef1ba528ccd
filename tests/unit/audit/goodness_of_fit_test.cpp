// Right samplers pass; wrong ones fail, each kind where it was meant to be seen; the numbers of the
// law are those of closed forms.
#include "support/seeded_source.hpp"

#include <shoal/audit/goodness_of_fit.hpp>
#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace shoal::audit {
namespace {

using mechanism::AnyMechanism;
using mechanism::DiscreteGaussian;
using mechanism::DiscreteLaplace;
using mechanism::RoundedGaussian;
using mechanism::RoundedLaplace;

using Change = std::function<std::int64_t(std::int64_t, random::BitSource&)>;

constexpr int kDraws = 200'000;

// Tests `claimed` with values of `drawn`, each changed.
GoodnessOfFit fit(const AnyMechanism& claimed, const AnyMechanism& drawn, std::uint64_t seed,
                  const Change& change = {}, int draws = kDraws) {
  test::SeededSource bits(seed);
  GoodnessTest test(claimed, draws);
  std::vector<std::int64_t> block;
  for (int i = 0; i < draws; ++i) {
    auto value = static_cast<std::int64_t>(sample(drawn, bits));
    block.push_back(change ? change(value, bits) : value);
    if (block.size() == 1000) {
      test.add(block);
      block.clear();
    }
  }
  test.add(block);
  return test.result();
}

// Seeded, so they pass or fail for good. For a fresh seed the false-alarm rate is 10^-4 for each of
// the 22 specs.
TEST(GoodnessOfFit, RightSamplersPassAtEveryScale) {
  std::uint64_t seed = 1;
  for (const double scale : {0x1p-10, 0.2, 1.0, 7.5, 300.0, 4097.0, 12345.5, 1e8, 0x1p50}) {
    for (const AnyMechanism& spec :
         {AnyMechanism(DiscreteLaplace{scale}), AnyMechanism(DiscreteGaussian{scale})}) {
      const GoodnessOfFit result = fit(spec, spec, seed++, {}, 20'000);
      EXPECT_GT(result.p_value, 1e-4) << describe(spec);
      EXPECT_EQ(result.outside, 0) << describe(spec);
    }
  }
  for (const AnyMechanism& spec :
       {AnyMechanism(RoundedLaplace{3}), AnyMechanism(RoundedLaplace{1e7}),
        AnyMechanism(RoundedGaussian{3}), AnyMechanism(RoundedGaussian{1e7})}) {
    EXPECT_GT(fit(spec, spec, seed++, {}, 20'000).p_value, 1e-4) << describe(spec);
  }
}

TEST(GoodnessOfFit, WrongSamplersFail) {
  const AnyMechanism laplace = DiscreteLaplace{10};
  const AnyMechanism gaussian = DiscreteGaussian{10};
  const auto off_by_one = [](std::int64_t x, random::BitSource&) { return x + 1; };
  const auto lost_bit = [](std::int64_t x, random::BitSource&) { return x & ~std::int64_t{1}; };
  const auto biased_sign = [](std::int64_t x, random::BitSource& bits) {
    return bits.next_bits(4) == 0 ? std::abs(x) : x;
  };
  const auto no_zero = [](std::int64_t x, random::BitSource&) { return x == 0 ? 1 : x; };
  for (const Change& change :
       {Change(off_by_one), Change(lost_bit), Change(biased_sign), Change(no_zero)}) {
    EXPECT_LT(fit(laplace, laplace, 1, change).p_value, kLeastPValue);
    EXPECT_LT(fit(gaussian, gaussian, 1, change).p_value, kLeastPValue);
  }
  EXPECT_LT(fit(DiscreteLaplace{10.3}, laplace, 1).p_value, kLeastPValue);
  EXPECT_LT(fit(DiscreteGaussian{10.3}, gaussian, 1).p_value, kLeastPValue);
  EXPECT_LT(fit(laplace, gaussian, 1).p_value, kLeastPValue);
  // Half a step of rounding instead of the discrete law: only narrow noise tells them apart.
  EXPECT_LT(fit(DiscreteLaplace{1}, RoundedLaplace{1}, 1).p_value, kLeastPValue);
}

// Cells of noise this wide hold 2^28 values each: they cannot see the lowest bit.
TEST(GoodnessOfFit, ResiduesSeeALostBitThatCellsDoNot) {
  const AnyMechanism wide = DiscreteGaussian{0x1p36};
  const auto lost_bit = [](std::int64_t x, random::BitSource&) { return x & ~std::int64_t{1}; };
  const GoodnessOfFit result = fit(wide, wide, 2, lost_bit);
  EXPECT_GT(result.cells.p_value, 1e-4);
  EXPECT_LT(result.residues.p_value, 1e-100);
  EXPECT_LT(result.p_value, kLeastPValue);
}

// One value in 200,000 that ought never to come moves no chi-square.
TEST(GoodnessOfFit, OneImpossibleValueFails) {
  for (const AnyMechanism& spec :
       {AnyMechanism(DiscreteLaplace{10}), AnyMechanism(DiscreteGaussian{10})}) {
    bool first = true;
    const auto one_far = [&first](std::int64_t x, random::BitSource&) {
      return std::exchange(first, false) ? std::int64_t{1000} : x;
    };
    const GoodnessOfFit result = fit(spec, spec, 3, one_far);
    EXPECT_EQ(result.outside, 1);
    EXPECT_GT(result.cells.p_value, 1e-4);
    EXPECT_LE(result.p_value, 1e-9);
  }
  bool first = true;
  const auto one = [&first](std::int64_t x, random::BitSource&) {
    return std::exchange(first, false) ? std::int64_t{-1} : x;
  };
  const AnyMechanism none = DiscreteLaplace{0x1p-10};  // all but always 0
  EXPECT_LE(fit(none, none, 3, one).p_value, 1e-9);
}

// The first value that is too far out is the same on both sides, and follows a whole block: for
// this scale a block has three values, the first of which is 1.
TEST(GoodnessOfFit, BothSidesEndAtTheSameBlock) {
  const GoodnessTest fresh(DiscreteLaplace{12345.5}, 1000);
  const auto is_outside = [&fresh](std::int64_t value) {
    GoodnessTest test = fresh;
    std::vector<std::int64_t> values(1000, 0);
    values[0] = value;
    test.add(values);
    return test.result().outside == 1;
  };
  std::int64_t inside = 0;
  std::int64_t outside = 10'000'000;
  while (outside - inside > 1) {
    const std::int64_t middle = (inside + outside) / 2;
    (is_outside(middle) ? outside : inside) = middle;
  }
  // 1000 q^x = 10^-9 is at 12 ln 10 = 27.6 scales.
  EXPECT_NEAR(static_cast<double>(outside) / 12345.5, 27.63, 0.01);
  EXPECT_EQ(inside % 3, 0);
  EXPECT_FALSE(is_outside(-inside));
  EXPECT_TRUE(is_outside(-outside));
}

TEST(GoodnessOfFit, StandardDeviationsAreThoseOfClosedForms) {
  // 2 q / (1 - q)^2 with q = e^(-1 / scale).
  for (const double scale : {0.2, 1.0, 10.0, 4096.0, 8192.0, 1e6, 0x1p50}) {
    const double q = std::exp(-1 / scale);
    const double exact = std::sqrt(2 * q) / -std::expm1(-1 / scale);
    const GoodnessOfFit result = fit(DiscreteLaplace{scale}, DiscreteLaplace{scale}, 4, {}, 1000);
    EXPECT_NEAR(result.exact_standard_deviation / exact, 1, 1e-8) << scale;
  }
  // A discrete Gaussian from sigma 3 on has sigma but for 10^-35, a rounded one sigma^2 + 1/12.
  for (const double sigma : {3.0, 4096.0, 8192.0, 1e6, 0x1p50}) {
    EXPECT_NEAR(
        fit(DiscreteGaussian{sigma}, DiscreteGaussian{sigma}, 4, {}, 1000).exact_standard_deviation,
        sigma, sigma * 1e-8);
    const double rounded = std::sqrt(sigma * sigma + 1.0 / 12);
    EXPECT_NEAR(
        fit(RoundedGaussian{sigma}, RoundedGaussian{sigma}, 4, {}, 1000).exact_standard_deviation,
        rounded, rounded * 1e-8);
  }
}

TEST(GoodnessOfFit, MomentsAreThoseOfTheValues) {
  GoodnessTest test(DiscreteLaplace{10}, 1000);
  std::vector<std::int64_t> values;
  for (int i = 0; i < 250; ++i) values.insert(values.end(), {-3, 1, 1, 5});
  test.add(values);
  const GoodnessOfFit result = test.result();
  EXPECT_EQ(result.count, 1000);
  EXPECT_DOUBLE_EQ(result.mean, 1);
  EXPECT_DOUBLE_EQ(result.standard_deviation, std::sqrt(8));
  EXPECT_EQ(result.exact_mean, 0);
}

TEST(GoodnessOfFit, RefusesWhatItCannotTest) {
  EXPECT_THROW(GoodnessTest(DiscreteLaplace{10}, 999), Error);
  EXPECT_THROW(GoodnessTest(DiscreteLaplace{10}, GoodnessTest::kMostCount + 1), Error);
  EXPECT_THROW(GoodnessTest(DiscreteLaplace{0}, 1000), Error);
  GoodnessTest test(DiscreteLaplace{10}, 1000);
  test.add(std::vector<std::int64_t>(999, 0));
  EXPECT_THROW(test.result(), Error);
  test.add(std::vector<std::int64_t>(2, 0));
  EXPECT_THROW(test.result(), Error);
}

}  // namespace
}  // namespace shoal::audit
