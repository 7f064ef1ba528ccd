#include <shoal/mechanism/joint_noise.hpp>

namespace shoal::mechanism {

privacy::Event joint_event(std::span<const StatisticNoise> noises) {
  privacy::event::Compose compose;
  for (const StatisticNoise& noise : noises) {
    compose.events.push_back(privacy_event(noise.mechanism, noise.sensitivity));
  }
  return compose;
}

}  // namespace shoal::mechanism
