// Samplers that are wrong on purpose, each in a way that a real one has been or could be. A test
// suite that lets one of them through is not good enough.
#pragma once

#include <shoal/mechanism/registry.hpp>
#include <shoal/random/bernoulli.hpp>
#include <shoal/random/uniform.hpp>

#include <functional>
#include <numeric>
#include <vector>

namespace shoal::mutants {

using Sampler = std::function<Int128(random::BitSource&)>;

struct NoiseMutant {
  const char* name;
  // Whether it breaks the privacy claim, so that the audit has to see it from samples alone. One
  // that keeps it (noise of another shape, but no worse) is left to the chi-square test.
  bool breaks_privacy;
  std::function<Sampler(const mechanism::AnyMechanism&)> make;
};

inline mechanism::AnyMechanism halved(const mechanism::DiscreteLaplace& spec) {
  return mechanism::DiscreteLaplace{spec.scale / 2};
}
inline mechanism::AnyMechanism halved(const mechanism::DiscreteGaussian& spec) {
  return mechanism::DiscreteGaussian{spec.sigma / 2};
}
inline mechanism::AnyMechanism halved(const mechanism::RoundedLaplace& spec) {
  return mechanism::RoundedLaplace{spec.scale / 2};
}
inline mechanism::AnyMechanism halved(const mechanism::RoundedGaussian& spec) {
  return mechanism::RoundedGaussian{spec.sigma / 2};
}

inline std::vector<NoiseMutant> noise_mutants() {
  using mechanism::AnyMechanism;
  using random::BitSource;
  return {
      {"half_the_scale", true,
       [](const AnyMechanism& spec) -> Sampler {
         const AnyMechanism half =
             std::visit([](const auto& member) { return halved(member); }, spec);
         return [half](BitSource& bits) { return sample(half, bits); };
       }},
      {"magnitude_off_by_one", true,  // counts from one: zero never comes
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) {
           const Int128 x = sample(spec, bits);
           return x > 0 || (x == 0 && bits.next_bit()) ? x + 1 : x - 1;
         };
       }},
      {"shifted_by_one", false,
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) { return sample(spec, bits) + 1; };
       }},
      {"double_zero", true,  // keeps both +0 and -0
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) {
           while (true) {
             const Int128 x = sample(spec, bits);
             if (x == 0 || bits.next_bit()) return x;
           }
         };
       }},
      {"biased_sign", true,  // negative once in four
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) {
           const Int128 x = sample(spec, bits);
           const Int128 magnitude = x < 0 ? -x : x;
           return bits.next_bits(2) == 0 ? -magnitude : magnitude;
         };
       }},
      {"fair_sign_of_minus_one_minus", false,  // -1 - g and g equally likely: centred at -1/2
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) {
           Int128 x = sample(spec, bits);
           while (x < 0) x = sample(spec, bits);
           return bits.next_bit() ? -1 - x : x;
         };
       }},
      {"rounded_to_even", true,  // the lowest bit is lost
       [](const AnyMechanism& spec) -> Sampler {
         return [spec](BitSource& bits) {
           const Int128 x = sample(spec, bits);
           return x - x % 2;
         };
       }},
      {"clamped", true,  // the noise itself, not the noisy sum
       [](const AnyMechanism& spec) -> Sampler {
         const Int128 limit = error_interval(spec, Confidence(0.9));
         return [spec, limit](BitSource& bits) {
           const Int128 x = sample(spec, bits);
           return x > limit ? limit : x < -limit ? -limit : x;
         };
       }},
  };
}

// Discrete Laplace of integer scale t with a coin whose chance a / (b k) was reduced wrongly: for
// g = gcd(a, k) it became (a / g) / (floor(b / g) k). A rational library did this for two years
// under proven code.
inline Int128 sample_with_wrong_division(std::uint64_t t, random::BitSource& bits) {
  const auto wrong_exp_minus = [&bits](std::uint64_t a, std::uint64_t b) {
    std::uint64_t k = 1;
    while (true) {
      const std::uint64_t g = std::gcd(a, k);
      if (!random::bernoulli(a / g, b / g * k, bits)) return k % 2 == 1;
      ++k;
    }
  };
  while (true) {
    std::uint64_t low = random::uniform_below(t, bits);
    while (!wrong_exp_minus(low, t)) low = random::uniform_below(t, bits);
    std::uint64_t high = 0;
    while (random::bernoulli_exp_minus(1, 1, bits)) ++high;
    const auto magnitude = static_cast<Int128>(low + t * high);
    const bool negative = bits.next_bit();
    if (!(negative && magnitude == 0)) return negative ? -magnitude : magnitude;
  }
}

}  // namespace shoal::mutants
