#include <shoal/base/error.hpp>
#include <shoal/mechanism/auction.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::mechanism {
namespace {

void check_price(std::int64_t price) {
  if (price <= 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a price is {}; it must be above 0", price));
  }
}

}  // namespace

Int128 revenue(std::span<const std::int64_t> bids, std::int64_t price) {
  check_price(price);
  const auto buyers =
      std::count_if(bids.begin(), bids.end(), [price](std::int64_t bid) { return bid >= price; });
  return static_cast<Int128>(price) * buyers;
}

std::vector<Int128> revenues(std::span<const std::int64_t> bids,
                             std::span<const std::int64_t> prices) {
  std::vector<std::int64_t> sorted(bids.begin(), bids.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Int128> result;
  result.reserve(prices.size());
  for (const std::int64_t price : prices) {
    check_price(price);
    const auto buyers = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), price);
    result.push_back(static_cast<Int128>(price) * buyers);
  }
  return result;
}

ScoreSensitivity revenue_sensitivity(std::span<const std::int64_t> prices) {
  if (prices.empty()) {
    throw Error(ErrorCode::invalid_argument, "the list of prices is empty; give at least one");
  }
  std::for_each(prices.begin(), prices.end(), check_price);
  return {Sensitivity(*std::max_element(prices.begin(), prices.end())), ScoreChange::one_sided};
}

}  // namespace shoal::mechanism
