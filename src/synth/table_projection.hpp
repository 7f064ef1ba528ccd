// The inner loops of belief propagation: a table over a set of columns, and one over a part of
// them. Either the small one is spread over the large one, or the large one is added up.
//
// Neighbouring columns that are both in the small table, or both not, are walked as one. The two
// fastest of what remains are loops over contiguous memory, which compilers turn into vector
// instructions. Cells of columns that none of the tables has do not exist: sizes are of the domain.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::synth {

class TableProjection {
 public:
  // Throws internal unless small is within large.
  TableProjection(std::span<const std::uint32_t> sizes, data::AttributeSet large,
                  data::AttributeSet small);

  std::size_t large_cells() const { return large_cells_; }
  std::size_t small_cells() const { return small_cells_; }

  // large[cell] = small[its projection], and the same added or multiplied.
  void spread(std::span<const double> small, std::span<double> large) const;
  void add(std::span<const double> small, std::span<double> large) const;
  void multiply(std::span<const double> small, std::span<double> large) const;

  // small[cell] = the sum of large over all cells that project to it.
  void add_up(std::span<const double> large, std::span<double> small) const;
  // small[cell] = the largest of them.
  void largest(std::span<const double> large, std::span<double> small) const;

 private:
  struct Axis {
    std::size_t cells;
    std::size_t small_stride;  // 0: not in the small table
  };
  template <class Large, class Small, class Row, class Segment>
  void walk(Large* large, Small* small, Row row, Segment segment) const;

  std::vector<Axis> outer_;
  std::size_t rows_ = 1;         // the second fastest axis
  std::size_t columns_ = 1;      // the fastest one
  bool fastest_inside_ = false;  // whether that one is in the small table
  std::size_t large_cells_ = 1;
  std::size_t small_cells_ = 1;
};

// The cells of a table, in the order of its columns, by another order of them: axis i of the result
// is axis order[i] of the table.
std::vector<double> transpose(std::span<const double> table, std::span<const std::size_t> sizes,
                              std::span<const std::size_t> order);

}  // namespace shoal::synth
