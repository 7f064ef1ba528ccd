// The search behind calibration: where an accountant's bounds cross a target, as a parameter of the
// event grows. The search is by secants on a scale on which most profiles are nearly straight, with
// steps that cannot run away; it decides nothing: each point says for itself whether it is
// sufficient or provably insufficient.
#pragma once

#include <shoal/privacy/calibration.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace shoal::privacy {

// What the accountant says about one event and a target.
struct Verdict {
  bool sufficient = false;    // proven
  bool insufficient = false;  // proven
  // Rise with the noise, straight lines in the logarithm of the parameter where all is well; the
  // target's is Judge::height(). From the upper and from the lower bound. They may be infinite, and
  // nothing rests on them.
  double height_of_upper = 0;
  double height_of_lower = 0;
};

// Throws invalid_argument for an epsilon of 0.
void require_epsilon(const Target& target);
// And for Gaussian noise at a delta of 0.
void require_reachable(NoiseLaw law, const Target& target);

class Judge {
 public:
  // `tolerance` is that of the profiles.
  explicit Judge(const Target& target, double tolerance = 1e-6);

  Verdict operator()(const Event& event) const;
  double height() const { return height_; }
  // About how much height a factor of e in the parameter gives.
  double slope() const { return pure_ ? 1 : 2; }
  // Epsilon at the target's delta. `event` was found sufficient: so the upper bound is not above
  // the target's.
  Certified epsilon_of_sufficient(const Event& event) const;

 private:
  Target target_;
  ProfileOptions options_;
  bool pure_;
  double height_;
  double log_delta_down_ = 0;
  double log_delta_up_ = 0;
};

// Points have a key, the parameter itself, and a place on the logarithmic axis, where more noise is
// further up. Which keys there are is the caller's: `at_or_above` and `at_or_below` give the
// nearest to a place, on that side of it.
struct SearchSpace {
  std::function<Verdict(double)> judge;  // of a key
  std::function<double(double)> place;   // of a key
  std::function<double(double)> at_or_above;
  std::function<double(double)> at_or_below;
  // Whether a sufficient and an insufficient key are near enough.
  std::function<bool(double, double)> close;
  double least = 0;  // keys
  double most = 0;
  double height = 0;
  double slope = 1;
  double tolerance = 0;  // between places; 0: until nothing is left between
};

// Keys.
struct Crossing {
  std::optional<double> sufficient;    // the lowest found; none if `most` is not
  std::optional<double> insufficient;  // the highest found below it
};

// `start` is a place.
Crossing find_crossing(const SearchSpace& space, double start);

}  // namespace shoal::privacy
