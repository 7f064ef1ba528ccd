// Who and when: an identity of this process that outlives it, so that another can tell whether it
// is dead.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

// Names this process on this boot of this machine: "<boot id>:<pid>:<start time>".
std::string process_identity();

// Whether the process so named is gone: another start time at that pid, no such pid, or an earlier
// boot. A name that cannot be read counts as alive.
bool process_is_gone(std::string_view identity);

// The time in UTC, as 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace shoal
