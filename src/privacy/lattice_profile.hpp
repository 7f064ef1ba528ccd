// The privacy-loss distribution engine: chooses the lattice for a question, puts the laws on it
// from above and below, composes, and refines until the bounds are close.
#pragma once

#include "privacy/contour.hpp"
#include "privacy/lattice_sum.hpp"

#include <shoal/privacy/profile.hpp>

#include <optional>
#include <vector>

namespace shoal::privacy {

class LatticeProfile {
 public:
  // The variance may be too large by a relative error. `contour` gives the first tilts and
  // Chernoff's bound; it must have the same laws and outlive this. `infinite_down` and
  // `infinite_up` bound the mass at infinity of the whole.
  LatticeProfile(std::vector<CountedLaw> laws, double variance, double variance_error,
                 double infinite_down, double infinite_up, Contour& contour, double tolerance);

  // Bounds of ln delta, infinity included.
  LogBounds log_delta(double epsilon);

  // Bounds of the epsilon at which delta is e^{log_delta}.
  Bounds epsilon(double log_delta);

 private:
  struct Sums {
    LatticeSum upper;
    LatticeSum lower;
  };

  std::optional<Sums> compose(double step, double tilt, double log_delta, double log_scale);
  // Whether a lattice holds the laws as they are.
  bool exact() const { return only_atoms_ && common_ > 0; }
  double gap(double lower, double upper, double tilt) const;
  double quick_epsilon_up(double log_delta);
  double refine(const Sums& sums, double step, double gap) const;
  double first_step(double tilt, double epsilon) const;
  double largest_total() const;
  std::optional<Contour> guide(double log_delta) const;
  static double usable_tilt(Contour& guide, double epsilon, double otherwise);
  static bool as_fine_as_can_be(const Sums& sums);

  std::vector<CountedLaw> laws_;
  double log_infinite_down_;
  double log_infinite_up_;
  LawPointer gaussian_;
  double gaussian_loss_error_ = 0;
  Contour& contour_;
  std::vector<CountedLaw> given_;  // the laws without the Gaussian noise
  double variance_;
  double tolerance_;
  double common_ = 0;        // the step that meets all masses of their own, 0 if there is none
  bool only_atoms_ = false;  // and nothing else is there
};

}  // namespace shoal::privacy
