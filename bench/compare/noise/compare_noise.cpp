// Shoal's noise beside what else draws it: the same laws at the same scales in one run, on one
// thread. Names of groups and contestants are read by report.py.
//
// Prints lines of group, name, scale and nanoseconds a value, separated by tabs. Groups: laplace,
// gaussian; laplace_setup, gaussian_setup (one construction); laplace_bytes, gaussian_bytes (no
// time: random bytes a value); laplace_byte, gaussian_byte (nanoseconds a random byte, in the same
// race); bytes (scale: bytes a call; nanoseconds a byte); sum (scale: records).
//
// None of the contestants called naive may be used for privacy: see
// tests/statistical/attack_regression_test.cpp.
#include "compare_sums.hpp"
#include "measure.hpp"
#include "random/noise_law.hpp"
#include "rational_peer.hpp"

#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/rounded_laplace.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

namespace shoal::bench {
namespace {

constexpr double kFine = 0x1p40;  // a real-valued query on a fine grid
constexpr std::array kScales = {1.0, 10.0, 1e3, 1e6, kFine, 10 * kFine, 1e3 * kFine};
constexpr std::size_t kBatch = 4096;
constexpr std::size_t kByteBlock = 16384;  // what the samplers ask for at a time

// Counts what a sampler takes, by the rules of the source behind it.
class CountingSource final : public random::BitSource {
 public:
  void fill(std::span<unsigned char> bytes) override {
    taken_ += bytes.size();
    source_.fill(bytes);
  }
  std::uint64_t next_bits(int count) override {
    taken_ += 8;
    return source_.next_bits(count);
  }
  std::size_t taken() const { return taken_; }

 private:
  random::SecureSource source_;
  std::size_t taken_ = 0;
};

void print(const Contestant& one) {
  fmt::print("{}\t{}\t{:.17g}\t{:.6g}\n", one.group, one.name, one.scale, one.nanoseconds);
}

// Everything that one scale of one law needs. Works of contestants point into it.
struct Arena {
  random::SecureSource bits;
  std::mt19937_64 twister{1};
  std::vector<std::int64_t> values = std::vector<std::int64_t>(kBatch);
  std::vector<double> reals = std::vector<double>(kBatch);
  std::vector<unsigned char> bytes = std::vector<unsigned char>(kByteBlock);
};

template <typename Sampler>
void enter_array(std::vector<Contestant>& entries, Arena& arena, const std::string& group,
                 const std::string& name, double scale) {
  auto sampler = std::make_shared<const Sampler>(scale);
  entries.push_back({group, scale, name, kBatch, [sampler, &arena] {
                       sampler->fill(arena.values, arena.bits);
                       keep(arena.values.data());
                     }});
}

// What a processor without AVX2 would run.
void enter_portable(std::vector<Contestant>& entries, Arena& arena, const std::string& group,
                    double scale, std::shared_ptr<const random::NoiseLaw> law) {
  entries.push_back({group, scale, "Shoal, array, portable code", kBatch, [law, &arena] {
                       law->fill(arena.values, arena.bits, random::Kernel::scalar);
                       keep(arena.values.data());
                     }});
}

template <typename Sampler>
void enter_shoal(std::vector<Contestant>& entries, Arena& arena, const std::string& group,
                 double scale) {
  enter_array<Sampler>(entries, arena, group, "Shoal, array", scale);
  auto sampler = std::make_shared<const Sampler>(scale);
  entries.push_back({group, scale, "Shoal, one value a call", 1, [sampler, &arena] {
                       const Int128 value = sampler->sample(arena.bits);
                       keep(&value);
                     }});
  entries.push_back({group + "_byte", scale, "Shoal", kByteBlock, [&arena] {
                       arena.bits.fill(arena.bytes);
                       keep(arena.bytes.data());
                     }});
  // A scale never seen before, each time: the next double but a few.
  auto fresh = std::make_shared<double>(scale);
  entries.push_back({group + "_setup", scale, "Shoal", 1, [fresh] {
                       *fresh *= 1 + 0x1p-50;
                       const Sampler made(*fresh);
                       keep(&made);
                     }});
  auto same = std::make_shared<double>(scale);
  entries.push_back({group + "_setup", scale, "Shoal, the scale itself", 1, [same] {
                       const Sampler made(*same);
                       keep(&made);
                     }});
}

template <typename Sampler>
void print_bytes(const std::string& group, double scale) {
  CountingSource bits;
  std::vector<std::int64_t> values(kBatch);
  const Sampler sampler(scale);
  constexpr int kCalls = 16;
  for (int call = 0; call < kCalls; ++call) sampler.fill(values, bits);
  fmt::print("{}_bytes\tShoal\t{:.17g}\t{:.6g}\n", group, scale,
             static_cast<double>(bits.taken()) / static_cast<double>(kCalls * kBatch));
}

void compare_laplace(double scale, int rounds) {
  Arena arena;
  std::vector<Contestant> entries;
  enter_shoal<random::DiscreteLaplaceSampler>(entries, arena, "laplace", scale);
  enter_array<random::RoundedLaplaceSampler>(entries, arena, "laplace", "Shoal rounded, array",
                                             scale);
  enter_portable(entries, arena, "laplace", scale,
                 random::make_laplace_law(scale, random::LaplaceKind::discrete));
  RationalNoise peer(scale, arena.bits);
  entries.push_back({"laplace", scale, "GMP rationals, same bytes", 64, [&] {
                       for (int i = 0; i < 64; ++i) arena.values[0] += peer.laplace();
                       keep(arena.values.data());
                     }});
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  const auto inverse = [scale](double u) {
    return -scale * std::copysign(std::log(1 - 2 * std::fabs(u)), u);
  };
  entries.push_back({"laplace", scale, "naive s*log(U), mt19937_64", kBatch, [&] {
                       for (double& real : arena.reals) real = inverse(uniform(arena.twister));
                       keep(arena.reals.data());
                     }});
  entries.push_back(
      {"laplace", scale, "the same without std::uniform_real_distribution", kBatch, [&] {
         for (double& real : arena.reals)
           real = inverse(static_cast<double>(arena.twister() >> 11) * 0x1p-53 - 0.5);
         keep(arena.reals.data());
       }});
  race(entries, rounds);
  for (const Contestant& one : entries) print(one);
  print_bytes<random::DiscreteLaplaceSampler>("laplace", scale);
}

void compare_gaussian(double sigma, int rounds) {
  Arena arena;
  std::vector<Contestant> entries;
  enter_shoal<random::DiscreteGaussianSampler>(entries, arena, "gaussian", sigma);
  enter_array<random::RoundedNormalSampler>(entries, arena, "gaussian", "Shoal rounded, array",
                                            sigma);
  enter_portable(entries, arena, "gaussian", sigma,
                 random::make_gaussian_law(sigma, random::GaussianKind::discrete));
  RationalNoise peer(sigma, arena.bits);
  entries.push_back({"gaussian", sigma, "GMP rationals, same bytes", 64, [&] {
                       for (int i = 0; i < 64; ++i) arena.values[0] += peer.gaussian();
                       keep(arena.values.data());
                     }});
  std::normal_distribution<double> normal(0, sigma);
  entries.push_back({"gaussian", sigma, "naive std::normal_distribution, mt19937_64", kBatch, [&] {
                       for (double& real : arena.reals) real = normal(arena.twister);
                       keep(arena.reals.data());
                     }});
  race(entries, rounds);
  for (const Contestant& one : entries) print(one);
  print_bytes<random::DiscreteGaussianSampler>("gaussian", sigma);
}

void compare_bytes(int rounds) {
  random::SecureSource bits;
  std::vector<unsigned char> bytes(std::size_t{1} << 20);
  std::vector<Contestant> entries;
  for (const std::size_t size : {std::size_t{64}, kByteBlock, bytes.size()}) {
    entries.push_back({"bytes", static_cast<double>(size), "Shoal", size, [&bits, &bytes, size] {
                         bits.fill(std::span(bytes).first(size));
                         keep(bytes.data());
                       }});
  }
  race(entries, rounds);
  for (const Contestant& one : entries) print(one);
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  if (rounds < 1) {
    fmt::print(stderr, "usage: compare_noise [rounds, at least 1]\n");
    return 2;
  }
  shoal::bench::compare_bytes(rounds);
  for (const double scale : shoal::bench::kScales) {
    shoal::bench::compare_laplace(scale, rounds);
    shoal::bench::compare_gaussian(scale, rounds);
  }
  shoal::bench::compare_sums(rounds);
  return 0;
}
