// CSV records, one after the other (RFC 4180): commas between fields, quotes around a field that
// holds commas, line ends or (doubled) quotes. Memory for one record only.
#pragma once

#include "streams.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

class CsvReader {
 public:
  explicit CsvReader(LineReader& lines) : lines_(&lines) {}

  // Reads the next record; false at the end. Throws parse_error for broken quotes, with the number
  // of the line and never its text: what a file holds may be secret.
  bool next();
  // Its fields, valid until the next call.
  std::span<const std::string_view> fields() const { return fields_; }
  // The number of its first line, from 1.
  std::int64_t line() const { return line_; }

 private:
  void split(std::string_view record);

  LineReader* lines_;
  std::int64_t line_ = 0;
  std::string record_;    // of several lines
  std::string unquoted_;  // fields that had quotes
  std::vector<std::string_view> fields_;
};

// A field as it is written: in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace shoal::cli
