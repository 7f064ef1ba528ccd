// How many processes a crash test kills: its own number, or that of the variable SHOAL_KILLS, for a
// night.
#pragma once

#include <cstdlib>

namespace shoal::test {

inline int kills_or(int usual) {
  const char* asked = std::getenv("SHOAL_KILLS");
  const int kills = asked ? std::atoi(asked) : 0;
  return kills > 0 ? kills : usual;
}

}  // namespace shoal::test
