#include "session/kept_engines.hpp"

#include "session/settled_data.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

namespace shoal::session {
namespace {

constexpr std::size_t kMostKept = 4;
constexpr std::size_t kMostChecked = 1000;
// A file that was written so short a time ago may be written again without another time.
constexpr std::int64_t kSettled = 100'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// None for what has no file, or whose file was written just now: its engine is not kept.
std::optional<std::vector<KeptEngines::FileStamp>> stamps_of(
    const catalog::Policy& policy, std::span<const catalog::Table* const> tables) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::vector<KeptEngines::FileStamp> stamps;
  for (const catalog::Table* table : tables) {
    struct stat info {};
    if (table->format == catalog::SourceFormat::postgresql ||
        ::stat(policy.resolve(table->source).c_str(), &info) != 0)
      return std::nullopt;
    const std::int64_t written = nanoseconds(info.st_mtim);
    const std::int64_t changed = nanoseconds(info.st_ctim);
    if (std::max(written, changed) > nanoseconds(now) - kSettled) return std::nullopt;
    stamps.push_back({static_cast<std::uint64_t>(info.st_dev),
                      static_cast<std::uint64_t>(info.st_ino), info.st_size, written, changed});
  }
  return stamps;
}

}  // namespace

KeptEngines::Lease KeptEngines::open(const catalog::Policy& policy,
                                     std::span<const catalog::Table* const> tables) {
  std::vector<std::string> names;
  for (const catalog::Table* table : tables) names.push_back(table->name);
  // Before the engine looks at the files: what changes later is another stamp.
  auto stamps = stamps_of(policy, tables);
  if (stamps) {
    const std::lock_guard lock(mutex_);
    for (auto kept = idle_.begin(); kept != idle_.end(); ++kept) {
      if (kept->tables != names) continue;
      Kept found = std::move(*kept);
      idle_.erase(kept);
      if (found.files == *stamps) return {*this, std::move(found)};
      break;
    }
  }
  return {*this,
          {stamps ? std::move(names) : std::vector<std::string>(),
           stamps ? *std::move(stamps) : std::vector<FileStamp>(), open_engine(policy, tables)}};
}

void KeptEngines::Lease::note_checked(const std::string& digest) {
  if (kept_.checked.size() >= kMostChecked) kept_.checked.clear();
  kept_.checked.insert(digest);
}

void KeptEngines::Lease::keep() {
  if (kept_.tables.empty()) return;
  const std::lock_guard lock(owner_.mutex_);
  if (owner_.idle_.size() >= kMostKept) owner_.idle_.erase(owner_.idle_.begin());
  owner_.idle_.push_back(std::move(kept_));
}

}  // namespace shoal::session
