#include "base/descriptor.hpp"
#include "base/file_failure.hpp"
#include "base/file_step.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/temporary_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

namespace shoal {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kUsual = 0666;  // less the process's mask
constexpr mode_t kPrivate = 0600;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Whether a file of the folder is a temporary one of the target. Some earlier versions left out the
// number, or ended the name in ".partial".
bool is_temporary_of(std::string_view name, std::string_view target) {
  if (!name.starts_with(target)) return false;
  name.remove_prefix(target.size());
  if (!name.starts_with('.')) return false;
  name.remove_prefix(1);
  if (name.ends_with(".tmp")) {
    name.remove_suffix(4);
  } else if (name.ends_with(".partial")) {
    name.remove_suffix(8);
  } else {
    return false;
  }
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return is_number(name);
  return is_number(name.substr(0, dot)) && is_number(name.substr(dot + 1));
}

bool has_name(int descriptor, const fs::path& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

// The file with the lock on it. Between the two, another process may take it for left behind.
int make_locked(const fs::path& target, mode_t mode, fs::path& path) {
  // Unique among processes and among the threads of one.
  static std::atomic<unsigned> counter{0};
  while (true) {
    path = target.string() + fmt::format(".{}.{}.tmp", ::getpid(), ++counter);
    before_file_step("create", path);
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (made < 0 && errno == EEXIST) continue;
    if (made < 0) file_failed("write", target, errno);
    // Where the file system has no such locks nobody can lock it to remove it, either.
    if (::flock(made, LOCK_EX | LOCK_NB) != 0 || has_name(made, path)) return made;
    ::close(made);
  }
}

}  // namespace

TemporaryFile::TemporaryFile(fs::path target, Readers readers) : target_(std::move(target)) {
  remove_leftovers(target_);
  descriptor_ = make_locked(target_, readers == Readers::owner ? kPrivate : kUsual, path_);
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryFile::write(std::string_view contents) {
  before_file_step("write", path_);
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) file_failed("write", target_, errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TemporaryFile::be_readable_as(const fs::path& other) {
  struct stat info {};
  if (::stat(other.c_str(), &info) != 0) return;
  // The group is another one, maybe; its rights are given only where it is the same.
  struct stat mine {};
  if (::fstat(descriptor_, &mine) != 0) file_failed("write", target_, errno);
  mode_t mode = info.st_mode & 0777;
  if (mine.st_gid != info.st_gid) mode &= ~static_cast<mode_t>(0070);
  if (::fchmod(descriptor_, mode) != 0) file_failed("write", target_, errno);
}

void TemporaryFile::take_name(IfExists if_exists) {
  before_file_step("sync", path_);
  if (::fsync(descriptor_) != 0) file_failed("write", target_, errno);
  before_file_step("name", target_);
  // link() refuses to replace, atomically; rename() replaces, atomically.
  bool renamed = if_exists == IfExists::replace;
  int done =
      renamed ? ::rename(path_.c_str(), target_.c_str()) : ::link(path_.c_str(), target_.c_str());
  if (done != 0 && !renamed && (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS)) {
    // A file system without links.
    renamed = true;
    std::error_code ignored;
    errno = EEXIST;
    if (!fs::exists(target_, ignored)) done = ::rename(path_.c_str(), target_.c_str());
  }
  const int error = errno;
  if (done != 0 && error == EEXIST) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("{} exists already; remove it or choose another name", target_.string()));
  }
  if (done != 0) file_failed("write", target_, error);
  if (!renamed) ::unlink(path_.c_str());
  path_.clear();
  sync_folder_of(target_);
}

void remove_leftovers(const fs::path& target) noexcept {
  try {
    const std::string name = target.filename().string();
    std::vector<fs::path> found;
    std::error_code ignored;
    for (fs::directory_iterator entry(folder_of(target), ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      if (is_temporary_of(entry->path().filename().string(), name)) found.push_back(entry->path());
    }
    for (const fs::path& path : found) {
      const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      // Whoever writes it holds the lock.
      if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
      before_file_step("remove", path);
      if (has_name(file.get(), path)) ::unlink(path.c_str());
    }
  } catch (...) {
    return;  // They are removed another time.
  }
}

}  // namespace shoal
