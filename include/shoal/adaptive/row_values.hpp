// The value of a question on each private row: what a holdout or a leaderboard takes the mean of.
#pragma once

#include <shoal/data/table_rows.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace shoal::adaptive {

// The value of a row, given its place, from 0, and its cells. It must not throw: that would tell
// about the row.
using RowFunction = std::function<double(std::size_t, std::span<const data::Cell>)>;

// Reads the rows, which touches the data; one value a row, in the order in which they come. The
// values are as private as the rows.
std::vector<double> values_of_rows(const data::TableRows& rows, const RowFunction& value);

}  // namespace shoal::adaptive
