#include "base/descriptor.hpp"
#include "base/file_failure.hpp"
#include "base/file_step.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/temporary_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

namespace shoal {
namespace {

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
  if (file.get() < 0) file_failed("read", path, errno);
  std::optional<std::string> contents = read_up_to(file.get(), limit);
  if (!contents) file_failed("read", path, errno);
  return std::move(*contents);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  return read_from(path, std::string().max_size());
}

std::string read_file_head(const std::filesystem::path& path, std::size_t limit) {
  return read_from(path, limit);
}

void file_failed(std::string_view what, const std::filesystem::path& path, int error) {
  throw Error(ErrorCode::io,
              fmt::format("cannot {} {}: {}; check the folder, its permissions and the free space",
                          what, path.string(), std::generic_category().message(error)));
}

void write_file_durably(const std::filesystem::path& path, std::string_view contents,
                        IfExists if_exists, Readers readers) {
  TemporaryFile file(path, readers);
  if (if_exists == IfExists::replace) file.be_readable_as(path);
  file.write(contents);
  file.take_name(if_exists);
}

void sync_folder_of(const std::filesystem::path& path) {
  before_file_step("sync folder", path);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0)
    file_failed("make durable", path, errno);
}

FileStep& file_step() {
  static FileStep step;
  return step;
}

}  // namespace shoal
