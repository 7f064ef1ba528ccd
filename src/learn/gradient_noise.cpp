#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/gradient_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

// A row has at most 2^(kGridDigits + 1) steps, so that 64 bits hold the sum of a block of rows.
constexpr int kGridDigits = 30;
// Below, truncation to the grid would be felt.
constexpr int kLeastDigits = 8;
// The noise has at most 2^(kNoiseDigits + 1) steps; samplers take 2^50.
constexpr int kNoiseDigits = 48;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

}  // namespace

double gradient_sensitivity(const GradientNoise& noise) {
  // The product of a slope and a value is rounded once; truncation only makes it smaller.
  return numeric::multiply_up(std::ldexp(noise.clip, -noise.exponent), 1 + 0x1p-52);
}

int gradient_exponent(double clip, double noise_ratio) {
  const int digits = std::min(kGridDigits, kNoiseDigits - std::max(0, std::ilogb(noise_ratio)));
  if (!(noise_ratio > 0) || digits < kLeastDigits) {
    refuse(
        fmt::format("noise of {} times a row's gradient is beyond what can be drawn; raise epsilon "
                    "or delta, or take fewer steps",
                    format_rounded(noise_ratio, 4)));
  }
  return std::ilogb(clip) - digits;
}

double clip_or_bound(const Problem& problem, std::optional<double> clip) {
  if (!clip) return gradient_bound(problem);
  if (*clip >= 0x1p-60 && *clip <= 0x1p60) return *clip;
  refuse(fmt::format("gradients are to be clipped to {}; the norm must be from 2^-60 to 2^60",
                     format_number(*clip)));
}

void validate(const GradientNoise& noise) {
  if (!(noise.clip >= 0x1p-120 && noise.clip <= 0x1p120))
    refuse(fmt::format("gradients are clipped to {}; the norm must be from 2^-120 to 2^120",
                       format_number(noise.clip)));
  const int digits = std::ilogb(noise.clip) - noise.exponent;
  if (digits < kLeastDigits || digits > kGridDigits)
    refuse(fmt::format("a gradient has {} binary digits on the grid 2^{}; from {} to {} are taken",
                       digits, noise.exponent, kLeastDigits, kGridDigits));
  random::check_scale(noise.sigma, "noise of a gradient, in grid steps,");
}

}  // namespace shoal::learn
