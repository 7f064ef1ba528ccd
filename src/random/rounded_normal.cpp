#include "random/noise_law.hpp"

#include <shoal/random/rounded_normal.hpp>

namespace shoal::random {

RoundedNormalSampler::RoundedNormalSampler(double sigma)
    : law_(make_gaussian_law(sigma, GaussianKind::rounded)) {}

void RoundedNormalSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits, best_kernel());
}

Int128 RoundedNormalSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_rounded_normal(double sigma, BitSource& bits) {
  return RoundedNormalSampler(sigma).sample(bits);
}

}  // namespace shoal::random
