#include "synth/table_projection.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <limits>

namespace shoal::synth {
namespace {

double sum_of(const double* from, std::size_t many) {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  std::size_t i = 0;
  for (; i + 4 <= many; i += 4) {
    a += from[i];
    b += from[i + 1];
    c += from[i + 2];
    d += from[i + 3];
  }
  for (; i < many; ++i) a += from[i];
  return (a + b) + (c + d);
}

}  // namespace

TableProjection::TableProjection(std::span<const std::uint32_t> sizes, data::AttributeSet large,
                                 data::AttributeSet small) {
  SHOAL_CHECK(small.within(large));
  struct Run {
    std::size_t cells;
    bool inside;
  };
  std::vector<Run> runs;
  for (const std::size_t column : large.members()) {
    const std::size_t size = sizes[column];
    large_cells_ *= size;
    const bool inside = small.contains(column);
    if (inside) small_cells_ *= size;
    if (size == 1) continue;
    if (!runs.empty() && runs.back().inside == inside) {
      runs.back().cells *= size;
    } else {
      runs.push_back({size, inside});
    }
  }
  if (!runs.empty()) {
    columns_ = runs.back().cells;
    fastest_inside_ = runs.back().inside;
    runs.pop_back();
  }
  if (!runs.empty()) {
    rows_ = runs.back().cells;
    runs.pop_back();
  }
  std::size_t stride = fastest_inside_ ? columns_ : rows_;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    outer_.push_back({run->cells, run->inside ? stride : 0});
    if (run->inside) stride *= run->cells;
  }
}

// Calls row(large, small) for each contiguous piece of the large table: with one small number for
// the whole piece, or segment(large, small) with one for each of its cells.
template <class Large, class Small, class Row, class Segment>
void TableProjection::walk(Large* large, Small* small, Row row, Segment segment) const {
  std::vector<std::size_t> position(outer_.size());
  std::size_t offset = 0;
  while (true) {
    Small* place = small + offset;
    for (std::size_t i = 0; i < rows_; ++i, large += columns_) {
      if (fastest_inside_) {
        segment(large, place);
      } else {
        row(large, place + i);
      }
    }
    std::size_t axis = 0;
    for (; axis < outer_.size(); ++axis) {
      offset += outer_[axis].small_stride;
      if (++position[axis] < outer_[axis].cells) break;
      offset -= outer_[axis].small_stride * outer_[axis].cells;
      position[axis] = 0;
    }
    if (axis == outer_.size()) return;
  }
}

void TableProjection::spread(std::span<const double> small, std::span<double> large) const {
  const std::size_t many = columns_;
  walk(
      large.data(), small.data(),
      [many](double* to, const double* one) { std::fill_n(to, many, *one); },
      [many](double* to, const double* each) { std::copy_n(each, many, to); });
}

void TableProjection::add(std::span<const double> small, std::span<double> large) const {
  const std::size_t many = columns_;
  walk(
      large.data(), small.data(),
      [many](double* to, const double* one) {
        const double summand = *one;
        for (std::size_t i = 0; i < many; ++i) to[i] += summand;
      },
      [many](double* __restrict to, const double* __restrict each) {
        for (std::size_t i = 0; i < many; ++i) to[i] += each[i];
      });
}

void TableProjection::multiply(std::span<const double> small, std::span<double> large) const {
  const std::size_t many = columns_;
  walk(
      large.data(), small.data(),
      [many](double* to, const double* one) {
        const double factor = *one;
        for (std::size_t i = 0; i < many; ++i) to[i] *= factor;
      },
      [many](double* __restrict to, const double* __restrict each) {
        for (std::size_t i = 0; i < many; ++i) to[i] *= each[i];
      });
}

void TableProjection::add_up(std::span<const double> large, std::span<double> small) const {
  std::fill(small.begin(), small.end(), 0.0);
  const std::size_t many = columns_;
  walk(
      large.data(), small.data(),
      [many](const double* from, double* one) { *one += sum_of(from, many); },
      [many](const double* __restrict from, double* __restrict each) {
        for (std::size_t i = 0; i < many; ++i) each[i] += from[i];
      });
}

void TableProjection::largest(std::span<const double> large, std::span<double> small) const {
  std::fill(small.begin(), small.end(), -std::numeric_limits<double>::infinity());
  const std::size_t many = columns_;
  walk(
      large.data(), small.data(),
      [many](const double* from, double* one) {
        *one = std::max(*one, *std::max_element(from, from + many));
      },
      [many](const double* __restrict from, double* __restrict each) {
        for (std::size_t i = 0; i < many; ++i) each[i] = std::max(each[i], from[i]);
      });
}

std::vector<double> transpose(std::span<const double> table, std::span<const std::size_t> sizes,
                              std::span<const std::size_t> order) {
  std::vector<std::size_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  std::vector<double> result(table.size());
  if (order.empty()) {
    result[0] = table[0];
    return result;
  }
  std::vector<std::size_t> position(order.size());
  const std::size_t last = order.size() - 1;
  const std::size_t inner = sizes[order[last]];
  const std::size_t step = strides[order[last]];
  std::size_t from = 0;
  for (std::size_t to = 0; to < table.size(); to += inner) {
    for (std::size_t i = 0; i < inner; ++i) result[to + i] = table[from + i * step];
    for (std::size_t axis = last; axis-- > 0;) {
      from += strides[order[axis]];
      if (++position[axis] < sizes[order[axis]]) break;
      from -= strides[order[axis]] * sizes[order[axis]];
      position[axis] = 0;
    }
  }
  return result;
}

}  // namespace shoal::synth
