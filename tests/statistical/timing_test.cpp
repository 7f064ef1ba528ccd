// Does the time of a draw tell what was drawn (Jin et al. 2022)? It must not: who can time a
// release would learn about its noise and so about the data.
//
// The statistic is the rank correlation of the time of a call with the magnitude, and with the
// sign, of its result, as a number of standard deviations. Under independence the results are
// exchangeable whatever the times are, so its mean is 0 and its variance 1 / (n - 1) exactly, ties,
// interrupts, drift and all; ranks keep a few long calls from deciding. Other load on the machine
// adds time that has nothing to do with the result: that can hide a leak, but not make one. Limit
// 4.5, two-sided: a false alarm has probability 7e-6 for each statistic, 6e-5 for the eight. The
// bits are seeded, so it is the clock alone that differs between runs.
#include "mutants/naive_samplers.hpp"
#include "support/seeded_source.hpp"

#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace shoal {
namespace {

constexpr double kLimit = 4.5;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kCalls = 200'000;  // ten times slower, and not what anybody runs
#else
constexpr std::size_t kCalls = 2'000'000;
#endif

// Fences keep work of the call within it.
std::uint64_t ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

struct Call {
  std::uint32_t time;       // what takes longer than 2^20 ticks was interrupted
  std::uint32_t magnitude;  // clamped to 2^20
  bool negative;
};

constexpr std::uint32_t kMost = std::uint32_t{1} << 20;

template <typename Sampler>
std::vector<Call> time_calls(const Sampler& sampler, std::size_t count, std::uint64_t seed) {
  test::SeededSource bits(seed);
  for (int i = 0; i < 1000; ++i) sampler(bits);  // warms up
  std::vector<Call> calls(count);
  for (Call& call : calls) {
    const std::uint64_t start = ticks();
    const Int128 x = sampler(bits);
    const std::uint64_t time = ticks() - start;
    const Int128 magnitude = x < 0 ? -x : x;
    call = {static_cast<std::uint32_t>(std::min<std::uint64_t>(time, kMost)),
            magnitude < kMost ? static_cast<std::uint32_t>(magnitude) : kMost, x < 0};
  }
  return calls;
}

// For each value up to kMost its rank among all, the mean rank where many have it, less the mean of
// all ranks.
template <typename Value>
std::vector<double> centred_ranks(const std::vector<Call>& calls, const Value& value) {
  std::vector<double> ranks(kMost + 1, 0.0);
  for (const Call& call : calls) ranks[value(call)] += 1;
  double below = -0.5 * static_cast<double>(calls.size());
  for (double& rank : ranks) {
    const double count = rank;
    rank = below + 0.5 * count;
    below += count;
  }
  return ranks;
}

template <typename Value>
double deviations(const std::vector<Call>& calls, const Value& value) {
  const auto time = [](const Call& call) { return call.time; };
  const std::vector<double> x = centred_ranks(calls, time);
  const std::vector<double> y = centred_ranks(calls, value);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const Call& call : calls) {
    const double a = x[time(call)];
    const double b = y[value(call)];
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  // A clock that shows no differences at all correlates with nothing.
  if (xx == 0 || yy == 0) return 0;
  return xy / std::sqrt(xx * yy) * std::sqrt(static_cast<double>(calls.size() - 1));
}

std::uint32_t magnitude_of(const Call& call) { return call.magnitude; }
std::uint32_t sign_of(const Call& call) { return call.negative ? 1 : 0; }

template <typename Sampler>
void expect_untimed(const Sampler& sampler, std::uint64_t seed) {
  const std::vector<Call> calls = time_calls(sampler, kCalls, seed);
  EXPECT_LT(std::fabs(deviations(calls, magnitude_of)), kLimit);
  EXPECT_LT(std::fabs(deviations(calls, sign_of)), kLimit);
}

TEST(Timing, DiscreteLaplaceTellsNothing) {
  for (const double scale : {10.0, 1e3}) {
    SCOPED_TRACE(scale);
    const random::DiscreteLaplaceSampler sampler(scale);
    expect_untimed([&](random::BitSource& bits) { return sampler.sample(bits); }, 1);
  }
}

TEST(Timing, DiscreteGaussianTellsNothing) {
  for (const double sigma : {10.0, 1e3}) {
    SCOPED_TRACE(sigma);
    const random::DiscreteGaussianSampler sampler(sigma);
    expect_untimed([&](random::BitSource& bits) { return sampler.sample(bits); }, 2);
  }
}

// The same statistic sees a sampler that tosses coins until it is done, from far fewer calls.
TEST(Timing, SeesASamplerThatTosses) {
  for (const std::uint64_t scale : {10u, 1000u}) {
    const auto calls =
        time_calls([=](random::BitSource& bits) { return mutants::rational_laplace(scale, bits); },
                   100'000, 3);
    EXPECT_GT(deviations(calls, magnitude_of), 10 * kLimit) << scale;
  }
}

// And one that takes one more step for a negative result, of a handful of cycles.
TEST(Timing, SeesABranchOnTheSign) {
  const auto calls = time_calls(
      [](random::BitSource& bits) {
        std::int64_t x = static_cast<std::int64_t>(bits.next_bits(8)) - 128;
        if (x < 0) x -= static_cast<std::int64_t>(bits.next_bits(1));
        return Int128{x};
      },
      200'000, 4);
  EXPECT_GT(std::fabs(deviations(calls, sign_of)), 10 * kLimit);
}

}  // namespace
}  // namespace shoal
