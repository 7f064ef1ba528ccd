// Lines in and bytes out, in large blocks. For commands that go through more than fits in memory.
#pragma once

#include "progress.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

// Thrown by Output if nobody reads any more, as after `| head`. Not an error: the program ends
// without a word, with the status that the signal would have given it.
struct ReaderGone {};
inline constexpr int kReaderGoneStatus = 141;  // 128 + SIGPIPE

// Standard output. What was written is there after flush(), or an exception was thrown: io if the
// output cannot take it, such as a full disk.
class Output {
 public:
  Output();
  void write(std::string_view text);
  // At least this many bytes to write to, up to kMostRoom; used() says how many were.
  char* room(std::size_t size);
  void used(std::size_t size) { size_ += size; }
  void flush();

  static constexpr std::size_t kMostRoom = 4096;

 private:
  std::vector<char> buffer_;
  std::size_t size_ = 0;
};

// All of it, at once.
void print_text(std::string_view text);

// The lines of a file, or of standard input if the path is empty or "-". A line ends with a line
// feed, with or without a carriage return before it, or with the input.
class LineReader {
 public:
  // Throws not_found, invalid_argument (a folder) or io.
  LineReader(const std::string& path, const std::string& what, Printing printing);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  // The next line without its end, valid until the next call; nothing at the end of the input.
  // Throws io, and parse_error for a line of more than kLongestLine bytes.
  std::optional<std::string_view> next();
  // The number of the line that next() gave last, from 1.
  std::int64_t line() const { return line_; }
  // Whether next() will have to wait for the input.
  bool must_wait() const;
  // "line 7 of file.csv", "line 7 of standard input".
  std::string place(std::int64_t line) const;
  // Ends the progress bar.
  void finish() { progress_->finish(); }

  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

 private:
  bool read_more();

  std::string name_;
  int descriptor_;
  bool owned_;
  bool ended_ = false;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_ = 0;
  std::optional<Progress> progress_;
};

}  // namespace shoal::cli
