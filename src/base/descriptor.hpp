// An open file of the system, closed when it goes out of scope, and its bytes read to the end.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>

namespace shoal {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// At most `limit` bytes from where the file is; nothing, and errno says why, if reading fails.
inline std::optional<std::string> read_up_to(int fd, std::size_t limit) {
  std::string contents;
  std::array<char, 16384> block{};
  while (contents.size() < limit) {
    const ssize_t read = ::read(fd, block.data(), std::min(block.size(), limit - contents.size()));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::nullopt;
    if (read == 0) break;
    contents.append(block.data(), static_cast<std::size_t>(read));
  }
  return contents;
}

}  // namespace shoal
