#include "ledger/private_copy.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace shoal::ledger {
namespace {

constexpr int kTries = 40;
// The clock of a file may stand still for so long.
constexpr std::chrono::nanoseconds kFileClock = std::chrono::milliseconds(20);

std::filesystem::path log_of(const std::filesystem::path& path) { return path.string() + "-wal"; }

[[noreturn]] void being_written(const std::filesystem::path& path) {
  throw Error(ErrorCode::unavailable,
              fmt::format("the ledger {} is being written, and cannot be read here without the "
                          "right to write next to it; try again",
                          path.string()));
}

std::int64_t now_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// In memory where there is some.
PrivateFolder new_folder() {
  constexpr const char* kName = "shoal_ledger";
  try {
    return {"/dev/shm", kName};
  } catch (const Error&) {
    return {std::filesystem::temp_directory_path(), kName};
  }
}

void copy_private(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failure);
  if (!failure) {
    std::filesystem::permissions(to, std::filesystem::perms(0600), failure);
  }
  if (failure) {
    throw Error(ErrorCode::io, fmt::format("cannot read the ledger's file {}: {}", from.string(),
                                           failure.message()));
  }
}

// Whether what was copied is of one moment.
bool copied(const std::filesystem::path& from, const std::filesystem::path& to) {
  const FileState file = state_of_file(from);
  const FileState log = state_of_file(log_of(from));
  const std::int64_t quiet_since = now_nanoseconds() - kFileClock.count();
  if (file.changed > quiet_since || log.changed > quiet_since) return false;
  copy_private(from, to);
  std::filesystem::remove(log_of(to));
  if (log.size > 0) copy_private(log_of(from), log_of(to));
  return state_of_file(from) == file && state_of_file(log_of(from)) == log;
}

}  // namespace

bool may_write(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & 0222) != 0 &&
         ::access(path.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
}

FileState state_of_file(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {identity_of(path), info.st_size,
          std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

QuietFile::QuietFile(std::filesystem::path path)
    : path_(std::move(path)), state_(state_of_file(path_)) {}

std::optional<QuietFile> QuietFile::without_log(const std::filesystem::path& path) {
  // The file first: what is folded into it after that shows as a change.
  QuietFile file(path);
  if (state_of_file(log_of(path)).size > 0) return std::nullopt;
  return file;
}

void QuietFile::require() const {
  if (state_of_file(path_) != state_ || state_of_file(log_of(path_)).size > 0) being_written(path_);
}

PrivateCopy::PrivateCopy(const std::filesystem::path& path) : folder_(new_folder()) {
  for (int i = 0; i < kTries; ++i) {
    if (copied(path, this->path())) return;
    std::this_thread::sleep_for(kFileClock);
  }
  being_written(path);
}

}  // namespace shoal::ledger
