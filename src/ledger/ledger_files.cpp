#include "ledger/ledger_files.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::ledger {
namespace {

std::filesystem::path with_suffix(const std::filesystem::path& path, const char* suffix) {
  return path.string() + suffix;
}

// A log and a piece of shared memory beside a single page: less does not let a ledger go on.
constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{256} << 10;

FileIdentity identity_from(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

// The files that this process has open; empty where the system does not tell.
std::set<std::pair<std::uint64_t, std::uint64_t>> open_files() {
  std::set<std::pair<std::uint64_t, std::uint64_t>> open;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", failure), end;
       !failure && entry != end; entry.increment(failure)) {
    struct stat info {};
    if (::stat(entry->path().c_str(), &info) != 0) continue;
    const FileIdentity file = identity_from(info);
    open.emplace(file.device, file.number);
  }
  return open;
}

[[noreturn]] void not_in_place(const std::filesystem::path& path) {
  throw Error(
      ErrorCode::corrupt,
      fmt::format("the ledger {} or its -wal or -shm file was moved, replaced or removed while it "
                  "was in use; nothing was answered. Put the files back that were there, or "
                  "restore a backup, and keep other programs from touching them",
                  path.string()));
}

// SQLite's locks. In the shared memory: writing, folding the log, recovering, and being the first
// or the last to use it. In the database file: changing the journal mode, and making the file.
struct LockByte {
  const char* suffix;
  std::uint64_t first;
  std::uint64_t last;
};

constexpr LockByte kWriting{"-shm", 120, 120};
constexpr LockByte kFolding{"-shm", 121, 121};
constexpr LockByte kRecovering{"-shm", 122, 122};
constexpr LockByte kFirstUser{"-shm", 128, 128};
constexpr LockByte kDatabase{"", 0x40000000, 0x400001FF};

struct HeldLock {
  FileIdentity file;
  int process = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// The locks for writing that the system knows of, from lines such as
// "1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120". To look at the file itself is no way: a
// process that closes a file loses every lock that it holds on it.
std::vector<HeldLock> held_locks() {
  std::vector<HeldLock> locks;
  std::ifstream stream("/proc/locks");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string number;
    std::string kind;
    std::string advisory;
    std::string access;
    std::string file;
    std::string last;
    HeldLock lock;
    unsigned major = 0;
    unsigned minor = 0;
    char colon = 0;
    if (!(words >> number >> kind >> advisory >> access >> lock.process >> file >> lock.first >>
          last) ||
        kind != "POSIX" || access != "WRITE")
      continue;
    std::istringstream parts(file);
    if (!(parts >> std::hex >> major >> colon >> minor >> colon >> std::dec >> lock.file.number))
      continue;
    lock.file.device = makedev(major, minor);
    lock.last = last == "EOF" ? UINT64_MAX : std::strtoull(last.c_str(), nullptr, 10);
    locks.push_back(lock);
  }
  return locks;
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return identity_from(info);
}

FilesInPlace::FilesInPlace(const std::filesystem::path& path)
    // A relative name would lead elsewhere once the process changes its folder.
    : path_(std::filesystem::absolute(path)) {
  for (std::size_t i = 0; i < files_.size(); ++i)
    files_[i] = identity_of(with_suffix(path_, kLedgerFiles[i]));
}

std::optional<FilesInPlace> FilesInPlace::opened(const std::filesystem::path& path) {
  FilesInPlace files(path);
  const auto open = open_files();
  for (const FileIdentity& file : files.files_) {
    if (file.number == 0) return std::nullopt;
    if (!open.empty() && !open.contains(std::pair(file.device, file.number))) return std::nullopt;
  }
  return files;
}

FilesInPlace FilesInPlace::required(const std::filesystem::path& path) {
  auto files = opened(path);
  if (!files) not_in_place(path);
  return *std::move(files);
}

bool FilesInPlace::hold() const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (identity_of(with_suffix(path_, kLedgerFiles[i])) != files_[i]) return false;
  }
  return true;
}

void FilesInPlace::require() const {
  if (!hold()) not_in_place(path_);
}

namespace {

// The process that holds the first of these that is held; 0 if none is.
int holder_of(const std::filesystem::path& path, std::initializer_list<LockByte> bytes) {
  const std::vector<HeldLock> locks = held_locks();
  for (const LockByte& byte : bytes) {
    const FileIdentity file = identity_of(with_suffix(path, byte.suffix));
    for (const HeldLock& lock : locks) {
      if (lock.file == file && lock.first <= byte.last && byte.first <= lock.last &&
          lock.process > 0)
        return lock.process;
    }
  }
  return 0;
}

}  // namespace

int lock_holder(const std::filesystem::path& path) {
  return holder_of(path, {kWriting, kFolding, kRecovering, kFirstUser, kDatabase});
}

bool keeps_readers_out(const std::filesystem::path& path, int busy_milliseconds) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_milliseconds);
  while (holder_of(path, {kRecovering, kFirstUser}) != 0) {
    if (std::chrono::steady_clock::now() >= deadline) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string busy_sentence(const std::filesystem::path& path) {
  const int holder = lock_holder(path);
  if (holder == 0) {
    return fmt::format("the ledger {} is in use by other processes; nothing was spent: try again",
                       path.string());
  }
  return fmt::format(
      "the ledger {0} is held by process {1}, which does not let go of it; nothing was spent. If "
      "it was stopped, let it go on (kill -CONT {1}) or end it (kill -KILL {1}), and try again",
      path.string(), holder);
}

bool disk_is_full(const std::filesystem::path& path) {
  struct statvfs info {};
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (::statvfs(folder.c_str(), &info) != 0 || info.f_blocks == 0) return false;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize < kLeastFreeBytes;
}

}  // namespace shoal::ledger
