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

// The bin of a value in three steps, written as a query would: yet to be checked and guarded. Each
// step names what the one before it made, for inside of one another they would grow too long.
//
// What lies beyond declared bounds counts at their ends, as it will when it is clamped to them.
sql::Expression binned_value(const sql::Expression& written,
                             const std::optional<catalog::Bounds>& within);
// The least power of two that is no smaller, by its exponent.
sql::Expression binned_exponent(const sql::Expression& value);
// NULL has no bin.
sql::Expression bin_of(const sql::Expression& value, const sql::Expression& exponent, bool whole);

// Both ends of what a bin stands for; equal for zero.
catalog::Bounds values_of_bin(std::int64_t bin, bool whole);

}  // namespace shoal::plan
