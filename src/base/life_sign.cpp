#include "base/life_sign.hpp"

#include "base/descriptor.hpp"

#include <fcntl.h>

#include <csignal>
#include <cstdlib>

namespace shoal {
namespace {

// Only these two say that nobody has the number. Others, such as too many open files, say nothing.
LifeSign after_failure(int error) {
  if (error == ENOENT || error == ESRCH) return {LifeSign::State::gone, {}};
  return {};
}

}  // namespace

LifeSign read_life_sign(int stat) {
  constexpr std::size_t kLongest = 4096;
  const std::optional<std::string> text = read_up_to(stat, kLongest);
  if (!text) return after_failure(errno);
  // Fields are counted from behind the command's name, which may hold spaces. The start is the
  // 22nd.
  const std::size_t name_end = text->rfind(')');
  std::size_t at = name_end;
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text->find(' ', at + 1);
  if (at == std::string::npos) return {};
  // A zombie has ended: it will write nothing any more.
  if ((*text)[name_end + 2] == 'Z') return {LifeSign::State::gone, {}};
  return {LifeSign::State::alive, text->substr(at + 1, text->find(' ', at + 1) - at - 1)};
}

LifeSign life_sign_of(const std::string& pid) {
  const Descriptor stat(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (stat.get() >= 0) return read_life_sign(stat.get());
  LifeSign told = after_failure(errno);
  // A system may hide the processes of others, but not that a number is taken.
  const bool taken =
      ::kill(static_cast<pid_t>(std::strtol(pid.c_str(), nullptr, 10)), 0) == 0 || errno != ESRCH;
  if (taken) told.state = LifeSign::State::unknown;
  return told;
}

}  // namespace shoal
