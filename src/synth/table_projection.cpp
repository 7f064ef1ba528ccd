#include "synth/table_projection.hpp"

#include "synth/cell_kernels.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace shoal::synth {
namespace {

using numeric::Four;
using numeric::kLanes;
using numeric::load;
using numeric::store;

// What is done to a contiguous piece of the large table: `one` with one small number for all of it,
// `each` with one for each of its cells.
template <class Change>
struct OntoLarge {
  using Large = double;
  using Small = const double;
  SHOAL_INLINE static void one(double* to, const double* small, std::size_t many) {
    const double number = *small;
    const Four numbers = Four{} + number;
    Four at;
    std::size_t i = 0;
    for (; i + kLanes <= many; i += kLanes) {
      load(to + i, at);
      Change::apply(at, numbers);
      store(at, to + i);
    }
    for (; i < many; ++i) Change::apply(to[i], number);
  }
  SHOAL_INLINE static void each(double* to, const double* small, std::size_t many) {
    Four at;
    Four numbers;
    std::size_t i = 0;
    for (; i + kLanes <= many; i += kLanes) {
      load(to + i, at);
      load(small + i, numbers);
      Change::apply(at, numbers);
      store(at, to + i);
    }
    for (; i < many; ++i) Change::apply(to[i], small[i]);
  }
};

struct Replace {
  template <class Number>
  SHOAL_INLINE static void apply(Number& at, const Number& by) {
    at = by;
  }
};
struct Add {
  template <class Number>
  SHOAL_INLINE static void apply(Number& at, const Number& by) {
    at += by;
  }
};
struct Subtract {
  template <class Number>
  SHOAL_INLINE static void apply(Number& at, const Number& by) {
    at -= by;
  }
};
struct Multiply {
  template <class Number>
  SHOAL_INLINE static void apply(Number& at, const Number& by) {
    at *= by;
  }
};
struct Raise {
  template <class Number>
  SHOAL_INLINE static void apply(Number& at, const Number& by) {
    at = at < by ? by : at;
  }
};

struct Sums {
  using Large = const double;
  using Small = double;
  using Merge = Add;
  static constexpr double kNothing = 0;
  SHOAL_INLINE static void one(const double* from, double* small, std::size_t many) {
    *small += sum_of_cells(from, many);
  }
  SHOAL_INLINE static void each(const double* from, double* small, std::size_t many) {
    OntoLarge<Add>::each(small, from, many);
  }
};
struct Maxima {
  using Large = const double;
  using Small = double;
  using Merge = Raise;
  static constexpr double kNothing = -std::numeric_limits<double>::infinity();
  SHOAL_INLINE static void one(const double* from, double* small, std::size_t many) {
    *small = std::max(*small, largest_of_cells(from, many));
  }
  SHOAL_INLINE static void each(const double* from, double* small, std::size_t many) {
    OntoLarge<Raise>::each(small, from, many);
  }
};

// A small table for each piece may have this many cells: more take longer to add than they save.
constexpr std::size_t kMaxPartialCells = 4096;
// Contiguous cells of a piece, so that beginning a piece of the walk does not matter.
constexpr std::size_t kLeastStretch = 256;

}  // namespace

struct TableWalk {
  // Columns: how many cells the fastest axis has, if that was known to the compiler, or 0.
  template <class Action, std::size_t columns>
  SHOAL_INLINE static void lines(const TableProjection& shape, typename Action::Large* large,
                                 typename Action::Small* small, CellRange range) {
    const std::size_t many = columns > 0 ? columns : shape.columns_;
    const std::size_t axes = shape.outer_.size();
    std::array<std::size_t, data::kMaxAttributes> position;
    std::size_t line = range.begin / many;
    std::size_t skipped = range.begin % many;
    std::size_t row = line % shape.rows_;
    line /= shape.rows_;
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      position[axis] = line % shape.outer_[axis].cells;
      line /= shape.outer_[axis].cells;
      offset += position[axis] * shape.outer_[axis].small_stride;
    }
    std::size_t cell = range.begin;
    std::size_t whole = 0;  // lines that are left
    if (skipped == 0) whole = (range.end - cell) / many;
    while (cell < range.end) {
      typename Action::Small* place = small + offset;
      if (skipped > 0 || whole == 0) {  // a part of a line, at the beginning or at the end
        const std::size_t part = std::min(many - skipped, range.end - cell);
        if (shape.fastest_inside_) {
          Action::each(large + cell, place + skipped, part);
        } else {
          Action::one(large + cell, place + row, part);
        }
        cell += part;
        skipped = 0;
        whole = (range.end - cell) / many;
        ++row;
      } else {
        const std::size_t last = std::min(shape.rows_, row + whole);
        whole -= last - row;
        if (shape.fastest_inside_) {
          for (; row < last; ++row, cell += many) Action::each(large + cell, place, many);
        } else {
          for (; row < last; ++row, cell += many) Action::one(large + cell, place + row, many);
        }
      }
      if (row < shape.rows_) continue;
      row = 0;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        offset += shape.outer_[axis].small_stride;
        if (++position[axis] < shape.outer_[axis].cells) break;
        offset -= shape.outer_[axis].small_stride * shape.outer_[axis].cells;
        position[axis] = 0;
      }
    }
  }

  // Short lines are frequent, and loops over them take longer than what they do.
  template <class Action>
  SHOAL_INLINE static void any(const TableProjection& shape, typename Action::Large* large,
                               typename Action::Small* small, CellRange range) {
    switch (shape.columns_) {
      case 2:
        return lines<Action, 2>(shape, large, small, range);
      case 3:
        return lines<Action, 3>(shape, large, small, range);
      case 4:
        return lines<Action, 4>(shape, large, small, range);
      case 5:
        return lines<Action, 5>(shape, large, small, range);
      case 6:
        return lines<Action, 6>(shape, large, small, range);
      case 7:
        return lines<Action, 7>(shape, large, small, range);
      case 8:
        return lines<Action, 8>(shape, large, small, range);
      default:
        return lines<Action, 0>(shape, large, small, range);
    }
  }

#if defined(__x86_64__)
  template <class Action>
  __attribute__((target("avx2"))) static void avx2(const TableProjection& shape,
                                                   typename Action::Large* large,
                                                   typename Action::Small* small, CellRange range) {
    any<Action>(shape, large, small, range);
  }
#endif

  template <class Action>
  static void run(const TableProjection& shape, typename Action::Large* large,
                  typename Action::Small* small, CellRange range) {
#if defined(__x86_64__)
    if (shape.wide_) return avx2<Action>(shape, large, small, range);
#endif
    any<Action>(shape, large, small, range);
  }
};

TableProjection::TableProjection(std::span<const std::uint32_t> sizes, data::AttributeSet large,
                                 data::AttributeSet small)
    : wide_(has_avx2()) {
  SHOAL_CHECK(small.within(large));
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
  plan_pieces(runs);
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

void TableProjection::plan_pieces(std::span<const Run> runs) {
  split_.inner = large_cells_;  // one piece
  const std::size_t pieces = pieces_of(large_cells_);
  if (pieces == 1) return;
  std::size_t repeats = 1;
  std::size_t inner = large_cells_;
  for (const Run& run : runs) {
    inner /= run.cells;
    const std::size_t parts = std::min(pieces, run.cells);
    if (run.inside && parts > split_.pieces && run.cells / parts * inner >= kLeastStretch) {
      split_ = {parts, repeats, run.cells, inner};
    }
    repeats *= run.cells;
  }
  if (split_.pieces < std::min<std::size_t>(pieces, 4) && small_cells_ <= kMaxPartialCells) {
    partial_tables_ = pieces;
  }
}

TableProjection TableProjection::portable() const {
  TableProjection copy = *this;
  copy.wide_ = false;
  return copy;
}

void TableProjection::spread(std::span<const double> small, std::span<double> large,
                             CellRange range) const {
  TableWalk::run<OntoLarge<Replace>>(*this, large.data(), small.data(), range);
}

void TableProjection::add(std::span<const double> small, std::span<double> large,
                          CellRange range) const {
  TableWalk::run<OntoLarge<Add>>(*this, large.data(), small.data(), range);
}

void TableProjection::subtract(std::span<const double> small, std::span<double> large,
                               CellRange range) const {
  TableWalk::run<OntoLarge<Subtract>>(*this, large.data(), small.data(), range);
}

void TableProjection::multiply(std::span<const double> small, std::span<double> large,
                               CellRange range) const {
  TableWalk::run<OntoLarge<Multiply>>(*this, large.data(), small.data(), range);
}

void TableProjection::spread(std::span<const double> small, std::span<double> large) const {
  spread(small, large, {0, large_cells_});
}

void TableProjection::add(std::span<const double> small, std::span<double> large) const {
  add(small, large, {0, large_cells_});
}

void TableProjection::multiply(std::span<const double> small, std::span<double> large) const {
  multiply(small, large, {0, large_cells_});
}

void TableProjection::add_up(std::span<const double> large, std::span<double> small) const {
  std::fill(small.begin(), small.end(), 0.0);
  TableWalk::run<Sums>(*this, large.data(), small.data(), {0, large_cells_});
}

template <class Action>
void TableProjection::onto_small(std::span<const double> large, std::span<double> small,
                                 WorkerTeam& team) const {
  std::fill(small.begin(), small.end(), Action::kNothing);
  if (partial_tables_ == 0) {
    team.run(split_.pieces, [&](std::size_t piece) {
      const std::size_t stretch = split_.cells * split_.inner;
      const std::size_t begin = split_.cells * piece / split_.pieces * split_.inner;
      const std::size_t end = split_.cells * (piece + 1) / split_.pieces * split_.inner;
      for (std::size_t i = 0; i < split_.repeats; ++i) {
        TableWalk::run<Action>(*this, large.data(), small.data(),
                               {i * stretch + begin, i * stretch + end});
      }
    });
    return;
  }
  std::vector<double> tables(partial_tables_ * small_cells_, Action::kNothing);
  team.run(partial_tables_, [&](std::size_t piece) {
    TableWalk::run<Action>(*this, large.data(), tables.data() + piece * small_cells_,
                           piece_of(large_cells_, partial_tables_, piece));
  });
  for (std::size_t piece = 0; piece < partial_tables_; ++piece) {
    OntoLarge<typename Action::Merge>::each(small.data(), tables.data() + piece * small_cells_,
                                            small_cells_);
  }
}

void TableProjection::add_up(std::span<const double> large, std::span<double> small,
                             WorkerTeam& team) const {
  onto_small<Sums>(large, small, team);
}

void TableProjection::largest(std::span<const double> large, std::span<double> small,
                              WorkerTeam& team) const {
  onto_small<Maxima>(large, small, team);
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
