#include "base/descriptor.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <system_error>

namespace shoal {
namespace {

[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path, int error) {
  throw Error(ErrorCode::io,
              fmt::format("cannot {} {}: {}; check the folder, its permissions and the free space",
                          what, path.string(), std::generic_category().message(error)));
}

void write_all(int fd, std::string_view contents, const std::filesystem::path& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_from(const std::filesystem::path& path, std::size_t limit) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is a folder; name a file", path.string()));
  }
  // Not looked for first: another process may move it between a look and the opening.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    throw Error(ErrorCode::not_found,
                fmt::format("there is no file {}; check the name", path.string()));
  }
  if (file.get() < 0) fail("read", path, errno);
  std::optional<std::string> contents = read_up_to(file.get(), limit);
  if (!contents) fail("read", path, errno);
  return std::move(*contents);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  return read_from(path, std::string().max_size());
}

std::string read_file_head(const std::filesystem::path& path, std::size_t limit) {
  return read_from(path, limit);
}

void write_file_durably(const std::filesystem::path& path, std::string_view contents,
                        IfExists if_exists) {
  // Unique among processes and among the threads of one.
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path temporary =
      path.string() + fmt::format(".{}.{}.tmp", ::getpid(), ++counter);
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("write", path, errno);
    try {
      write_all(file.get(), contents, path);
      if (::fsync(file.get()) != 0) fail("write", path, errno);
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
  }
  // link() refuses to replace, atomically; rename() replaces, atomically.
  const bool refuse = if_exists == IfExists::refuse;
  const int done =
      refuse ? ::link(temporary.c_str(), path.c_str()) : ::rename(temporary.c_str(), path.c_str());
  const int error = errno;
  if (refuse || done != 0) ::unlink(temporary.c_str());
  if (done != 0 && refuse && error == EEXIST) {
    throw Error(ErrorCode::conflict,
                fmt::format("{} exists already; remove it or choose another name", path.string()));
  }
  if (done != 0) fail("write", path, error);
  sync_folder_of(path);
}

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) fail("make durable", path, errno);
}

}  // namespace shoal
