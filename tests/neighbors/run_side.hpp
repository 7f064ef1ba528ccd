// Runs a scenario over one table and gives back what could be seen. The commands run in a forked
// child of this process, through the program's own entry, so that a crash is seen like any other
// end.
#pragma once

#include "neighbors/scenario.hpp"

namespace shoal::test {

// Where the commands run: in this process, by default.
struct Way {
  std::string program = {};  // each command is a process of this program
  bool terminal = false;     // ... on a terminal of its own, which shows both streams as one
};

// `second` tells which side of the pair.
Seen run_side(const Scenario& scenario, const TablePair& pair, bool second, const Way& way = {});

// Both sides, and the first thing that a pair must not show.
std::optional<std::string> finding(const Scenario& scenario, const TablePair& pair,
                                   const Way& way = {});

}  // namespace shoal::test
