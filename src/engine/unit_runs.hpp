// Where one unit ends and the next begins, in a block of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace shoal::engine {

// Units that follow one another in a block and are all there: the first has the rows from `first`
// to ends[0], the next those from there to ends[1], and so on.
struct WholeUnits {
  std::size_t first = 0;
  std::span<const std::size_t> ends = {};
  std::span<const std::uint64_t> hashes = {};  // one a unit

  std::size_t begin(std::size_t unit) const { return unit == 0 ? first : ends[unit - 1]; }
};

// Units in the order of a block's rows.
struct UnitRuns {
  std::size_t size = 0;           // how many there are
  bool ordered = true;            // none is less than the one before it
  std::vector<std::size_t> ends;  // may be longer
};

// Of at least one row.
void find_runs(std::span<const std::int64_t> units, UnitRuns& runs);
void find_runs(std::span<const std::string_view> units, UnitRuns& runs);
// Of integers, without vectors of words.
void find_runs_portable(std::span<const std::int64_t> units, UnitRuns& runs);

}  // namespace shoal::engine
