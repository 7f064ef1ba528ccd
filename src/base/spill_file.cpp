#include <shoal/base/error.hpp>
#include <shoal/base/spill_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>  // for mkostemp
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace shoal {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::io,
              fmt::format("cannot {} a temporary file: {}; free some disk space or allow more "
                          "memory (the policy's [engine])",
                          what, std::generic_category().message(errno)));
}

int open_unnamed() {
  std::string name = (std::filesystem::temp_directory_path() / "shoal_rows_XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);  // mode 0600
  if (descriptor < 0) fail("make");
  ::unlink(name.c_str());
  return descriptor;
}

}  // namespace

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t SpillFile::write(std::span<const std::uint64_t> words) {
  std::uint64_t start = 0;
  {
    const std::lock_guard lock(mutex_);
    if (descriptor_ < 0) descriptor_ = open_unnamed();
    start = size_;
    size_ += words.size_bytes();
  }
  const auto* bytes = reinterpret_cast<const char*>(words.data());
  for (std::size_t done = 0; done < words.size_bytes();) {
    const ssize_t written = ::pwrite(descriptor_, bytes + done, words.size_bytes() - done,
                                     static_cast<off_t>(start + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    done += static_cast<std::size_t>(written);
  }
  return start;
}

void SpillFile::read(std::uint64_t offset, std::span<std::uint64_t> words) const {
  auto* bytes = reinterpret_cast<char*>(words.data());
  for (std::size_t done = 0; done < words.size_bytes();) {
    const ssize_t count = ::pread(descriptor_, bytes + done, words.size_bytes() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("read");
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace shoal
