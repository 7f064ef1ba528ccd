// The profile of a sum of independent losses with known laws, by the engine that suits them: a
// formula, the contour, the contour with the laws' rarest losses cut off, or a loss distribution.
#pragma once

#include "privacy/contour.hpp"
#include "privacy/lattice_profile.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace shoal::privacy {

struct LogAnswer {
  LogBounds bounds;
  Engine engine = Engine::closed_form;
};

class SumProfile {
 public:
  // The variance of all Gaussian noise together, rounded up and down. With `quick` a formula may
  // give twelve digits instead of fifteen in a hundredth of the time: for curves of thousands of
  // points.
  SumProfile(std::vector<CountedLaw> laws, double variance_up, double variance_down,
             const ProfileOptions& options, bool quick);

  // ln delta at epsilon >= 0, infinity included.
  LogAnswer log_delta(double epsilon);

  // The smallest epsilon >= 0 with delta at most e^{log_delta}.
  Certified epsilon(double log_delta);

  // At least the mass at infinite loss.
  double infinite_up() const { return infinite_up_; }

  // An upper bound of c times the Renyi divergence of order 1 + c; infinite if that is not known.
  double log_moment_up(double c);

  // An upper bound of ln delta, infinity included, that costs little.
  double quick_log_delta_up(double epsilon);

  // A rough epsilon for this delta, never below the true one by more than rounding where the laws
  // are smooth.
  double rough_epsilon(double log_delta);

 private:
  double largest_loss() const;
  bool empty() const { return laws_.empty() && variance_up_ == 0; }
  bool asked_for(Engine engine) const { return !options_.engine || *options_.engine == engine; }
  std::optional<LogBounds> formula(double epsilon) const;
  std::optional<LogBounds> by_formula(double epsilon) const;
  std::optional<LogAnswer> by_contour(double epsilon);
  std::optional<LogBounds> through(Contour& contour, double epsilon, double infinite_up);
  std::optional<Bounds> solve_contour(double log_delta);
  std::optional<Bounds> solve_formula(double log_delta) const;
  LatticeProfile& lattice();
  Contour* cut_contour(double log_delta);

  std::vector<CountedLaw> laws_;
  double variance_up_;
  double variance_down_;
  double variance_error_ = 0;
  LawPointer gaussian_;  // the Gaussian noise as a law, if a quick formula is wanted
  ProfileOptions options_;
  double infinite_up_ = 0;
  double infinite_down_ = 0;
  bool smooth_ = true;
  double slope_ = -1;  // of the last contour
  std::unique_ptr<Contour> contour_;
  std::unique_ptr<Contour> cut_;
  double cut_tail_ = 0;
  double cut_infinite_ = 0;
  bool contour_failed_ = false;
  bool cut_failed_ = false;
  std::unique_ptr<LatticeProfile> lattice_;
};

}  // namespace shoal::privacy
