#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace shoal::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

std::string reason(int error) { return std::generic_category().message(error); }

int open_for_reading(const std::string& path, const std::string& name) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) return descriptor;
  if (errno == ENOENT) {
    throw Error(ErrorCode::not_found, fmt::format("there is no file {}; check the name", name));
  }
  throw Error(ErrorCode::io,
              fmt::format("cannot read {}: {}; check its permissions", name, reason(errno)));
}

}  // namespace

Output::Output() : buffer_(kBlock) {}

char* Output::room(std::size_t size) {
  if (buffer_.size() - size_ < size) flush();
  return buffer_.data() + size_;
}

void Output::write(std::string_view text) {
  while (!text.empty()) {
    const std::size_t part = std::min(text.size(), kMostRoom);
    std::memcpy(room(part), text.data(), part);
    used(part);
    text.remove_prefix(part);
  }
}

void Output::flush() {
  std::size_t written = 0;
  while (written < size_) {
    const ssize_t count = ::write(STDOUT_FILENO, buffer_.data() + written, size_ - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      size_ = 0;
      if (errno == EPIPE) throw ReaderGone{};
      throw Error(ErrorCode::io, fmt::format("cannot write to standard output: {}; check where it "
                                             "goes and the free space there",
                                             reason(errno)));
    }
    written += static_cast<std::size_t>(count);
  }
  size_ = 0;
}

void print_text(std::string_view text) {
  Output output;
  output.write(text);
  output.flush();
}

LineReader::LineReader(const std::string& path, const std::string& what, Printing printing)
    : name_(path.empty() || path == "-" ? "standard input" : printable(path, 200)),
      descriptor_(STDIN_FILENO),
      owned_(false),
      buffer_(kBlock) {
  if (!path.empty() && path != "-") {
    descriptor_ = open_for_reading(path, name_);
    owned_ = true;
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    if (owned_) ::close(descriptor_);
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is a folder; name a file", name_));
  }
  progress_.emplace("bytes of " + what, known && S_ISREG(status.st_mode) ? status.st_size : 0,
                    printing);
}

LineReader::~LineReader() {
  if (owned_) ::close(descriptor_);
}

bool LineReader::read_more() {
  if (ended_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ > kLongestLine) {
    throw Error(ErrorCode::parse_error,
                fmt::format("{} has more than {} bytes; is this the right file?", place(line_ + 1),
                            kLongestLine));
  }
  if (buffer_.size() - end_ < kBlock) buffer_.resize(end_ + kBlock);
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, buffer_.data() + end_, kBlock);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    throw Error(ErrorCode::io, fmt::format("cannot read {}: {}; check the file and its permissions",
                                           name_, reason(errno)));
  }
  progress_->advance(count);
  end_ += static_cast<std::size_t>(count);
  ended_ = count == 0;
  return !ended_;
}

bool LineReader::must_wait() const {
  return !ended_ && std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) == nullptr;
}

std::optional<std::string_view> LineReader::next() {
  std::size_t looked = 0;  // no line feed in so many bytes from begin_
  while (true) {
    const char* start = buffer_.data() + begin_;
    const void* found = std::memchr(start + looked, '\n', end_ - begin_ - looked);
    std::size_t length = end_ - begin_;
    if (found != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
    } else {
      looked = length;
      if (read_more()) continue;
      if (length == 0) return std::nullopt;
      start = buffer_.data() + begin_;
    }
    begin_ += length + (found != nullptr ? 1 : 0);
    ++line_;
    std::string_view line(start, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
}

std::string LineReader::place(std::int64_t line) const {
  return fmt::format("line {} of {}", line, name_);
}

}  // namespace shoal::cli
