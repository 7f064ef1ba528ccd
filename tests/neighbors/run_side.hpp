// Runs a scenario over one table and gives back what could be seen. The commands run in a forked
// child of this process, through the program's own entry, so that a crash is seen like any other
// end.
#pragma once

#include "neighbors/scenario.hpp"

namespace shoal::test {

// `second` tells which side of the pair.
Seen run_side(const Scenario& scenario, const TablePair& pair, bool second);

// Both sides, and the first thing that a pair must not show.
std::optional<std::string> finding(const Scenario& scenario, const TablePair& pair);

}  // namespace shoal::test
