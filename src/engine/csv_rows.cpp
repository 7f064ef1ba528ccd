#include "engine/csv_rows.hpp"

#include "engine/csv_scan.hpp"

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
#include <utility>

namespace shoal::engine {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool ends_line(char c) { return c == '\n' || c == '\r'; }

[[noreturn]] void cannot_read(int error) {
  throw Error(ErrorCode::io, fmt::format("a CSV file cannot be read: {}; check the disk",
                                         std::generic_category().message(error)));
}

// Line breaks in a text that comes in pieces.
class LineBreaks {
 public:
  void add(const char* begin, const char* end) {
    for (const char* at = begin; (at = find_any(at, end, '\n', '\r')) != end; ++at) {
      const char before = at == begin ? last_ : at[-1];
      count_ += *at == '\n' && before == '\r' ? 0 : 1;
    }
    if (begin != end) last_ = end[-1];
  }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  char last_ = 0;
};

// Reads a well-formed row, in as many pieces as it comes, and nothing else.
class WellFormed {
 public:
  enum class Found { more, end, broken };

  explicit WellFormed(const CsvShape& shape) : delimiter_(shape.delimiter), quote_(shape.quote) {}

  // The next piece: used() bytes of it belong to the row, up to its line end if that was found.
  Found feed(const char* begin, const char* end) {
    const char* at = begin;
    Found found = Found::more;
    while (at != end && found == Found::more) found = step(at, end);
    used_ = static_cast<std::size_t>(at - begin);
    return found;
  }
  // At the end of the file.
  Found finish() const { return state_ == State::quoted ? Found::broken : Found::end; }

  std::size_t used() const { return used_; }
  std::size_t fields() const { return fields_; }

 private:
  enum class State { field_start, unquoted, quoted, behind_quote };

  Found step(const char*& at, const char* end) {
    switch (state_) {
      case State::field_start:
        state_ = *at == quote_ ? State::quoted : State::unquoted;
        if (state_ == State::quoted) ++at;
        return Found::more;
      case State::quoted:
        at = find_any(at, end, quote_);
        if (at == end) return Found::more;
        ++at;
        state_ = State::behind_quote;
        return Found::more;
      case State::behind_quote:
        if (*at != quote_) return behind_field(at);
        ++at;
        state_ = State::quoted;
        return Found::more;
      case State::unquoted:
        break;
    }
    at = find_any(at, end, delimiter_, quote_, '\n', '\r');
    return at == end ? Found::more : behind_field(at);
  }

  Found behind_field(const char*& at) {
    if (ends_line(*at)) return Found::end;
    if (*at != delimiter_) return Found::broken;
    ++fields_;
    ++at;
    state_ = State::field_start;
    return Found::more;
  }

  char delimiter_;
  char quote_;
  State state_ = State::field_start;
  std::size_t fields_ = 1;
  std::size_t used_ = 0;
};

}  // namespace

CsvCounts& CsvCounts::operator+=(const CsvCounts& other) {
  rows += other.rows;
  blank_lines += other.blank_lines;
  multi_line_rows += other.multi_line_rows;
  most_lines = std::max(most_lines, other.most_lines);
  unclosed_quotes += other.unclosed_quotes;
  oversized_rows += other.oversized_rows;
  padded_rows += other.padded_rows;
  cut_rows += other.cut_rows;
  not_text_rows += other.not_text_rows;
  return *this;
}

namespace {

int open_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) return descriptor;
  if (errno != ENOENT) cannot_read(errno);
  throw Error(ErrorCode::not_found,
              fmt::format("there is no file {}; check the name", path.string()));
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path) : FileBytes(open_file(path)) {}

FileBytes::FileBytes(int descriptor) : descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    cannot_read(error);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
#if defined(POSIX_FADV_SEQUENTIAL)
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

FileBytes::~FileBytes() { ::close(descriptor_); }

std::size_t FileBytes::read(std::uint64_t offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(descriptor_, into.data() + done, into.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_read(errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::size_t TextBytes::read(std::uint64_t offset, std::span<char> into) const {
  if (offset >= text_.size()) return 0;
  const std::string_view part = text_.substr(offset, into.size());
  std::copy(part.begin(), part.end(), into.begin());
  return part.size();
}

// A row that is looked for in a block.
struct CsvSplitter::Line {
  const char* begin;
  const char* limit;           // of what was read
  const char* end = nullptr;   // of the row's text, as far as it was read
  const char* next = nullptr;  // where the next row starts
  std::uint64_t size = 0;      // of the row's text
  std::int64_t breaks = 0;     // line breaks inside
  bool quotes = false;
  bool unclosed = false;
};

CsvSplitter::CsvSplitter(const ByteSource& source, const CsvShape& shape, std::size_t block_bytes,
                         std::size_t longest_row)
    : source_(source),
      shape_(shape),
      block_bytes_(std::max<std::size_t>(block_bytes, 1)),
      longest_row_(longest_row),
      header_pending_(shape.has_header) {
  char mark[kByteOrderMark.size()];
  const std::size_t count = source_.read(0, mark);
  if (std::string_view(mark, count) == kByteOrderMark) offset_ = count;
}

void CsvSplitter::keep_rest(const CsvBlock& block, std::size_t at) {
  rest_.assign(block.bytes.begin() + static_cast<std::ptrdiff_t>(at),
               block.bytes.begin() + static_cast<std::ptrdiff_t>(filled_));
  offset_ += at;
}

// The rest and what follows it.
void CsvSplitter::read_more(CsvBlock& block, std::size_t wanted) {
  const std::size_t size = std::max(wanted, 2 * rest_.size());
  if (block.bytes.size() < size + CsvBlock::kPadding) block.bytes.resize(size + CsvBlock::kPadding);
  std::copy(rest_.begin(), rest_.end(), block.bytes.begin());
  const std::span<char> room(block.bytes.data() + rest_.size(), size - rest_.size());
  const std::size_t count = source_.read(offset_ + rest_.size(), room);
  ended_ = count < room.size();
  filled_ = rest_.size() + count;
}

// Ends the row at `at`. False if what follows decides.
bool CsvSplitter::line_end(Line& line, const char* at) const {
  line.end = at;
  line.next = at;
  line.size = static_cast<std::uint64_t>(at - line.begin);
  if (at == line.limit) return ended_;
  ++line.next;
  if (*at != '\r') return true;
  if (line.next == line.limit) return ended_;
  if (*line.next == '\n') ++line.next;
  return true;
}

// Finds the end of the row. False if what was read does not decide it.
bool CsvSplitter::row_at(Line& line) {
  const char quote = shape_.quote;
  const char* const limit = line.limit;
  line.quotes = line.unclosed = false;
  line.breaks = 0;
  const char* at = find_any(line.begin, limit, quote, '\n', '\r');
  while (at != limit && *at == quote) {
    line.quotes = true;
    // The line is no well-formed row: an ordinary character like others.
    if (at != line.begin && at[-1] != shape_.delimiter)
      return line_end(line, find_any(at, limit, '\n', '\r'));
    at = find_any(at + 1, limit, quote, '\n', '\r');
    while (limit - at > 1 && *at == quote && at[1] == quote)
      at = find_any(at + 2, limit, quote, '\n', '\r');
    if (at == limit && !ended_) return false;
    if (at == limit || *at != quote) return several_lines(line);
    ++at;
    if (at == limit || ends_line(*at)) return line_end(line, at);
    if (*at != shape_.delimiter) return line_end(line, find_any(at, limit, '\n', '\r'));
    at = find_any(at + 1, limit, quote, '\n', '\r');
  }
  return line_end(line, at);
}

// The row goes on behind its line if it is well formed.
bool CsvSplitter::several_lines(Line& line) {
  WellFormed row(shape_);
  WellFormed::Found found = row.feed(line.begin, line.limit);
  if (found == WellFormed::Found::more && !ended_) return false;
  if (found == WellFormed::Found::more) found = row.finish();
  if (found == WellFormed::Found::end && (header_pending_ || row.fields() == shape_.fields)) {
    const char* const end = line.begin + row.used();
    LineBreaks breaks;
    breaks.add(line.begin, end);
    line.breaks = breaks.count();
    return line_end(line, end);
  }
  line.unclosed = true;
  return line_end(line, find_any(line.begin, line.limit, '\n', '\r'));
}

// Where the line ends that goes on at `offset`.
std::uint64_t CsvSplitter::far_line_end(std::uint64_t offset) {
  while (const std::size_t count = source_.read(offset, far_)) {
    const char* const end = far_.data() + count;
    const char* const found = find_any(std::as_const(far_).data(), end, '\n', '\r');
    offset += static_cast<std::uint64_t>(found - far_.data());
    if (found != end) break;
  }
  return offset;
}

// A row that the block does not decide, although it holds more of it than is kept. What follows is
// looked at piece by piece. True if the row ends behind the block.
bool CsvSplitter::far_row(CsvBlock& block, Line& line) {
  far_.resize(block_bytes_);
  const std::uint64_t begin = offset_ + static_cast<std::uint64_t>(line.begin - block.bytes.data());
  const std::uint64_t limit = offset_ + filled_;
  WellFormed row(shape_);
  WellFormed::Found found = row.feed(line.begin, line.limit);
  LineBreaks breaks;
  breaks.add(line.begin, line.begin + row.used());
  std::uint64_t place = begin + row.used();
  line.unclosed = false;
  while (found == WellFormed::Found::more) {
    const std::size_t count = source_.read(place, far_);
    if (count == 0) {
      found = row.finish();
      line.unclosed = found == WellFormed::Found::broken;
      break;
    }
    found = row.feed(far_.data(), far_.data() + count);
    breaks.add(far_.data(), far_.data() + row.used());
    place += row.used();
  }
  const char* const first = find_any(line.begin, line.limit, '\n', '\r');
  std::uint64_t end = begin + static_cast<std::uint64_t>(first - line.begin);
  if (first == line.limit) end = far_line_end(limit);
  line.quotes = true;
  if (place > end && found == WellFormed::Found::end &&
      (header_pending_ || row.fields() == shape_.fields)) {
    end = place;
    line.breaks = breaks.count();
  } else {
    line.unclosed = line.unclosed || place > end;
  }
  if (end + 1 < limit) {
    line_end(line, line.begin + (end - begin));
    return false;
  }
  line.size = end - begin;
  line.end = line.begin + std::min<std::uint64_t>(line.size, filled_);
  char behind[2] = {};
  const std::size_t count = source_.read(end, behind);
  offset_ =
      end +
      (count == 2 && behind[0] == '\r' && behind[1] == '\n' ? 2 : std::min<std::size_t>(count, 1));
  return true;
}

void CsvSplitter::take(CsvBlock& block, const Line& line) {
  const std::uint64_t number =
      std::exchange(line_, line_ + 1 + static_cast<std::uint64_t>(line.breaks));
  if (line.size == 0) {
    ++counts_.blank_lines;
    return;
  }
  const CsvBlock::Row row{
      number, static_cast<std::uint32_t>(line.begin - block.bytes.data()),
      static_cast<std::uint32_t>(std::min<std::uint64_t>(line.size, longest_row_)), line.quotes,
      line.size > longest_row_};
  if (header_pending_) {
    header_pending_ = false;
    CsvField field;
    for (CsvFields fields(shape_, block.bytes.data(), row); fields.next(field);) {
      std::string& name = header_.emplace_back(field.text);
      if (field.doubled) undouble(field.text, shape_.quote, name);
    }
    return;
  }
  ++counts_.rows;
  counts_.unclosed_quotes += line.unclosed ? 1 : 0;
  counts_.oversized_rows += row.cut ? 1 : 0;
  if (line.breaks > 0) {
    ++counts_.multi_line_rows;
    counts_.most_lines = std::max(counts_.most_lines, line.breaks + 1);
  }
  block.rows.push_back(row);
}

bool CsvSplitter::next(CsvBlock& block) {
  block.rows.clear();
  block.first_row = static_cast<std::uint64_t>(counts_.rows);
  while (block.rows.empty()) {
    read_more(block, block_bytes_);
    Line line{block.bytes.data(), block.bytes.data() + filled_};
    bool beyond = false;
    while (line.begin != line.limit && !beyond) {
      if (!row_at(line)) {
        // Rows before it go first: then it stands at the start of its own block.
        if (!block.rows.empty() ||
            static_cast<std::size_t>(line.limit - line.begin) <= longest_row_ + 1)
          break;
        beyond = far_row(block, line);
      }
      take(block, line);
      if (!beyond) line.begin = line.next;
    }
    if (beyond) {
      rest_.clear();
    } else {
      keep_rest(block, static_cast<std::size_t>(line.begin - block.bytes.data()));
    }
    if (ended_ && rest_.empty() && !beyond) break;
  }
  return !block.rows.empty();
}

bool CsvFields::next_quoted(CsvField& field) {
  const char* const begin = at_ + 1;
  field.doubled = false;
  const char* close = find_any(begin, end_, quote_);
  while (end_ - close > 1 && close[1] == quote_) {
    field.doubled = true;
    close = find_any(close + 2, end_, quote_);
  }
  if (cut_ && end_ - close <= 1) {
    field.lost = true;
    at_ = nullptr;
    return true;
  }
  if (close == end_) return false;
  if (close + 1 != end_ && close[1] != delimiter_) return false;
  field.text = {begin, static_cast<std::size_t>(close - begin)};
  at_ = close + 1 == end_ ? nullptr : close + 2;
  return true;
}

bool CsvFields::next(CsvField& field) {
  if (at_ == nullptr) return false;
  field.lost = false;
  if (quotes_ && at_ != end_ && *at_ == quote_ && next_quoted(field)) return true;
  field.doubled = false;
  const char* const found = find_any(at_, end_, delimiter_);
  field.text = {at_, static_cast<std::size_t>(found - at_)};
  field.lost = cut_ && found == end_;
  at_ = found == end_ ? nullptr : found + 1;
  return true;
}

std::vector<std::string> read_csv_names(const ByteSource& source, const CsvShape& shape) {
  // Most headers fit, and little of the rows is read with them.
  CsvSplitter splitter(source, {shape.delimiter, shape.quote, true, 0}, std::size_t{1} << 12);
  CsvBlock block;
  splitter.next(block);
  return splitter.header();
}

void undouble(std::string_view field, char quote, std::string& text) {
  text.clear();
  for (std::size_t at = 0; at < field.size(); ++at) {
    text += field[at];
    if (field[at] == quote) ++at;
  }
}

bool is_text(std::string_view field) {
  return is_plain_ascii(field.data(), field.data() + field.size()) ||
         (field.find('\0') == std::string_view::npos && is_utf8(field, false));
}

}  // namespace shoal::engine
