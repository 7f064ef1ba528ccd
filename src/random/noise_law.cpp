#include "random/noise_law.hpp"

#include "random/digit_law.hpp"
#include "random/folded_gaussian.hpp"
#include "random/gaussian_trials.hpp"
#include "random/laplace_trials.hpp"

namespace shoal::random {

std::shared_ptr<const NoiseLaw> make_laplace_law(double scale, LaplaceKind kind) {
  check_scale(scale, "scale");
  if (scale > kLargestDigitScale) return std::make_shared<const LaplaceTrials>(scale, kind);
  return std::make_shared<const DigitLaw>(scale, kind);
}

std::shared_ptr<const NoiseLaw> make_gaussian_law(double sigma, GaussianKind kind) {
  check_scale(sigma, "sigma");
  if (kind == GaussianKind::discrete && sigma < kFoldedSigma) {
    return std::make_shared<const FoldedGaussian>(sigma);
  }
  return std::make_shared<const GaussianTrials>(sigma, kind);
}

}  // namespace shoal::random
