// The rows of a CSV file, read so that no row can change another one and nothing in the file can
// fail.
//
//   file  = [mark] [header end] { row end }      end = \n, \r\n or \r
//   row   = a well-formed row, or else one line
//
// A row is well formed if each of its fields either holds no quote, delimiter or line end, or
// stands in quotes with every quote inside doubled (RFC 4180). A well-formed row may cover several
// lines, if it has exactly as many fields as the header. Every other line is a row by itself: a
// quote that is never closed is an ordinary character. Blank lines are no rows.
//
// The fields of a row that is a line: one that starts with a quote and has its closing quote (the
// first that is not doubled) before a delimiter or the line's end is what stands between them.
// Otherwise it goes to the next delimiter, quotes and all.
//
// csv_rows.proof.md shows what a row can change, and that the time is linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

// Fields that do not end within so many bytes of their row are NULL.
inline constexpr std::size_t kLongestCsvRow = std::size_t{1} << 24;

struct CsvShape {
  char delimiter = ',';
  char quote = '"';
  bool has_header = true;
  std::size_t fields = 0;  // of every row
};

// What was done to the rows: for the owner alone. The last three cover the fields that were read.
struct CsvCounts {
  std::int64_t rows = 0;
  std::int64_t blank_lines = 0;
  std::int64_t multi_line_rows = 0;
  std::int64_t most_lines = 0;       // of one of them
  std::int64_t unclosed_quotes = 0;  // lines whose open quote was taken for a character
  std::int64_t oversized_rows = 0;   // longer than kLongestCsvRow: fields beyond it are NULL
  std::int64_t padded_rows = 0;      // fewer fields than the header
  std::int64_t cut_rows = 0;         // more fields than the header
  std::int64_t not_text_rows = 0;    // hold a field that is no UTF-8, or has a NUL byte: NULL

  CsvCounts& operator+=(const CsvCounts& other);
  bool operator==(const CsvCounts&) const = default;
};

// Bytes at places: a file, or a text in memory.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  // Fills `into` from `offset` on, less only at the end. Throws io.
  virtual std::size_t read(std::uint64_t offset, std::span<char> into) const = 0;
  virtual std::uint64_t size() const = 0;
};

class FileBytes : public ByteSource {
 public:
  // Throws not_found, io.
  explicit FileBytes(const std::filesystem::path& path);
  // Closes it in the end.
  explicit FileBytes(int descriptor);
  ~FileBytes() override;
  std::size_t read(std::uint64_t offset, std::span<char> into) const override;
  std::uint64_t size() const override { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_;
};

class TextBytes : public ByteSource {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  std::size_t read(std::uint64_t offset, std::span<char> into) const override;
  std::uint64_t size() const override { return text_.size(); }

 private:
  std::string_view text_;
};

// Whole rows, without their line ends.
struct CsvBlock {
  struct Row {
    std::uint64_t line;  // of the file, from 1: its first
    std::uint32_t begin;
    std::uint32_t size;
    bool quotes;  // holds one
    bool cut;     // goes on in the file
  };
  std::vector<char> bytes;  // more than the rows have: kPadding of them may be read behind each
  std::vector<Row> rows;
  std::uint64_t first_row = 0;  // its number in the file, from 0

  static constexpr std::size_t kPadding = 16;
};

// Splits a file into rows, block by block. The rows depend on the file alone, not on the blocks.
class CsvSplitter {
 public:
  // `block_bytes` is how much is read at a time. Of a row so many bytes are kept.
  CsvSplitter(const ByteSource& source, const CsvShape& shape,
              std::size_t block_bytes = std::size_t{1} << 21,
              std::size_t longest_row = kLongestCsvRow);

  // The next rows; false at the end. Throws io.
  bool next(CsvBlock& block);
  // The fields of the header, once next() was called. Empty without one.
  const std::vector<std::string>& header() const { return header_; }
  // Of the rows so far.
  const CsvCounts& counts() const { return counts_; }
  // Bytes of the file that the rows so far cover.
  std::uint64_t consumed() const { return offset_; }

 private:
  struct Line;

  // What the bytes of the block before `at` leave over is kept for the next block.
  void keep_rest(const CsvBlock& block, std::size_t at);
  void read_more(CsvBlock& block, std::size_t wanted);
  bool line_end(Line& line, const char* at) const;
  bool row_at(Line& line);
  bool several_lines(Line& line);
  std::uint64_t far_line_end(std::uint64_t offset);
  bool far_row(CsvBlock& block, Line& line);
  void take(CsvBlock& block, const Line& line);

  const ByteSource& source_;
  CsvShape shape_;
  std::size_t block_bytes_;
  std::size_t longest_row_;
  std::vector<char> rest_;    // read and not yet handed out
  std::vector<char> far_;     // for looking ahead of a block
  std::size_t filled_ = 0;    // bytes of the block that came from the file
  std::uint64_t offset_ = 0;  // in the file, of the block's first byte
  bool ended_ = false;        // the block reaches the end of the file
  std::uint64_t line_ = 1;    // of the file, where the next row starts
  bool header_pending_;
  std::vector<std::string> header_;
  CsvCounts counts_;
};

struct CsvField {
  std::string_view text;
  bool doubled = false;  // holds doubled quotes, each of which stands for one
  bool lost = false;     // goes on where the row was cut
};

// The fields of a row, one after the other.
class CsvFields {
 public:
  CsvFields(const CsvShape& shape, const char* bytes, const CsvBlock::Row& row)
      : at_(bytes + row.begin),
        end_(at_ + row.size),
        delimiter_(shape.delimiter),
        quote_(shape.quote),
        quotes_(row.quotes),
        cut_(row.cut) {}

  // False behind the last.
  bool next(CsvField& field);

 private:
  bool next_quoted(CsvField& field);

  const char* at_;  // null behind the last
  const char* end_;
  char delimiter_;
  char quote_;
  bool quotes_;
  bool cut_;
};

// The fields of the header. Empty if there is no row. Throws io.
std::vector<std::string> read_csv_names(const ByteSource& source, const CsvShape& shape);

// The text of a field with doubled quotes, into `text`.
void undouble(std::string_view field, char quote, std::string& text);

// Whether a field is text at all: UTF-8 without NUL bytes.
bool is_text(std::string_view field);

}  // namespace shoal::engine
