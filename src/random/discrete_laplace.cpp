#include "random/noise_law.hpp"

#include <shoal/random/discrete_laplace.hpp>

namespace shoal::random {

DiscreteLaplaceSampler::DiscreteLaplaceSampler(double scale)
    : law_(make_laplace_law(scale, LaplaceKind::discrete)) {}

void DiscreteLaplaceSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits, best_kernel());
}

Int128 DiscreteLaplaceSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_discrete_laplace(double scale, BitSource& bits) {
  return DiscreteLaplaceSampler(scale).sample(bits);
}

}  // namespace shoal::random
