// All ways to compose, side by side: what each theorem says about the same event, and why not where
// it says nothing. For comparison and teaching; what to report is the certified profile.
//
// Proofs: composition.proof.md, renyi_conversion.proof.md, charge.proof.md, profile.hpp's.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::privacy {

enum class MethodKind {
  upper_bound,  // the truth is at most that
  bracket,      // and at least the lower one
  estimate,     // neither: must not be reported or charged
};

// "upper bound", "bracket", "estimate".
std::string_view to_string(MethodKind kind);

struct Method {
  std::string name;
  MethodKind kind = MethodKind::upper_bound;
  // Epsilon or delta, as asked; may be infinite. Empty: not applicable, and the note says why.
  std::optional<double> value = {};
  std::optional<double> lower = {};  // of a bracket
  std::string note = {};
};

// In this order: basic, advanced, dwork_rothblum_vadhan, simplified_optimal, optimal, zcdp, rdp,
// gdp, gdp_central_limit, certified. The smallest epsilon at a delta; the smallest delta at an
// epsilon >= 0, finite (else invalid_argument). Throws unsupported if the relation does not fit the
// event.
std::vector<Method> methods_at_delta(const Event& event, Neighbors neighbors, Delta delta,
                                     ProfileOptions options = {});
std::vector<Method> methods_at_epsilon(const Event& event, Neighbors neighbors, double epsilon,
                                       ProfileOptions options = {});

// An upper bound of the Renyi divergence of an order above 1 (infinity included) between the
// outputs on neighbouring tables, in the worse direction. Infinite where none is known.
double renyi_divergence_up(const Event& event, Neighbors neighbors, double order);

}  // namespace shoal::privacy
