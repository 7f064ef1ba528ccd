// P(score_i + scale * X_i is the highest), as an integral over the winner's noise. Approximations
// in floating point, for audits and tests; no guarantee rests on them.
#pragma once

#include <shoal/base/int128.hpp>

#include <cstddef>
#include <span>

namespace shoal::mechanism {

// X exponential. For scores in range and `winner` one of them.
double log_win_exponential(std::span<const Int128> scores, std::size_t winner, double scale);

// X Laplace. Minus infinity for a winner more than 700 scales below the best, whose chance is no
// double.
double log_win_laplace(std::span<const Int128> scores, std::size_t winner, double scale);

}  // namespace shoal::mechanism
