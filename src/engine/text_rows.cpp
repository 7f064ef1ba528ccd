#include "engine/csv_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/text_rows.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace shoal::engine {
namespace {

// Fields of rows and lines have commas between them.
constexpr CsvShape kShape{',', '"', true, 0};
constexpr std::size_t kStep = std::size_t{1} << 16;

class Descriptor {
 public:
  Descriptor(const std::string& path, const std::string& name) {
    if (path.empty() || path == "-") return;
    number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number_ >= 0) return;
    if (errno == ENOENT)
      throw Error(ErrorCode::not_found, fmt::format("there is no file {}; check the name", name));
    throw Error(ErrorCode::io, fmt::format("cannot read {}: {}; check its permissions", name,
                                           std::generic_category().message(errno)));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ != STDIN_FILENO) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_ = STDIN_FILENO;
};

// What a pipe gave and may still be asked for.
class StreamBytes : public ByteSource {
 public:
  StreamBytes(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  std::size_t read(std::uint64_t offset, std::span<char> into) const override {
    SHOAL_CHECK(offset >= begin_);
    while (!ended_ && begin_ + held_.size() < offset + into.size()) read_more();
    const std::uint64_t end = begin_ + held_.size();
    if (offset >= end) return 0;
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), end - offset));
    std::copy_n(held_.begin() + static_cast<std::ptrdiff_t>(offset - begin_), count, into.begin());
    return count;
  }
  std::uint64_t size() const override { return 0; }
  // Nothing before it is asked for any more.
  void forget(std::uint64_t offset) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(offset - begin_));
    begin_ = offset;
  }

 private:
  void read_more() const {
    const std::size_t size = held_.size();
    held_.resize(size + kStep);
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, held_.data() + size, kStep);
    } while (count < 0 && errno == EINTR);
    held_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) {
      throw Error(ErrorCode::io, fmt::format("cannot read {}: {}; check it and its permissions",
                                             name_, std::generic_category().message(errno)));
    }
    ended_ = count == 0;
  }

  int descriptor_;
  std::string name_;
  std::uint64_t begin_ = 0;
  mutable std::vector<char> held_;
  mutable bool ended_ = false;
};

// The fields of a row. Those that were unquoted are views into `unquoted`.
void split_row(const char* bytes, const CsvBlock::Row& row, std::string& unquoted,
               std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted.clear();
  // Texts without their quotes are no longer than the row: views into it stay where they are.
  unquoted.reserve(row.size);
  std::string text;
  CsvFields cursor(kShape, bytes, row);
  for (CsvField field; cursor.next(field);) {
    std::string_view found = field.lost ? std::string_view() : field.text;
    if (field.doubled && !field.lost) {
      undouble(field.text, kShape.quote, text);
      const std::size_t begin = unquoted.size();
      unquoted += text;
      found = std::string_view(unquoted).substr(begin);
    }
    fields.push_back(is_text(found) ? found : std::string_view());
  }
}

}  // namespace

struct TextRows::State {
  State(const std::string& path, FirstRow first)
      : name(path.empty() || path == "-" ? "standard input" : printable(path, 200)),
        descriptor(path, name) {
    struct stat status {};
    const bool known = ::fstat(descriptor.number(), &status) == 0;
    if (known && S_ISDIR(status.st_mode))
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is a folder; name a file", name));
    // Standard input may be a file of which another program has read a part.
    if (known && S_ISREG(status.st_mode) && ::lseek(descriptor.number(), 0, SEEK_CUR) == 0) {
      source = std::make_unique<FileBytes>(::dup(descriptor.number()));
    } else {
      auto bytes = std::make_unique<StreamBytes>(descriptor.number(), name);
      stream = bytes.get();
      source = std::move(bytes);
    }
    std::vector<std::string> names = read_csv_names(*source, kShape);
    CsvShape shape = kShape;
    shape.fields = names.size();
    shape.has_header = first == FirstRow::header;
    if (shape.has_header) header = std::move(names);
    splitter.emplace(*source, shape, kStep);
  }

  bool next() {
    if (next_row == block.rows.size()) {
      next_row = 0;
      const bool found = splitter->next(block);
      if (stream != nullptr) stream->forget(splitter->consumed());
      if (!found) return false;
    }
    row = block.rows[next_row++];
    split_row(block.bytes.data(), row, unquoted, fields);
    return true;
  }

  std::string name;
  Descriptor descriptor;
  std::unique_ptr<ByteSource> source;
  StreamBytes* stream = nullptr;  // the source, if it is one
  std::optional<CsvSplitter> splitter;
  std::vector<std::string> header;
  CsvBlock block;
  std::size_t next_row = 0;
  CsvBlock::Row row{};
  std::string unquoted;
  std::vector<std::string_view> fields;
};

TextRows::TextRows(const std::string& path, FirstRow first)
    : state_(std::make_unique<State>(path, first)) {}
TextRows::TextRows(TextRows&&) noexcept = default;
TextRows& TextRows::operator=(TextRows&&) noexcept = default;
TextRows::~TextRows() = default;

const std::vector<std::string>& TextRows::header() const { return state_->header; }
bool TextRows::next() { return state_->next(); }
std::span<const std::string_view> TextRows::fields() const { return state_->fields; }
std::string TextRows::place() const {
  return fmt::format("line {} of {}", state_->row.line, state_->name);
}
std::uint64_t TextRows::bytes_read() const { return state_->splitter->consumed(); }
std::uint64_t TextRows::bytes() const { return state_->source->size(); }

std::span<const std::string_view> LineFields::split(std::string_view line) {
  const CsvBlock::Row row{1, 0, static_cast<std::uint32_t>(line.size()), true, false};
  split_row(line.data(), row, unquoted_, fields_);
  return fields_;
}

}  // namespace shoal::engine
