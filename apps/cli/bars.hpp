// Intervals as small pictures: ├──●──┤, all rows of a column on one scale.
#pragma once

#include <shoal/plan/present.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {

// One picture a cell, `width` characters wide at most; empty where a cell has no finite interval.
// Empty altogether if fewer than two cells have one: a scale of one row says nothing.
std::vector<std::string> interval_bars(const std::vector<const plan::Cell*>& cells,
                                       std::size_t width);

// The characters of a line of the terminal behind standard output; nothing if pictures do not
// belong there: it is no terminal, it is dumb, its characters are not UTF-8, or SHOAL_NO_BARS is
// set and not empty.
std::optional<std::size_t> room_for_bars();

}  // namespace shoal::cli
