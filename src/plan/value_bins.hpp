// Bins of numbers by their magnitude, for the search for bounds: whole numbers in the order of the
// values. 0 is zero, 1000 + e is (2^(e-1), 2^e], and the same below zero.
#pragma once

#include <shoal/catalog/grid.hpp>
#include <shoal/sql/syntax.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::plan {

// All bins that values within declared bounds can fall into, in order.
std::vector<std::int64_t> value_bins(bool whole, const std::optional<catalog::Bounds>& within);

// The bin of a value, written as a query would: yet to be checked and guarded. What lies beyond
// declared bounds counts at their ends, as it will when it is clamped to them. NULL has none.
sql::Expression bin_of(const sql::Expression& value, bool whole,
                       const std::optional<catalog::Bounds>& within);

// Both ends of what a bin stands for; equal for zero.
catalog::Bounds values_of_bin(std::int64_t bin, bool whole);

}  // namespace shoal::plan
