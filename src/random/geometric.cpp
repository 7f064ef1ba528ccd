#include "random/noise_law.hpp"

#include <shoal/random/geometric.hpp>

namespace shoal::random {

GeometricSampler::GeometricSampler(double scale)
    : law_(make_laplace_law(scale, LaplaceKind::geometric)) {}

void GeometricSampler::fill(std::span<std::int64_t> values, BitSource& bits) const {
  law_->fill(values, bits, best_kernel());
}

Int128 GeometricSampler::sample(BitSource& bits) const { return law_->sample(bits); }

Int128 sample_geometric(double scale, BitSource& bits) {
  return GeometricSampler(scale).sample(bits);
}

}  // namespace shoal::random
