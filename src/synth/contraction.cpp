#include "synth/contraction.hpp"

#include "synth/cell_kernels.hpp"
#include "synth/table_projection.hpp"
#include "synth/worker_team.hpp"

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
  // Calls copy(cell of the range, its place, how many from there on are neighbours).
  template <class Copy>
  void for_stretches(CellRange range, Copy copy) const {
    for (std::size_t j = range.begin; j < range.end;) {
      const std::size_t many = std::min(range.end - j, stretch - j % stretch);
      copy(j - range.begin, at[j], many);
      j += many;
    }
  }
  void gather(CellRange range, const double* from, double* to) const {
    if (stretch < 8) {
      for (std::size_t j = range.begin; j < range.end; ++j) *to++ = from[at[j]];
    } else {
      for_stretches(range, [&](std::size_t cell, std::size_t place, std::size_t many) {
        std::copy_n(from + place, many, to + cell);
      });
    }
  }
  void scatter(CellRange range, const double* from, double* to) const {
    if (stretch < 8) {
      for (std::size_t j = range.begin; j < range.end; ++j) to[at[j]] = *from++;
    } else {
      for_stretches(range, [&](std::size_t cell, std::size_t place, std::size_t many) {
        std::copy_n(from + cell, many, to + place);
      });
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

// What is worked on at a time, so that it stays near: a panel of the right table of this many
// places to add up over and columns, and the sums of this many rows.
constexpr std::size_t kDepth = 256;
constexpr std::size_t kWidth = 128;
constexpr std::size_t kHeight = 64;

// A part of a product: rows of `depth` numbers each, times a panel of `width` columns, a multiple
// of four.
struct Panel {
  const double* x;
  const double* y;
  std::size_t depth;
  std::size_t width;
};

// sums[r * width + j] += the sum over k of x[r * depth + k] * y[k * width + j], added one by one in
// the order of k, for `fours` fours of columns from j on.
template <std::size_t rows, std::size_t fours>
SHOAL_INLINE void multiply_block(const Panel& panel, std::size_t j, double* sums) {
  Four total[rows][fours];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < fours; ++f) {
      load(sums + r * panel.width + j + f * kLanes, total[r][f]);
    }
  }
  const double* y = panel.y + j;
  for (std::size_t k = 0; k < panel.depth; ++k, y += panel.width) {
    Four at[fours];
    for (std::size_t f = 0; f < fours; ++f) load(y + f * kLanes, at[f]);
    for (std::size_t r = 0; r < rows; ++r) {
      const double factor = panel.x[r * panel.depth + k];
      for (std::size_t f = 0; f < fours; ++f) total[r][f] += factor * at[f];
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < fours; ++f) {
      store(total[r][f], sums + r * panel.width + j + f * kLanes);
    }
  }
}

template <std::size_t rows>
SHOAL_INLINE void multiply_rows(const Panel& panel, double* sums) {
  std::size_t j = 0;
  for (; j + 2 * kLanes <= panel.width; j += 2 * kLanes) multiply_block<rows, 2>(panel, j, sums);
  if (j < panel.width) multiply_block<rows, 1>(panel, j, sums);
}

SHOAL_INLINE void multiply_any(std::size_t rows, const Panel& panel, double* sums) {
  switch (rows) {
    case 1:
      return multiply_rows<1>(panel, sums);
    case 2:
      return multiply_rows<2>(panel, sums);
    case 3:
      return multiply_rows<3>(panel, sums);
    default:
      return multiply_rows<kRows>(panel, sums);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void multiply_avx2(std::size_t rows, const Panel& panel,
                                                   double* sums) {
  multiply_any(rows, panel, sums);
}
#endif

// For up to kRows rows.
void multiply(bool wide, std::size_t rows, const Panel& panel, double* sums) {
#if defined(__x86_64__)
  if (wide) return multiply_avx2(rows, panel, sums);
#endif
  multiply_any(rows, panel, sums);
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

// Where the cells of the two tables and of their product are: for each cell of the columns that
// stay in common a matrix product, its inner places being those that are added up over.
struct TableProduct {
  std::vector<std::size_t> left_batch;
  std::vector<std::size_t> left_rows;
  Places left_inner;
  std::vector<std::size_t> right_batch;
  std::vector<std::size_t> right_inner;
  Places right_columns;
  std::vector<std::size_t> to_batch;
  std::vector<std::size_t> to_rows;
  Places to_columns;

  // Whether the right table is one panel after another as it is.
  bool packed() const {
    const std::size_t width = right_columns.at.size();
    const std::size_t many = right_inner.size();
    return width <= kWidth && width % kLanes == 0 && right_columns.stretch == width &&
           (many == 1 || right_inner[1] == width) && right_inner.back() == (many - 1) * width;
  }

  // By tiles of the product, each from panels of both tables, so that tables of any size are read
  // from near.
  void work_out(const double* left, const double* right, double* to, bool wide) const {
    const bool as_it_is = packed();
    const std::size_t depth = std::min(kDepth, right_inner.size());
    const std::size_t widest = padded(std::min(kWidth, to_columns.at.size()));
    std::vector<double> x(kRows * depth);
    std::vector<double> y(as_it_is ? 0 : depth * widest);
    std::vector<double> sums(std::min(kHeight, to_rows.size()) * widest);
    for (std::size_t block = 0; block < to_batch.size(); ++block) {
      const double* const left_block = left + left_batch[block];
      const double* const right_block = right + right_batch[block];
      for (std::size_t j = 0; j < to_columns.at.size(); j += kWidth) {
        const CellRange columns = {j, std::min(j + kWidth, to_columns.at.size())};
        const std::size_t width = padded(columns.end - columns.begin);
        for (std::size_t i = 0; i < to_rows.size(); i += kHeight) {
          const CellRange rows = {i, std::min(i + kHeight, to_rows.size())};
          std::fill_n(sums.begin(), (rows.end - rows.begin) * width, 0.0);
          for (std::size_t k = 0; k < right_inner.size(); k += kDepth) {
            const CellRange inner = {k, std::min(k + kDepth, right_inner.size())};
            Panel panel = {x.data(), y.data(), inner.end - inner.begin, width};
            if (as_it_is) {
              panel.y = right_block + k * width;
            } else if (i == 0 || right_inner.size() > kDepth) {
              for (std::size_t at = inner.begin; at < inner.end; ++at) {
                right_columns.gather(columns, right_block + right_inner[at],
                                     y.data() + (at - inner.begin) * width);
              }
            }
            add_rows(rows, inner, left_block, panel, x, sums, wide);
          }
          for (std::size_t row = rows.begin; row < rows.end; ++row) {
            to_columns.scatter(columns, sums.data() + (row - rows.begin) * width,
                               to + to_batch[block] + to_rows[row]);
          }
        }
      }
    }
  }

 private:
  static std::size_t padded(std::size_t width) { return (width + kLanes - 1) / kLanes * kLanes; }

  void add_rows(CellRange rows, CellRange inner, const double* left_block, const Panel& panel,
                std::span<double> x, std::span<double> sums, bool wide) const {
    for (std::size_t i = rows.begin; i < rows.end; i += kRows) {
      const std::size_t height = std::min(kRows, rows.end - i);
      for (std::size_t r = 0; r < height; ++r) {
        left_inner.gather(inner, left_block + left_rows[i + r], x.data() + r * panel.depth);
      }
      multiply(wide, height, panel, sums.data() + (i - rows.begin) * panel.width);
    }
  }
};

}  // namespace

ColumnTable slice(std::span<const std::uint32_t> sizes, AttributeSet table,
                  std::span<const double> cells, AttributeSet fixed,
                  std::span<const std::uint32_t> codes) {
  std::size_t first = 0;
  for (const std::size_t column : table.members()) {
    first = first * sizes[column] + (fixed.contains(column) ? codes[column] : 0);
  }
  const Places places(places_of(sizes, table.without(fixed), table));
  ColumnTable part{table.without(fixed), std::vector<double>(places.at.size())};
  places.gather({0, places.at.size()}, cells.data() + first, part.cells.data());
  return part;
}

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
  const TableProduct product = {places_of(sizes, batch, left.set),
                                places_of(sizes, rows, left.set),
                                Places(places_of(sizes, inner, left.set)),
                                places_of(sizes, batch, right.set),
                                places_of(sizes, inner, right.set),
                                Places(places_of(sizes, columns, right.set)),
                                places_of(sizes, batch, result.set),
                                places_of(sizes, rows, result.set),
                                Places(places_of(sizes, columns, result.set))};
  product.work_out(left.cells.data(), right.cells.data(), result.cells.data(), wide);
  return result;
}

ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, AttributeSet kept) {
  return contract(sizes, a, b, kept, has_avx2());
}

}  // namespace shoal::synth
