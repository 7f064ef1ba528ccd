// An event, taken apart into independent losses: for one neighbouring relation and one direction of
// it, laws with counts, whose sum is the loss of the whole. Repetition and composition dissolve;
// equal parts are counted together, all Gaussian noise becomes one variance, opaque zCDP one rho.
#pragma once

#include "privacy/loss_law.hpp"

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>

#include <optional>
#include <vector>

namespace shoal::privacy {

// removed: P is the output with the person, Q without. added: the reverse. Under replace_one they
// differ only where the bounds below do.
enum class Direction { removed, added };

struct Component {
  LawPointer upper;  // dominates the part
  LawPointer lower;  // is dominated by the worst case of the part; null: nothing is known
  double count = 1;
};

// One kind of step, repeated, for which the composition has a formula of its own.
struct UniformSteps {
  enum class Kind { randomized_response, bounded_range } kind;
  double epsilon;
  double delta;
};

struct RenyiTable {
  std::vector<double> orders;
  std::vector<double> epsilons;
  double count = 1;
};

struct Components {
  std::vector<Component> parts;
  // The sum of squared shifts of Gaussian noise, in standard deviations: rounded up and down.
  double variance_up = 0;
  double variance_down = 0;
  // Opaque zCDP, rounded up; at least the Gaussian noise of that rho is allowed by it.
  double rho = 0;
  std::vector<RenyiTable> tables;
  // Discrete noise so wide that it is taken as continuous: chances may be off by this factor's
  // logarithm, losses by this much, and this much may be lost at infinity.
  double mass_slack = 0;
  double infinite_slack = 0;
  double loss_slack_up = 0;
  double loss_slack_down = 0;
  // Set if nothing but these steps is there.
  std::optional<UniformSteps> uniform;
  double uniform_count = 0;

  bool empty() const { return parts.empty() && variance_up == 0 && rho == 0 && tables.empty(); }
  bool only_gaussian() const {
    return parts.empty() && rho == 0 && tables.empty() && mass_slack == 0;
  }
};

// Throws unsupported for what cannot be asked under this relation.
Components take_apart(const Event& event, Neighbors neighbors, Direction direction);

// Whether both directions are the same.
bool symmetric(const Event& event, Neighbors neighbors);

}  // namespace shoal::privacy
