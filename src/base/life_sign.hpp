// Whether a process is there, and since when, from what Linux tells of it in /proc/<pid>/stat.
#pragma once

#include <string>

namespace shoal {

struct LifeSign {
  enum class State { alive, gone, unknown };
  State state = State::unknown;
  std::string start_time;  // in ticks since the boot, if alive
};

// `stat` is an open /proc/<pid>/stat, which may be read when its process is no longer there.
LifeSign read_life_sign(int stat);

LifeSign life_sign_of(const std::string& pid);

}  // namespace shoal
