// The privacy profile of an event: delta as a function of epsilon, and epsilon as a function of
// delta, between a lower and an upper bound that provably bracket the truth.
//
// The truth is the worst case over neighbouring tables of whatever the event describes, for a plan
// declared in advance: parameters may not depend on earlier answers, the questions may. (For
// parameters chosen on the way there are filters, filter.hpp; a profile must never decide whether
// the next request fits.) Scores given to `exponential` events count as parameters.
//
// Invariants: lower <= truth <= upper always, whatever the tolerance; the tolerance only says how
// close they should come. Delta lies in [0, 1] and falls in epsilon; nothing composed is (0, 0).
// Proofs: contour.proof.md, loss_distribution.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace shoal::privacy {

// Two numbers with the truth between them. The upper one may be infinite.
struct Bounds {
  double lower = 0;
  double upper = 0;
  bool operator==(const Bounds&) const = default;
};

// How a pair of bounds was found.
enum class Engine { closed_form, contour, loss_distribution, renyi };

// "closed_form", "contour", "loss_distribution", "renyi".
std::string_view to_string(Engine engine);

struct Certified {
  Bounds bounds;
  Engine engine = Engine::closed_form;
};

struct ProfileOptions {
  // The relative gap between the bounds of epsilon that is aimed at, from 1e-9 to 0.1.
  double tolerance = 1e-6;
  // Which engine to use; renyi and closed_form are not for asking. Empty: by predicted cost. For
  // tests and comparisons.
  std::optional<Engine> engine = {};
};

class Profile {
 public:
  // Throws unsupported if the relation does not fit the event (sampled_without_replacement under
  // add_remove).
  Profile(const Event& event, Neighbors neighbors, ProfileOptions options = {});
  ~Profile();
  Profile(Profile&&) noexcept;
  Profile& operator=(Profile&&) noexcept;

  // The smallest delta for which (epsilon, delta) holds. Any finite epsilon, negative ones too.
  Certified delta(double epsilon) const;

  // Its natural logarithm, for deltas too small for a double. -infinity if delta is 0.
  Certified log_delta(double epsilon) const;

  // The smallest epsilon >= 0 for which (epsilon, delta) holds; infinite if none does.
  Certified epsilon(Delta delta) const;
  Certified epsilon_at_log_delta(double log_delta) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace shoal::privacy
