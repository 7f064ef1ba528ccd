#include <shoal/catalog/statistic.hpp>

#include <algorithm>

namespace shoal::catalog {

std::int64_t Statistic::least_per_row() const {
  switch (kind) {
    case StatisticKind::rows:
    case StatisticKind::values:
      return 0;
    case StatisticKind::plain_sum:
      return std::min<std::int64_t>(range.lower, 0);
    case StatisticKind::centred_sum:
      break;
  }
  return -range.radius();
}

std::int64_t Statistic::most_per_row() const {
  switch (kind) {
    case StatisticKind::rows:
    case StatisticKind::values:
      return 1;
    case StatisticKind::plain_sum:
      return std::max<std::int64_t>(range.upper, 0);
    case StatisticKind::centred_sum:
      break;
  }
  return range.radius();
}

}  // namespace shoal::catalog
