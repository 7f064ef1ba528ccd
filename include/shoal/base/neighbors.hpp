// The neighbouring relation: what "the same table, but for one person" means. It is part of every
// claim.
#pragma once

#include <string_view>

namespace shoal {

enum class Neighbors {
  add_remove,   // one person's rows are there, or not
  replace_one,  // one person's rows are exchanged for another's; the number of people is public
};

std::string_view to_string(Neighbors neighbors);

// Throws invalid_argument for anything but add_remove and replace_one.
Neighbors parse_neighbors(std::string_view text);

}  // namespace shoal
