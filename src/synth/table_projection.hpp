// The inner loops of belief propagation: a table over a set of columns, and one over a part of
// them. Either the small one is spread over the large one, or the large one is added up.
//
// Neighbouring columns that are both in the small table, or both not, are walked as one. The two
// fastest of what remains are loops over contiguous memory, four cells at a time; with AVX2, which
// is looked for when the program runs, four are one instruction. Both give the same numbers. Cells
// of columns that none of the tables has do not exist: sizes are of the domain.
#pragma once

#include "synth/worker_team.hpp"

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

  // large[cell] = small[its projection], and the same added, subtracted or multiplied: for the
  // cells of a range, or for all.
  void spread(std::span<const double> small, std::span<double> large, CellRange range) const;
  void add(std::span<const double> small, std::span<double> large, CellRange range) const;
  void subtract(std::span<const double> small, std::span<double> large, CellRange range) const;
  void multiply(std::span<const double> small, std::span<double> large, CellRange range) const;
  void spread(std::span<const double> small, std::span<double> large) const;
  void add(std::span<const double> small, std::span<double> large) const;
  void multiply(std::span<const double> small, std::span<double> large) const;

  // small[cell] = the sum of large over all cells that project to it, or the largest of them.
  // With a team, a table of many cells is taken in pieces. The result does not depend on how many
  // are in the team, but its last bits may be others than without one.
  void add_up(std::span<const double> large, std::span<double> small) const;
  void add_up(std::span<const double> large, std::span<double> small, WorkerTeam& team) const;
  void largest(std::span<const double> large, std::span<double> small, WorkerTeam& team) const;

  // For tests: the same without AVX2.
  TableProjection portable() const;

 private:
  // Neighbouring columns that are walked as one.
  struct Run {
    std::size_t cells;
    bool inside;
  };
  struct Axis {
    std::size_t cells;
    std::size_t small_stride;  // 0: not in the small table
  };
  // How a large table is taken in pieces when it is added up: each has a part of one run, which is
  // in the small table, so that no two pieces have a cell of it in common.
  struct Split {
    std::size_t pieces = 1;
    std::size_t repeats = 1;  // cells of all runs before that one
    std::size_t cells = 1;    // of that run
    std::size_t inner = 1;    // cells of all runs after it
  };
  friend struct TableWalk;

  void plan_pieces(std::span<const Run> runs);
  template <class Action>
  void onto_small(std::span<const double> large, std::span<double> small, WorkerTeam& team) const;

  std::vector<Axis> outer_;
  std::size_t rows_ = 1;         // the second fastest axis
  std::size_t columns_ = 1;      // the fastest one
  bool fastest_inside_ = false;  // whether that one is in the small table
  bool wide_;                    // whether AVX2 is used
  std::size_t large_cells_ = 1;
  std::size_t small_cells_ = 1;
  Split split_;
  std::size_t partial_tables_ = 0;  // if above 0: pieces with a small table each, then added
};

// The cells of a table, in the order of its columns, by another order of them: axis i of the result
// is axis order[i] of the table.
std::vector<double> transpose(std::span<const double> table, std::span<const std::size_t> sizes,
                              std::span<const std::size_t> order);

}  // namespace shoal::synth
