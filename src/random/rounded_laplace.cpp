#include "random/noise_law.hpp"

#include <shoal/random/rounded_laplace.hpp>

namespace shoal::random {

RoundedLaplaceSampler::RoundedLaplaceSampler(double scale)
    : law_(make_laplace_law(scale, LaplaceKind::rounded)) {}

void RoundedLaplaceSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits, best_kernel());
}

Int128 RoundedLaplaceSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_rounded_laplace(double scale, BitSource& bits) {
  return RoundedLaplaceSampler(scale).sample(bits);
}

}  // namespace shoal::random
