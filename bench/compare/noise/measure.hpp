// Times contestants side by side on one thread of a machine that others use too.
//
// What is measured is processor time of this thread, in repetitions of about a third of a
// millisecond, all contestants taking turns; the least of many repetitions counts. Whatever else
// runs can only add time, and does so to all alike. Only a clock that stood still takes time away,
// as that of a virtual machine may: less than half of the median does not count.
#pragma once

#include <time.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::bench {

inline double thread_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// Keeps what it points at from being optimised away.
inline void keep(const void* data) { asm volatile("" : : "r"(data) : "memory"); }

struct Contestant {
  std::string group;  // such as laplace
  double scale;
  std::string name;
  std::size_t values;  // that one call of `work` makes
  std::function<void()> work;
  double nanoseconds = 0;  // a value, the least seen
};

inline double least_plausible(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return *std::lower_bound(times.begin(), times.end(), times[times.size() / 2] / 2);
}

inline void race(std::vector<Contestant>& contestants, int rounds) {
  constexpr double kRepetition = 3e5;
  std::vector<int> calls;
  for (Contestant& one : contestants) {
    one.work();  // warms up: tables, buffers, the processor's guesses
    const double start = thread_nanoseconds();
    one.work();
    const double call = std::max(50.0, thread_nanoseconds() - start);
    calls.push_back(static_cast<int>(std::clamp(kRepetition / call, 1.0, 1e4)));
  }
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      Contestant& one = contestants[i];
      const double start = thread_nanoseconds();
      for (int call = 0; call < calls[i]; ++call) one.work();
      const double time = thread_nanoseconds() - start;
      const double values = static_cast<double>(one.values) * calls[i];
      times[i].push_back(time / values);
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i)
    contestants[i].nanoseconds = least_plausible(times[i]);
}

}  // namespace shoal::bench
