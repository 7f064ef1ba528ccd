// Both directions of a profile: the one with the person removed and the one with the person added,
// composed separately. delta is the larger of the two; epsilon too.
#pragma once

#include "privacy/components.hpp"
#include "privacy/sum_profile.hpp"

#include <shoal/privacy/profile.hpp>

#include <functional>
#include <memory>

namespace shoal::privacy {

inline Direction reverse(Direction direction) {
  return direction == Direction::removed ? Direction::added : Direction::removed;
}

// One direction. Keeps what it has computed, so it is not for several threads at once.
class DirectedProfile {
 public:
  DirectedProfile(Components components, const ProfileOptions& options, bool quick);

  // ln delta at epsilon >= 0.
  LogAnswer log_delta(double epsilon);

  // `delta` is e^{log_delta} itself, where it is known without rounding.
  Certified epsilon(double log_delta, const std::optional<Delta>& delta = {});

  // Whether delta at this epsilon is surely at most e^{log_delta}, as far as that costs little to
  // say.
  bool surely_within(double epsilon, double log_delta);

 private:
  bool renyi() const { return components_.rho > 0 || !components_.tables.empty(); }
  bool has_uniform_formula() const;
  std::optional<LogBounds> uniform_log_delta(double epsilon) const;
  std::optional<Bounds> uniform_epsilon(double log_delta, const std::optional<Delta>& delta) const;
  double log_moment_up(double c);
  double renyi_log_delta_up(double epsilon);
  double renyi_epsilon_up(double log_delta);
  template <class Bound>
  double best_order(Bound bound);

  Components components_;
  SumProfile upper_;
  std::unique_ptr<SumProfile> lower_;  // null: the same as upper_
};

class TwoWay {
 public:
  // `quick`: see SumProfile.
  TwoWay(const Event& event, Neighbors neighbors, const ProfileOptions& options = {},
         bool quick = false);

  // One direction, at any real epsilon.
  Bounds delta(Direction direction, double epsilon);

  // The worse one.
  LogAnswer log_delta(double epsilon);
  Certified epsilon(double log_delta, const std::optional<Delta>& delta = {});

 private:
  DirectedProfile& side(Direction direction) {
    return direction == Direction::removed || !added_ ? *removed_ : *added_;
  }

  std::unique_ptr<DirectedProfile> removed_;
  std::unique_ptr<DirectedProfile> added_;  // null if the same
};

// delta of a Poisson sample from that of the event itself, at any real epsilon (Balle, Barthe and
// Gaboardi 2018; Zhu, Dong and Wang 2022): the person removed, and added, where `inner` is the
// delta of the same direction.
double poisson_removed(double epsilon, double rate, const std::function<double(double)>& inner);
double poisson_added(double epsilon, double rate, const std::function<double(double)>& inner);

}  // namespace shoal::privacy
