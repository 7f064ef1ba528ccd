// Published attacks on noise and sums in floating point. Each has to succeed against code as it is
// often written (tests/mutants/naive_samplers.hpp) and to fail against Shoal's: an attack that
// fails against both would show nothing.
//
// Failing means what the guarantee says. Who must tell two neighbours apart from releases of
// epsilon in all, each neighbour as likely, is right with probability at most e^epsilon / (1 +
// e^epsilon). Seeds are fixed; for each comparison the false-alarm rate over all seeds is below
// 3.4e-6 (one-sided 4.5 standard deviations), and about 260 are made.
#include "mutants/naive_samplers.hpp"
#include "support/seeded_source.hpp"

#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/numeric/grid_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace shoal {
namespace {

using mechanism::DiscreteLaplace;
using mutants::naive_clamped_sum;
using numeric::GridBounds;
using random::BitSource;

constexpr double kDeviations = 4.5;

// Releases of one of two neighbours: 0 or 1.
using Release = std::function<std::vector<double>(int neighbour, BitSource&)>;
// What the attacker says which of them it was.
using Guess = std::function<int(const std::vector<double>& outputs, BitSource&)>;

double accuracy(const Release& release, const Guess& guess, int trials, BitSource& bits) {
  int right = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const int neighbour = bits.next_bit() ? 1 : 0;
    right += guess(release(neighbour, bits), bits) == neighbour ? 1 : 0;
  }
  return static_cast<double>(right) / trials;
}

double highest_accuracy(double epsilon, int trials) {
  const double allowed = 1 / (1 + std::exp(-epsilon));
  return allowed + kDeviations * std::sqrt(allowed * (1 - allowed) / trials);
}

// Noise of Shoal on whole steps of 2^exponent, then, as any release may be, read as a double.
double on_grid(Int128 steps, int exponent, double scale_in_steps, BitSource& bits) {
  const Int128 noisy = steps + sample(DiscreteLaplace{scale_in_steps}, bits);
  return std::ldexp(static_cast<double>(noisy), exponent);
}

// Mironov 2012: the doubles that value + noise can reach are full of holes, and the holes of one
// value are not those of another. An output that one neighbour cannot give names the other.
constexpr int kReleases = 64;
constexpr double kScale = kReleases;  // sensitivity 1: epsilon 1 for all releases together

int guess_by_holes(const std::vector<double>& outputs, BitSource& bits) {
  for (const double output : outputs) {
    const bool by_zero = mutants::naive_laplace_reaches(output, 0, kScale);
    const bool by_one = mutants::naive_laplace_reaches(output, 1, kScale);
    if (by_zero != by_one) return by_one ? 1 : 0;
  }
  return bits.next_bit() ? 1 : 0;
}

TEST(Mironov, HolesTellNaiveNoiseApart) {
  test::SeededSource bits(101);
  const Release naive = [](int neighbour, BitSource& source) {
    std::vector<double> outputs(kReleases);
    for (double& output : outputs) output = neighbour + mutants::naive_laplace(kScale, source);
    return outputs;
  };
  // The search for a pre-image finds every one there is: no output contradicts its own neighbour.
  for (int neighbour : {0, 1}) {
    int reached_by_other = 0;
    for (int i = 0; i < 4000; ++i) {
      const double output = neighbour + mutants::naive_laplace(kScale, bits);
      ASSERT_TRUE(mutants::naive_laplace_reaches(output, neighbour, kScale)) << output;
      reached_by_other += mutants::naive_laplace_reaches(output, 1 - neighbour, kScale) ? 1 : 0;
    }
    EXPECT_LT(reached_by_other, 4000 / 2) << neighbour;
  }
  EXPECT_GE(accuracy(naive, guess_by_holes, 1000, bits), 0.99);
}

TEST(Mironov, HolesDoNotTellShoalApart) {
  test::SeededSource bits(102);
  const int trials = 1000;
  for (const int exponent : {-40, -20, 0}) {
    const Release shoal = [exponent](int neighbour, BitSource& source) {
      std::vector<double> outputs(kReleases);
      const Int128 value = neighbour * (Int128{1} << -exponent);
      for (double& output : outputs)
        output = on_grid(value, exponent, std::ldexp(kScale, -exponent), source);
      return outputs;
    };
    EXPECT_LE(accuracy(shoal, guess_by_holes, trials, bits), highest_accuracy(1, trials))
        << "2^" << exponent;
  }
}

// There are no holes at all: each whole number near comes from either neighbour, about as often.
// Values of chance 3e-4 or more, expected 60 times or more: one is missing with chance below e^-55.
TEST(Mironov, ShoalReachesEveryStepFromEitherNeighbour) {
  test::SeededSource bits(103);
  const int draws = 200'000;
  const DiscreteLaplace spec{4};
  for (const int neighbour : {0, 1}) {
    std::vector<int> seen(47);
    for (int i = 0; i < draws; ++i) {
      const Int128 output = neighbour + sample(spec, bits) + 23;
      if (output >= 0 && output < 47) ++seen[static_cast<std::size_t>(output)];
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0) << neighbour;
  }
}

// Haney et al. 2022: noise of scale 1 near 0 has more binary places than 2^-53, but 1 + noise has
// none beyond it. The event "|output| < 1/2 and no multiple of 2^-places".
bool is_fine(double output, int places) {
  const double scaled = std::ldexp(output, places);
  return std::fabs(output) < 0.5 && scaled != std::floor(scaled);
}

TEST(Haney, PrecisionTellsNaiveNoiseApart) {
  test::SeededSource bits(111);
  const int draws = 100'000;
  int fine[2] = {0, 0};
  for (const int neighbour : {0, 1}) {
    for (int i = 0; i < draws; ++i)
      fine[neighbour] += is_fine(neighbour + mutants::naive_laplace(1, bits), 53) ? 1 : 0;
  }
  // Certainty in more than one release of six, whatever epsilon was promised.
  EXPECT_GT(fine[0], draws / 6);
  EXPECT_EQ(fine[1], 0);
}

TEST(Haney, PrecisionDoesNotTellShoalApart) {
  test::SeededSource bits(112);
  const int draws = 40'000;
  for (const int exponent : {-48, -20}) {
    std::vector<int> fine[2];
    for (const int neighbour : {0, 1}) {
      fine[neighbour].assign(64, 0);
      for (int i = 0; i < draws; ++i) {
        const double output = on_grid(neighbour * (Int128{1} << -exponent), exponent,
                                      std::ldexp(1.0, -exponent), bits);
        for (int places = 0; places < 64; ++places)
          fine[neighbour][static_cast<std::size_t>(places)] += is_fine(output, places) ? 1 : 0;
      }
    }
    // Sensitivity and scale are 1: no event may be more than e times as likely.
    for (std::size_t places = 0; places < 64; ++places) {
      for (const int neighbour : {0, 1}) {
        const double often = fine[neighbour][places];
        const double allowed = std::exp(1.0) * fine[1 - neighbour][places];
        EXPECT_LE(often, allowed + kDeviations * std::sqrt(often + std::exp(1.0) * allowed))
            << places << " places on 2^" << exponent;
      }
    }
    EXPECT_GT(fine[0][8], draws / 6);
    EXPECT_EQ(fine[0][static_cast<std::size_t>(-exponent)], 0);
  }
}

// Casacuberta et al. 2022: a floating-point sum rounds after each record, so its order counts, and
// one record can change how all others are rounded. Bounds far from 0 and near each other: one
// record replaced by another can change the true sum by kHigh - kLow and no more.
constexpr double kLow = 0x1p53;
constexpr double kHigh = kLow + 520;
constexpr double kSensitivity = kHigh - kLow;
const GridBounds kGrid{3, (std::int64_t{1} << 50), (std::int64_t{1} << 50) + 65};

// One table, stored in either order; the other neighbour has one low record in place of a high one.
std::vector<double> low_first(int neighbour) {
  std::vector<double> values(512 + static_cast<std::size_t>(neighbour), kLow);
  values.resize(1024, kHigh);
  return values;
}
std::vector<double> high_first(int neighbour) {
  std::vector<double> values = low_first(neighbour);
  std::reverse(values.begin(), values.end());
  return values;
}

TEST(Casacuberta, OrderBreaksTheSensitivityOfANaiveSum) {
  const double apart = std::fabs(naive_clamped_sum(low_first(0), kLow, kHigh) -
                                 naive_clamped_sum(high_first(1), kLow, kHigh));
  EXPECT_GT(apart, 100 * kSensitivity);
}

TEST(Casacuberta, OrderDoesNotMatterToAGridSum) {
  for (const int neighbour : {0, 1}) {
    EXPECT_TRUE(sum_on_grid(low_first(neighbour), kGrid) ==
                sum_on_grid(high_first(neighbour), kGrid));
  }
  EXPECT_TRUE(sum_on_grid(low_first(0), kGrid) - sum_on_grid(high_first(1), kGrid) == 65);
}

// The same against releases: the attacker looks on which side of the middle the output lies.
TEST(Casacuberta, OrderTellsNaiveReleasesApartAndNotShoals) {
  test::SeededSource bits(121);
  const int trials = 2000;
  const auto table = [](int neighbour) { return neighbour == 0 ? low_first(0) : high_first(1); };
  const double sums[2] = {naive_clamped_sum(table(0), kLow, kHigh),
                          naive_clamped_sum(table(1), kLow, kHigh)};
  const Release naive = [&](int neighbour, BitSource& source) {
    return std::vector<double>{sums[neighbour] + mutants::naive_laplace(kSensitivity, source)};
  };
  const auto guess_between = [](double first, double second) -> Guess {
    return [=](const std::vector<double>& outputs, BitSource&) {
      return std::fabs(outputs[0] - first) < std::fabs(outputs[0] - second) ? 0 : 1;
    };
  };
  EXPECT_GE(accuracy(naive, guess_between(sums[0], sums[1]), trials, bits), 0.999);

  const Int128 exact[2] = {sum_on_grid(table(0), kGrid), sum_on_grid(table(1), kGrid)};
  // Relative to the second, so that a double holds every step.
  const Release shoal = [&](int neighbour, BitSource& source) {
    const Int128 noisy = exact[neighbour] + sample(DiscreteLaplace{65}, source);
    return std::vector<double>{static_cast<double>(noisy - exact[1])};
  };
  const double right = accuracy(shoal, guess_between(65, 0), trials, bits);
  EXPECT_LE(right, highest_accuracy(1, trials));
  EXPECT_GT(right, 0.6);  // it is the right attack: it gets what epsilon 1 gives away
}

// In one order: one record more, within [0, 2^52], moves the others into a binade where each of
// them is rounded up to twice its value.
TEST(Casacuberta, RoundingBreaksTheSensitivityOfANaiveSum) {
  const double high = 0x1p52;
  const std::size_t small = 1 << 16;
  std::vector<double> fewer = {high, high - static_cast<double>(small) - 4};
  fewer.resize(2 + small, 1 + 0x1p-52);
  std::vector<double> more = fewer;
  more.insert(more.begin(), high);
  const double apart = naive_clamped_sum(more, 0, high) - naive_clamped_sum(fewer, 0, high);
  EXPECT_EQ(apart, high + static_cast<double>(small));

  const GridBounds grid{1, 0, std::int64_t{1} << 51};
  EXPECT_TRUE(sum_on_grid(more, grid) - sum_on_grid(fewer, grid) == grid.high);
}

}  // namespace
}  // namespace shoal
