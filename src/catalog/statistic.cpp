#include <shoal/base/error.hpp>
#include <shoal/catalog/statistic.hpp>

#include <algorithm>

namespace shoal::catalog {
namespace {

std::int64_t largest_square(const GridRange& range) { return range.radius() * range.radius(); }

}  // namespace

std::int64_t square_offset(const GridRange& range) {
  SHOAL_CHECK(range.radius() <= kMaxSquaredRadius);
  return largest_square(range) / 2;
}

double Statistic::unit_size() const {
  switch (kind) {
    case StatisticKind::plain_sum:
    case StatisticKind::centred_sum:
      return range.grid.step();
    case StatisticKind::centred_squares:
      return range.grid.step() * range.grid.step();
    case StatisticKind::units:
    case StatisticKind::rows:
    case StatisticKind::values:
    case StatisticKind::distinct:
    case StatisticKind::leaves:
      break;
  }
  return 1;
}

std::int64_t Statistic::least_per_row() const {
  switch (kind) {
    case StatisticKind::plain_sum:
      return std::min<std::int64_t>(range.lower, 0);
    case StatisticKind::centred_sum:
      return -range.radius();
    case StatisticKind::centred_squares:
      return -square_offset(range);
    case StatisticKind::units:
    case StatisticKind::rows:
    case StatisticKind::values:
    case StatisticKind::distinct:
    case StatisticKind::leaves:
      break;
  }
  return 0;
}

std::int64_t Statistic::most_per_row() const {
  switch (kind) {
    case StatisticKind::plain_sum:
      return std::max<std::int64_t>(range.upper, 0);
    case StatisticKind::centred_sum:
      return range.radius();
    case StatisticKind::centred_squares:
      return largest_square(range) - square_offset(range);
    case StatisticKind::units:
    case StatisticKind::rows:
    case StatisticKind::values:
    case StatisticKind::distinct:
    case StatisticKind::leaves:
      break;
  }
  return 1;
}

}  // namespace shoal::catalog
