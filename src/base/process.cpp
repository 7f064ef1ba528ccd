#include <shoal/base/process.hpp>

#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>

namespace shoal {
namespace {

std::string boot_id() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  stream >> id;
  return id;
}

// Field 22 of /proc/<pid>/stat, counted from behind the command's name, which may hold spaces.
std::optional<std::string> start_time(const std::string& pid) {
  std::ifstream stream("/proc/" + pid + "/stat");
  if (!stream) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  // A zombie has ended: it will write nothing any more.
  const std::size_t state = text.rfind(')') + 2;
  if (state < text.size() && text[state] == 'Z') return std::nullopt;
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
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
  const std::optional<std::string> start = start_time(pid);
  identity = boot_id() + ":" + pid + ":" + start.value_or("?");
  if (start) known = ::getpid();
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
  const std::optional<std::string> now = start_time(pid);
  return !now || *now != started;
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
