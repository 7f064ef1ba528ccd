#include "random/noise_law.hpp"

#include <shoal/random/discrete_gaussian.hpp>

namespace shoal::random {

DiscreteGaussianSampler::DiscreteGaussianSampler(double sigma)
    : law_(make_gaussian_law(sigma, GaussianKind::discrete)) {}

void DiscreteGaussianSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits, best_kernel());
}

Int128 DiscreteGaussianSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_discrete_gaussian(double sigma, BitSource& bits) {
  return DiscreteGaussianSampler(sigma).sample(bits);
}

}  // namespace shoal::random
