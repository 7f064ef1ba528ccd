#include "synth/contraction.hpp"

#include "synth/cell_kernels.hpp"
#include "synth/table_projection.hpp"

#include <algorithm>
#include <array>

namespace shoal::synth {
namespace {

using data::AttributeSet;
using numeric::Four;
using numeric::kLanes;
using numeric::load;
using numeric::store;

// Rows that are worked on at a time: with two fours of columns of each, sums stay in registers.
constexpr std::size_t kRows = 4;

// Where the cells of a group of columns are in a table, as if its other columns had code 0; in the
// order of the group's own cells.
std::vector<std::size_t> places_of(std::span<const std::uint32_t> sizes, AttributeSet group,
                                   AttributeSet table) {
  std::vector<std::size_t> places = {0};
  std::size_t stride = static_cast<std::size_t>(data::cell_count(sizes, table));
  for (const std::size_t column : table.members()) {
    stride /= sizes[column];
    if (!group.contains(column)) continue;
    std::vector<std::size_t> finer;
    finer.reserve(places.size() * sizes[column]);
    for (const std::size_t place : places) {
      for (std::size_t code = 0; code < sizes[column]; ++code) {
        finer.push_back(place + code * stride);
      }
    }
    places = std::move(finer);
  }
  return places;
}

// The same, with how many of the cells are neighbours in the table. Below eight, calls that copy
// them take longer than copying one by one.
struct Places {
  std::vector<std::size_t> at;
  std::size_t stretch = 1;

  explicit Places(std::vector<std::size_t> places) : at(std::move(places)) {
    while (stretch < at.size() && at[stretch] == stretch) ++stretch;
  }
  void gather(const double* from, double* to) const {
    if (stretch < 8) {
      for (std::size_t j = 0; j < at.size(); ++j) to[j] = from[at[j]];
    } else {
      for (std::size_t j = 0; j < at.size(); j += stretch)
        std::copy_n(from + at[j], stretch, to + j);
    }
  }
  void scatter(const double* from, double* to) const {
    if (stretch < 8) {
      for (std::size_t j = 0; j < at.size(); ++j) to[at[j]] = from[j];
    } else {
      for (std::size_t j = 0; j < at.size(); j += stretch)
        std::copy_n(from + j, stretch, to + at[j]);
    }
  }
};

ColumnTable trimmed(std::span<const std::uint32_t> sizes, const ColumnTable& table,
                    AttributeSet needed) {
  const AttributeSet rest = table.set & needed;
  const TableProjection projection(sizes, table.set, rest);
  ColumnTable smaller{rest, std::vector<double>(projection.small_cells())};
  projection.add_up(table.cells, smaller.cells);
  return smaller;
}

// sums[r * width + j] = the sum over k of x[r * many + k] * y[k * width + j], added in the order of
// k, for `fours` fours of j.
template <std::size_t rows, std::size_t fours>
SHOAL_INLINE void multiply_block(const double* x, const double* y, std::size_t many,
                                 std::size_t width, double* sums) {
  Four total[rows][fours] = {};
  for (std::size_t k = 0; k < many; ++k, y += width) {
    Four at[fours];
    for (std::size_t f = 0; f < fours; ++f) load(y + f * kLanes, at[f]);
    for (std::size_t r = 0; r < rows; ++r) {
      const double factor = x[r * many + k];
      for (std::size_t f = 0; f < fours; ++f) total[r][f] += factor * at[f];
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < fours; ++f) store(total[r][f], sums + r * width + f * kLanes);
  }
}

template <std::size_t rows>
SHOAL_INLINE void multiply_rows(const double* x, const double* y, std::size_t many,
                                std::size_t width, double* sums) {
  std::size_t j = 0;
  for (; j + 2 * kLanes <= width; j += 2 * kLanes) {
    multiply_block<rows, 2>(x, y + j, many, width, sums + j);
  }
  if (j < width) multiply_block<rows, 1>(x, y + j, many, width, sums + j);
}

SHOAL_INLINE void multiply_any(std::size_t rows, const double* x, const double* y, std::size_t many,
                               std::size_t width, double* sums) {
  switch (rows) {
    case 1:
      return multiply_rows<1>(x, y, many, width, sums);
    case 2:
      return multiply_rows<2>(x, y, many, width, sums);
    case 3:
      return multiply_rows<3>(x, y, many, width, sums);
    default:
      return multiply_rows<kRows>(x, y, many, width, sums);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void multiply_avx2(std::size_t rows, const double* x,
                                                   const double* y, std::size_t many,
                                                   std::size_t width, double* sums) {
  multiply_any(rows, x, y, many, width, sums);
}
#endif

// For up to kRows rows; the width is a multiple of four.
void multiply(bool wide, std::size_t rows, const double* x, const double* y, std::size_t many,
              std::size_t width, double* sums) {
#if defined(__x86_64__)
  if (wide) return multiply_avx2(rows, x, y, many, width, sums);
#endif
  multiply_any(rows, x, y, many, width, sums);
}

// Whether the columns of the right table, rather than those of the left one, are to be next to each
// other in the product: where they are in the result too, unless they are few.
bool right_goes_fastest(std::size_t left_cells, std::size_t right_cells, AttributeSet left,
                        AttributeSet right) {
  constexpr std::size_t kFew = 2 * kLanes;
  const bool right_last = right.bits() > left.bits();
  const std::size_t last = right_last ? right_cells : left_cells;
  const std::size_t other = right_last ? left_cells : right_cells;
  return right_last == (last >= kFew || other < kFew);
}

}  // namespace

ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, AttributeSet kept, bool wide) {
  if (!a.set.within(kept | b.set)) {
    return contract(sizes, trimmed(sizes, a, kept | b.set), b, kept, wide);
  }
  if (!b.set.within(kept | a.set)) {
    return contract(sizes, a, trimmed(sizes, b, kept | a.set), kept, wide);
  }
  const auto count = [&](AttributeSet set) {
    return static_cast<std::size_t>(data::cell_count(sizes, set));
  };
  const AttributeSet shared = a.set & b.set;
  const AttributeSet only_a = a.set.without(shared);
  const AttributeSet only_b = b.set.without(shared);
  const bool in_order = right_goes_fastest(count(only_a), count(only_b), only_a, only_b);
  const ColumnTable& left = in_order ? a : b;
  const ColumnTable& right = in_order ? b : a;
  const AttributeSet rows = in_order ? only_a : only_b;
  const AttributeSet columns = in_order ? only_b : only_a;
  const AttributeSet batch = shared & kept;
  const AttributeSet inner = shared.without(kept);

  ColumnTable result{batch | rows | columns, {}};
  result.cells.resize(count(result.set));
  const auto left_batch = places_of(sizes, batch, left.set);
  const auto left_rows = places_of(sizes, rows, left.set);
  const Places left_inner(places_of(sizes, inner, left.set));
  const auto right_batch = places_of(sizes, batch, right.set);
  const auto right_inner = places_of(sizes, inner, right.set);
  const Places right_columns(places_of(sizes, columns, right.set));
  const auto to_batch = places_of(sizes, batch, result.set);
  const auto to_rows = places_of(sizes, rows, result.set);
  const Places to_columns(places_of(sizes, columns, result.set));

  const std::size_t many = left_inner.at.size();
  const std::size_t width = (to_columns.at.size() + kLanes - 1) / kLanes * kLanes;
  // Whether the right table is what is multiplied by as it is.
  const bool packed = right_columns.stretch == width && (many == 1 || right_inner[1] == width) &&
                      right_inner.back() == (many - 1) * width;
  std::vector<double> x(kRows * many);
  std::vector<double> y(packed ? 0 : many * width);  // what is beyond the columns stays 0
  std::vector<double> sums(kRows * width);
  for (std::size_t block = 0; block < to_batch.size(); ++block) {
    const double* right_block = right.cells.data() + right_batch[block];
    for (std::size_t k = 0; !packed && k < many; ++k) {
      right_columns.gather(right_block + right_inner[k], y.data() + k * width);
    }
    for (std::size_t i = 0; i < to_rows.size(); i += kRows) {
      const std::size_t height = std::min(kRows, to_rows.size() - i);
      for (std::size_t r = 0; r < height; ++r) {
        left_inner.gather(left.cells.data() + left_batch[block] + left_rows[i + r],
                          x.data() + r * many);
      }
      multiply(wide, height, x.data(), packed ? right_block : y.data(), many, width, sums.data());
      for (std::size_t r = 0; r < height; ++r) {
        to_columns.scatter(sums.data() + r * width,
                           result.cells.data() + to_batch[block] + to_rows[i + r]);
      }
    }
  }
  return result;
}

ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, AttributeSet kept) {
  return contract(sizes, a, b, kept, has_avx2());
}

}  // namespace shoal::synth
