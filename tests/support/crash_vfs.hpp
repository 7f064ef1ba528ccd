// A file layer for SQLite that fails on purpose: at the n-th operation it kills the process, takes
// the power away, or reports an error. It wraps SQLite's own layer; give its name to
// ledger::Options::vfs.
//
// Killed is the process: what it wrote is in the operating system's hands and stays. Power loss is
// more: of each file only what was synced is sure; every write and truncation since is kept, torn
// or lost, pseudo-randomly; a file made without a sync of its folder may be gone, a removed one may
// be back; the shared-memory file, which is never synced, may be gone.
//
// One plan for the process, for one thread at a time.
#pragma once

#include <cstdint>

namespace shoal::test {

enum class Fault {
  none,
  kill_before,  // kill -9 of this process, before the operation
  kill_after,
  kill_half,   // half of a write is done; elsewhere as kill_before
  power_loss,  // after the operation; only operations on files count
  disk_full,   // from here on errors, once; only operations on files and mapping count
  io_error,
  read_only,
};

struct CrashPlan {
  Fault fault = Fault::none;
  int at = 0;              // at the n-th operation from now, from 1
  std::uint64_t seed = 1;  // what power loss keeps
};

// Registers the layer, once, and returns its name.
const char* crash_vfs();

// Sets the plan and counts from 0 again.
void plan_crash(const CrashPlan& plan);

// Operations that counted since the plan was set.
int counted_operations();

}  // namespace shoal::test
