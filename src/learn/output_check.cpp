#include "learn/output_check.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

namespace shoal::learn {

void check_output(const OutputNoise& noise, const OutputClaim& claim) {
  const bool holds =
      noise.shape == NoiseShape::norm
          ? output_epsilon_up(noise, claim.distance, claim.weights) <= claim.epsilon
          : output_delta_up(noise, claim.distance, claim.weights, claim.epsilon) <= claim.delta;
  if (holds) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("noise of {} grid steps does not give epsilon {} and delta {} at l2 weight {}; "
                  "raise one of them",
                  format_rounded(noise.scale, 6), format_number(claim.epsilon),
                  format_number(claim.delta), format_rounded(claim.l2, 6)));
}

privacy::Event output_event(double epsilon, double delta) {
  if (delta == 0) return privacy::event::Pure{epsilon};
  return privacy::event::EpsilonDelta{epsilon, delta};
}

}  // namespace shoal::learn
