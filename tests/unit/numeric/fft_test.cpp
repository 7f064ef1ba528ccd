// The Fourier transform against its definition, within its stated error.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/fft.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace shoal::numeric {
namespace {

std::vector<double> random_values(std::size_t size, test::SeededSource& bits) {
  std::vector<double> values(size);
  for (double& value : values) value = static_cast<double>(bits.next_bits(53)) * 0x1p-53 - 0.25;
  return values;
}

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

TEST(RealFft, IsTheDefinitionWithinTheStatedError) {
  test::SeededSource bits(1);
  for (const std::size_t size : {4u, 8u, 16u, 32u, 64u, 128u, 512u}) {
    const std::vector<double> values = random_values(size, bits);
    RealFft fft(size);
    const auto spectrum = fft.forward(values);
    ASSERT_EQ(spectrum.size(), size / 2 + 1);
    long double square = 0;
    for (std::size_t j = 0; j < spectrum.size(); ++j) {
      std::complex<long double> exact = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const long double turn = static_cast<long double>(i * j % size) / size;
        exact += static_cast<long double>(values[i]) *
                 std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turn);
      }
      const long double twice = j == 0 || j == size / 2 ? 1 : 2;
      square += twice * std::norm(exact - std::complex<long double>(spectrum[j]));
    }
    const double bound =
        kFftErrorPerLevel * fft.levels() * std::sqrt(static_cast<double>(size)) * norm_of(values);
    EXPECT_LE(std::sqrt(square), bound) << size;
  }
}

TEST(RealFft, InverseGivesTheValuesBack) {
  test::SeededSource bits(2);
  for (const std::size_t size : {4u, 64u, 1024u, 65536u}) {
    const std::vector<double> values = random_values(size, bits);
    RealFft fft(size);
    std::vector<double> back = fft.inverse(fft.forward(values));
    ASSERT_EQ(back.size(), size);
    for (std::size_t i = 0; i < size; ++i) back[i] -= values[i];
    EXPECT_LE(norm_of(back), 2 * kFftErrorPerLevel * fft.levels() * norm_of(values)) << size;
  }
}

TEST(RealFft, CanBeUsedAgain) {
  test::SeededSource bits(3);
  RealFft fft(32);
  const std::vector<double> values = random_values(32, bits);
  const auto first = fft.forward(values);
  fft.forward(random_values(32, bits));
  EXPECT_EQ(fft.forward(values), first);
}

TEST(RealFft, RefusesOtherLengths) {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 6u, 100u}) {
    try {
      RealFft fft(size);
      FAIL() << "accepted " << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("power of two"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace shoal::numeric
