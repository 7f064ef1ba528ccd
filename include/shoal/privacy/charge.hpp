// Charges: what an event costs, as integers rounded up. Sums of floating-point numbers under-charge
// (400 times 0.01 sums to less than 4), so the ledger adds these and nothing else.
//
// First accountant: pure epsilon by summing and zCDP by summing, side by side. Every pure event is
// also epsilon * tanh(epsilon / 2) - zCDP; a Gaussian event has no finite pure bound. There is no
// delta in a charge, so events that need one of their own have no price here. Proof:
// charge.proof.md.
#pragma once

#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <optional>

namespace shoal::privacy {

// Units are 10^-12 of epsilon and 10^-15 of rho. int64 holds epsilon to 9 million and rho to 9
// thousand.
inline constexpr int kEpsilonDecimals = 12;
inline constexpr int kRhoDecimals = 15;

// Which accountant made a stored charge. A new one re-prices the stored events; it never edits
// them.
inline constexpr int kAccountantVersion = 1;

struct Charge {
  std::optional<std::int64_t> epsilon_units = 0;  // empty: no finite pure bound
  std::int64_t rho_units = 0;
  bool operator==(const Charge&) const = default;
};

// The charge of an event, rounded up. Throws invalid_argument if it is too large to be counted, and
// unsupported for leaky_randomized_response and name_and_shame with a delta above 0, alone or
// inside another event (repeated no times at all, they cost nothing).
Charge price(const Event& event);

// The charge of both. Throws invalid_argument on overflow: it never wraps.
Charge add(const Charge& a, const Charge& b);

}  // namespace shoal::privacy
