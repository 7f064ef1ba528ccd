// Regularisers: l2 / 2 |w|_2^2 + l1 |w|_1, added to the SUM of the losses. They are public data:
// none of their weights may depend on private rows, the number of rows included.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace shoal::learn {

// l2 and l1 both 0: none. Both positive: elastic net.
struct Regulariser {
  double l2 = 0;
  double l1 = 0;
  bool operator==(const Regulariser&) const = default;
};

// Throws invalid_argument unless both are finite and not negative.
void validate(const Regulariser& regulariser);

double value(const Regulariser& regulariser, std::span<const double> weights);

// The w that minimises regulariser(w) + |w - point|^2 / (2 step).
std::vector<double> proximal_point(const Regulariser& regulariser, std::span<const double> point,
                                   double step);

// "none", "l2", "l1", "elastic_net".
std::string_view name(const Regulariser& regulariser);

}  // namespace shoal::learn
