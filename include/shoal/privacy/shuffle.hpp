// Amplification by shuffling: n people each report through an epsilon-differentially private
// randomizer of their own, and only the multiset of reports is seen.
//
// The bound that holds for every randomizer is that of Feldman, McMillan and Talwar (2021): it
// hides one person among C "clones", C ~ Bin(n - 1, e^-epsilon), and its divergence is summed here
// exactly. Relation: one report is replaced (replace_one). The guarantee is `upper`; `lower` bounds
// the same sum from below, not the best that a given randomizer could have.
//
// `local` is the epsilon of one report, in (0, kMaxEpsilon] (0 is fine, and gives 0), `users` is
// from 1 to kMaxUsers; anything else throws invalid_argument. Doubles stand for their exact values.
// With one user there is no amplification: the profile of randomized response. Proofs:
// shuffle.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstdint>
#include <optional>

namespace shoal::privacy {

inline constexpr std::int64_t kMaxUsers = 1'000'000'000;

// Any finite epsilon. Never above the delta of one randomized response.
Bounds shuffle_delta(Epsilon local, std::int64_t users, double epsilon);
Bounds shuffle_epsilon(Epsilon local, std::int64_t users, Delta delta);

// The closed form of the same paper, rounded up: looser, by a factor of about 3 at 10^5 users.
// With a = 8 sqrt(e^l ln(4 / delta) / n) + 8 e^l / n it is
//   ln(1 + a (1 - e^-l) / (1 + e^-l / (1 + a))),
// as the authors' program has it; their theorem is smaller by the last fraction. Empty where it is
// not proven: for l > ln(n / (16 ln(4 / delta))), or delta = 0.
std::optional<double> shuffle_closed_form_up(Epsilon local, std::int64_t users, Delta delta);

// The smaller divergence of the 2023 paper ("stronger privacy amplification by shuffling"), with
// C ~ Bin(n - 1, 2 / (e^epsilon + 1)). ONLY for randomizers that the caller knows to be in its
// restricted class, such as randomized response of two categories. The paper's claim for all
// randomizers was withdrawn by an erratum, so nothing in Shoal uses this by itself.
Bounds shuffle_delta_of_restricted_class(Epsilon local, std::int64_t users, double epsilon);
Bounds shuffle_epsilon_of_restricted_class(Epsilon local, std::int64_t users, Delta delta);

}  // namespace shoal::privacy
