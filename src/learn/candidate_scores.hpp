// The scores of candidates: minus the sum of what each row's loss is above the row's least one, in
// steps. Secret.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/learn/exponential_choice.hpp>
#include <shoal/learn/rows.hpp>

#include <vector>

namespace shoal::learn {

std::vector<Int128> candidate_scores(const ExponentialChoice& method, const Problem& problem,
                                     const RowSource& rows, unsigned threads);

}  // namespace shoal::learn
