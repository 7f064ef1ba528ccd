#include <shoal/base/error.hpp>
#include <shoal/base/private_folder.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>  // for mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace shoal {
namespace {

namespace fs = std::filesystem;

// The folder, locked; -1 if another process has the lock or it is not there.
int locked(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// Whether the open folder is ours and still has its name.
bool is_at(int descriptor, const fs::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_uid == ::geteuid() && open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// What cannot be removed stays.
void remove_leftovers(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end && !ignored;
       entry.increment(ignored)) {
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  }
  for (const fs::path& path : found) {
    const int descriptor = locked(path);
    if (descriptor < 0) continue;
    if (is_at(descriptor, path)) fs::remove_all(path, ignored);
    ::close(descriptor);
  }
}

}  // namespace

PrivateFolder::PrivateFolder(const fs::path& parent, std::string_view name) {
  const std::string prefix = fmt::format("{}_", name);
  remove_leftovers(parent, prefix);
  // Between its making and its lock another process may take it for a leftover.
  while (descriptor_ < 0) {
    std::string made = (parent / (prefix + "XXXXXX")).string();
    if (::mkdtemp(made.data()) == nullptr) {
      throw Error(ErrorCode::io,
                  fmt::format("cannot make a temporary folder in {}: {}; free some space, or name "
                              "another folder in TMPDIR",
                              parent.string(), std::generic_category().message(errno)));
    }
    descriptor_ = locked(made);
    if (descriptor_ >= 0 && !is_at(descriptor_, made)) ::close(std::exchange(descriptor_, -1));
    path_ = std::move(made);
  }
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(descriptor_);
}

}  // namespace shoal
