#include "base/descriptor.hpp"
#include "base/file_failure.hpp"
#include "base/file_step.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/locked_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

namespace shoal {
namespace {

using std::chrono::steady_clock;

// Whoever may read the file may lock it, unless the file system says otherwise.
int open_file(const std::filesystem::path& path, LockedFile::Make make) {
  const int flags = O_CLOEXEC | (make == LockedFile::Make::yes ? O_CREAT : 0);
  if (make == LockedFile::Make::yes) before_file_step("create", path);
  int file = ::open(path.c_str(), O_RDWR | flags, 0666);
  if (file < 0 && (errno == EACCES || errno == EROFS || errno == EISDIR)) {
    const int error = errno;
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 && error != EISDIR) errno = error;
  }
  if (file >= 0) return file;
  if (errno == ENOENT && make == LockedFile::Make::no) {
    throw Error(ErrorCode::not_found, fmt::format("there is no file {}", path.string()));
  }
  file_failed("write", path, errno);
}

// Who has the lock, as /proc/locks has it:
// "12: FLOCK  ADVISORY  WRITE 4711 08:02:131090 0 EOF".
std::string holder_of(int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return "another process";
  const std::string inode = fmt::format(":{} ", info.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    const std::size_t write = line.find(" WRITE ");
    if (line.find("FLOCK") == std::string::npos || write == std::string::npos ||
        line.find(inode) == std::string::npos || line.find("->") != std::string::npos) {
      continue;
    }
    const std::size_t pid = line.find_first_not_of(' ', write + 7);
    return "process " + line.substr(pid, line.find(' ', pid) - pid);
  }
  return "another process";
}

}  // namespace

LockedFile::LockedFile(const std::filesystem::path& path, Make make,
                       std::chrono::milliseconds patience)
    : path_(path), descriptor_(open_file(path, make)) {
  const auto deadline = steady_clock::now() + patience;
  auto pause = std::chrono::microseconds(200);
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EWOULDBLOCK && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(pause);
      if (pause < std::chrono::milliseconds(5)) pause *= 2;
      continue;
    }
    const std::string holder = error == EWOULDBLOCK ? holder_of(descriptor_) : "";
    ::close(descriptor_);
    if (error != EWOULDBLOCK) file_failed("lock", path_, error);
    throw Error(ErrorCode::unavailable,
                fmt::format("{} is locked by {}, for more than {} seconds; try again, and look at "
                            "that process if this goes on",
                            path_.string(), holder,
                            std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
  }
}

LockedFile::~LockedFile() { ::close(descriptor_); }

std::string LockedFile::read() const {
  std::optional<std::string> bytes;
  if (::lseek(descriptor_, 0, SEEK_SET) == 0)
    bytes = read_up_to(descriptor_, std::string().max_size());
  if (!bytes) file_failed("read", path_, errno);
  return *std::move(bytes);
}

void LockedFile::write(std::size_t offset, std::string_view bytes) {
  before_file_step("write", path_);
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) file_failed("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  before_file_step("sync", path_);
  if (::fdatasync(descriptor_) != 0) file_failed("write", path_, errno);
}

}  // namespace shoal
