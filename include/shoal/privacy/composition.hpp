// Composition theorems by name: what k steps that are each (epsilon, delta)-differentially private
// are together, and what one step is for a group.
//
// The optimal composition of Kairouz, Oh and Viswanath (2015) is exact: bounds on both sides, for
// every real epsilon. The others are there for teaching, for comparison and for guarantees that
// were once stated with them; all are upper bounds, rounded up, and never better than the optimal
// one. All of them hold when the steps are chosen after seeing earlier answers, as long as their
// number and parameters were fixed before. Doubles stand for their exact values.
// Proofs: composition.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace shoal::privacy {

// (epsilon, delta)-differential privacy: epsilon in [0, kMaxEpsilon] as an argument, delta in
// [0, 1]. Results may have any epsilon, infinity included.
struct Guarantee {
  double epsilon = 0;
  double delta = 0;
  bool operator==(const Guarantee&) const = default;
};

// Counts and group sizes from 0 (1 for groups) to this. Everything below throws invalid_argument
// for arguments outside the stated ranges.
inline constexpr std::int64_t kMaxCount = 1'000'000'000;

// The sums.
Guarantee basic_composition_up(const Guarantee& step, std::int64_t count);
Guarantee basic_composition_up(std::span<const Guarantee> steps);

// epsilon sqrt(2 k ln(1/s)) + k epsilon (e^epsilon - 1), delta k delta_0 + s, for the slack s in
// (0, 1): Dwork, Rothblum and Vadhan 2010.
Guarantee dwork_rothblum_vadhan_up(const Guarantee& step, std::int64_t count, double slack);

// The same with (e^epsilon - 1) / (e^epsilon + 1) = tanh(epsilon / 2) in the second term, which is
// the mean loss of randomized response: the form that is usually taught as advanced composition.
Guarantee advanced_composition_up(const Guarantee& step, std::int64_t count, double slack);

// The smallest of three forms, of which basic and advanced composition are two: Kairouz, Oh and
// Viswanath 2015, theorem 3.4. Delta is 1 - (1 - delta_0)^k (1 - s).
Guarantee simplified_optimal_composition_up(const Guarantee& step, std::int64_t count,
                                            double slack);

// The smallest delta for which every composition of `count` such steps is (epsilon, delta)-private.
// Any finite epsilon, negative ones too. The bounds are a few units in the last place apart.
Bounds optimal_composition_delta(const Guarantee& step, std::int64_t count, double epsilon);

// Its natural logarithm, for deltas too small for a double; -infinity for 0.
Bounds optimal_composition_log_delta(const Guarantee& step, std::int64_t count, double epsilon);

// The smallest epsilon >= 0 for which it is (epsilon, delta)-private; infinite if there is none.
Bounds optimal_composition_epsilon(const Guarantee& step, std::int64_t count, Delta delta);

// For log_delta from -100000 to below 0.
Bounds optimal_composition_epsilon_at_log_delta(const Guarantee& step, std::int64_t count,
                                                double log_delta);

// What holds for one person, for a group of `size` >= 1.
// (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)).
Guarantee group_privacy_up(const Guarantee& individual, std::int64_t size);
// From a whole profile: delta_k(epsilon) = delta(epsilon / k) (e^epsilon - 1) / (e^(epsilon/k) -
// 1). `delta_up` gives upper bounds for one person. Requires epsilon >= 0, finite.
double group_delta_up(const std::function<double(double)>& delta_up, double epsilon,
                      std::int64_t size);
// k^2 rho.
Rho group_zcdp_up(Rho rho, std::int64_t size);
// k mu. Requires a finite mu >= 0.
double group_gdp_up(double mu, std::int64_t size);

}  // namespace shoal::privacy
