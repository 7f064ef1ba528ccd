#include "random/digit_law.hpp"

#include <shoal/random/rounded_laplace.hpp>

namespace shoal::random {

RoundedLaplaceSampler::RoundedLaplaceSampler(double scale)
    : law_(std::make_shared<const DigitLaw>(scale, DigitKind::rounded_laplace)) {}

void RoundedLaplaceSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits);
}

Int128 RoundedLaplaceSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_rounded_laplace(double scale, BitSource& bits) {
  return RoundedLaplaceSampler(scale).sample(bits);
}

}  // namespace shoal::random
