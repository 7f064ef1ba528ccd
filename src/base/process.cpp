#include "base/life_sign.hpp"

#include <shoal/base/process.hpp>

#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>

namespace shoal {
namespace {

std::string boot_id() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  stream >> id;
  return id;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string process_identity() {
  // Read once, and again in a process that was forked since.
  thread_local pid_t known = 0;
  thread_local std::string identity;
  if (known == ::getpid()) return identity;
  const std::string pid = std::to_string(::getpid());
  const LifeSign mine = life_sign_of(pid);
  const bool told = mine.state == LifeSign::State::alive;
  identity = boot_id() + ":" + pid + ":" + (told ? mine.start_time : "?");
  if (told) known = ::getpid();
  return identity;
}

bool process_is_gone(std::string_view identity) {
  const std::size_t first = identity.find(':');
  const std::size_t second = identity.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return false;
  const std::string boot = boot_id();
  if (boot.empty() || identity.substr(0, first).empty()) return false;
  // Another boot id: this machine restarted since, or it is another machine. A ledger file is used
  // from one machine (docs/design/known_limits.md), so it is a restart.
  if (identity.substr(0, first) != boot) return true;
  const std::string pid(identity.substr(first + 1, second - first - 1));
  const std::string_view started = identity.substr(second + 1);
  if (!is_number(pid) || !is_number(started)) return false;
  const LifeSign now = life_sign_of(pid);
  return now.state == LifeSign::State::gone ||
         (now.state == LifeSign::State::alive && now.start_time != started);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace shoal
