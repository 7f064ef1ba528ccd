#include <shoal/base/error.hpp>
#include <shoal/data/attribute_set.hpp>

#include <limits>

namespace shoal::data {

AttributeSet AttributeSet::of(std::initializer_list<std::size_t> columns) {
  AttributeSet set;
  for (const std::size_t column : columns) {
    SHOAL_CHECK(column < kMaxAttributes);
    set = set | single(column);
  }
  return set;
}

std::vector<std::size_t> AttributeSet::members() const {
  std::vector<std::size_t> columns;
  columns.reserve(size());
  for (std::uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
    columns.push_back(static_cast<std::size_t>(std::countr_zero(rest)));
  }
  return columns;
}

std::int64_t cell_count(std::span<const std::uint32_t> sizes, AttributeSet set) {
  std::int64_t cells = 1;
  for (std::uint64_t rest = set.bits(); rest != 0; rest &= rest - 1) {
    const auto column = static_cast<std::size_t>(std::countr_zero(rest));
    SHOAL_CHECK(column < sizes.size());
    if (__builtin_mul_overflow(cells, static_cast<std::int64_t>(sizes[column]), &cells)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return cells;
}

}  // namespace shoal::data
