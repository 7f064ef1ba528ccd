// The digital-goods auction, the standard example of private selection: one price for all, chosen
// from a public list. Each bid is one person's; bids and prices are integers in the same unit.
//
// Noise on the best price would not do: of bids 10, 10 and 500 the price 500 brings 500, and 501
// brings nothing. A selection adds its noise to what a price brings instead.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/mechanism/selection.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::mechanism {

// What a price brings: itself, times the number of bids that are at least as high. Throws
// invalid_argument unless the price is positive.
Int128 revenue(std::span<const std::int64_t> bids, std::int64_t price);

// The revenue of each price, in their order. Sorts a copy of the bids: n log n for n bids, and log
// n for each price.
std::vector<Int128> revenues(std::span<const std::int64_t> bids,
                             std::span<const std::int64_t> prices);

// How far the revenues of these prices move if one bid is added, removed or replaced: by the
// highest price in the list, and all the same way. That is a public number; the highest bid is not.
// The list must not depend on the bids either. Throws invalid_argument if there is no price, or one
// that is not positive.
ScoreSensitivity revenue_sensitivity(std::span<const std::int64_t> prices);

}  // namespace shoal::mechanism
