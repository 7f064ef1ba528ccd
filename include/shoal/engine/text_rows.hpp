// The rows of a CSV file that is public, or is its asker's own, as text: new rows to predict,
// candidates, predictions. They are read by the rules of private tables (docs/reference/values.md):
// no row changes another one. Private tables are read through Engine alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

enum class FirstRow { header, data };

// A file is read piece by piece: memory does not grow with it.
class TextRows {
 public:
  // A file, or standard input if the path is empty or "-". Throws not_found, invalid_argument (a
  // folder), io.
  TextRows(const std::string& path, FirstRow first);
  TextRows(TextRows&&) noexcept;
  TextRows& operator=(TextRows&&) noexcept;
  ~TextRows();

  // Its names. Empty if the file has no row, or if the first is data.
  const std::vector<std::string>& header() const;
  // The next row; false behind the last. Throws io.
  bool next();
  // As many as the row has, valid until the next call. One that is no text (UTF-8 without NUL
  // bytes) is empty.
  std::span<const std::string_view> fields() const;
  // "line 7 of file.csv", "line 7 of standard input": where the row starts.
  std::string place() const;

  // Bytes that the rows so far cover, and of all rows; 0 if nobody knows, as of a pipe.
  std::uint64_t bytes_read() const;
  std::uint64_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One line as a row, for streams that are answered line by line.
class LineFields {
 public:
  // Its fields, valid as long as the line and until the next call.
  std::span<const std::string_view> split(std::string_view line);

 private:
  std::string unquoted_;
  std::vector<std::string_view> fields_;
};

}  // namespace shoal::engine
