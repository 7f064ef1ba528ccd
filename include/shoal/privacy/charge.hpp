// Charges: what an event costs, as integers rounded up. Sums of floating-point numbers under-charge
// (400 times 0.01 sums to less than 4), so the ledger adds these and nothing else.
//
// A charge says: except with probability delta, the event is epsilon-differentially private, and
// rho-zCDP, and mu-Gaussian with mu^2 / 2 as stated; each alone, for the same way of failing. Every
// pure event is also epsilon * tanh(epsilon / 2) - zCDP and Gaussian of some mu; a Gaussian event
// has no finite pure bound, discrete Gaussian noise and zCDP in general are not Gaussian. Proof:
// charge.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <optional>

namespace shoal::privacy {

// Units are 10^-12 of epsilon, 10^-15 of rho and of mu^2 / 2, and 10^-18 of delta. int64 holds
// epsilon to 9 million, rho to 9 thousand and delta to 9, which is more than there is.
inline constexpr int kEpsilonDecimals = 12;
inline constexpr int kRhoDecimals = 15;
inline constexpr int kDeltaDecimals = 18;

// Which accountant made a stored charge. A new one re-prices the stored events; it never edits
// them. The first had neither delta nor Gaussian charges, and took every sensitivity to be the one
// under the relation of the account. The second charged `exponential` as Gaussian what anything
// pure of that epsilon is.
inline constexpr int kAccountantVersion = 3;

struct Charge {
  std::optional<std::int64_t> epsilon_units = 0;  // empty: no finite pure bound
  std::int64_t rho_units = 0;
  std::int64_t delta_units = 0;
  std::optional<std::int64_t> gaussian_units = 0;  // of mu^2 / 2; empty: no bound, or too large
  bool operator==(const Charge&) const = default;
};

// The charge of an event between neighbours of that relation, rounded up. Throws invalid_argument
// if it is too large to be counted, and unsupported for what has no charge at all: an rdp table,
// sampled_without_replacement under add_remove, and a group of what may fail and is not pure
// otherwise; alone or inside another event (repeated no times at all, they cost nothing).
Charge price(const Event& event, Neighbors neighbors);

// The charge of both. Throws invalid_argument on overflow: it never wraps.
Charge add(const Charge& a, const Charge& b);

// The event of noise whose sensitivities were worked out for that relation: under replace_one each
// `sensitivity` is how far an exchange moves the statistic, and is stated as such. (Nobody moves it
// further by coming or going: an exchange for somebody who adds nothing does that.)
Event stated_for(const Event& event, Neighbors neighbors);

}  // namespace shoal::privacy
