// The scores of the corners at one step of Frank-Wolfe: minus and plus each coordinate of the
// gradient, exact integers. Secret.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/learn/frank_wolfe.hpp>
#include <shoal/learn/rows.hpp>

#include <span>
#include <vector>

namespace shoal::learn {

// Candidate 2 j is the corner with +radius at j, 2 j + 1 that with -radius.
std::vector<Int128> corner_scores(const FrankWolfe& method, const Problem& problem,
                                  const RowSource& rows, std::span<const double> weights,
                                  unsigned threads);

}  // namespace shoal::learn
