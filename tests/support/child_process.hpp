// Runs a part of a test in a forked process, for what must not outlive a process: a death, a
// holder of a reservation, a second opener of a file. Fork only where no other thread runs.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace shoal::test {

// How a child left that failed with an exception.
inline constexpr int kChildFailed = 97;

// Starts `action` in a child, which leaves with what it returns and without running any destructor
// of the parent's.
template <typename Action>
pid_t start_child(Action&& action) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child > 0) return child;
  int status = kChildFailed;
  try {
    status = action();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a child failed: %s\n", error.what());
  }
  ::_exit(status);
}

struct ChildEnd {
  int status = -1;  // what it returned; -1 if a signal ended it
  int signal = 0;
};

inline ChildEnd child_end(int wait_status) {
  ChildEnd end;
  if (WIFEXITED(wait_status)) end.status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) end.signal = WTERMSIG(wait_status);
  return end;
}

inline ChildEnd wait_for_child(pid_t child) {
  int wait_status = 0;
  if (::waitpid(child, &wait_status, 0) != child) throw std::runtime_error("cannot wait");
  return child_end(wait_status);
}

template <typename Action>
ChildEnd run_in_child(Action&& action) {
  return wait_for_child(start_child(static_cast<Action&&>(action)));
}

}  // namespace shoal::test
