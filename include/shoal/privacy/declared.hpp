// Events declared in advance: the most that an answer may cost, stated before its noise is known
// because the noise depends on something that is released first (bounds that were found, say).
//
// A declared event says nothing but an amount: pure epsilon or rho-zCDP, and a chance to fail. What
// is released later under it must be shown to cost no more. Proof: src/privacy/charge.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <optional>

namespace shoal::privacy {

// In the ledger's units (charge.hpp). With epsilon units it is pure, otherwise zCDP.
struct Limit {
  std::optional<std::int64_t> epsilon_units = std::nullopt;
  std::int64_t rho_units = 0;  // where there are no epsilon units
  std::int64_t delta_units = 0;
  bool operator==(const Limit&) const = default;
};

Event declared(const Limit& limit);

// Whether releasing `actual` is within what was reserved: the same event, or one that costs no more
// than the amounts that a declared event states.
bool covers(const Event& reserved, const Event& actual, Neighbors neighbors);

}  // namespace shoal::privacy
