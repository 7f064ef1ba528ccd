// The rows of a CSV file that the asker may see, with a bar that shows how much of it is read.
#pragma once

#include "progress.hpp"

#include <shoal/engine/text_rows.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {

class RowFile {
 public:
  // What the bar counts the bytes of. Throws as TextRows does.
  RowFile(const std::string& path, const std::string& what,
          engine::FirstRow first = engine::FirstRow::header)
      : rows_(path, first),
        progress_("bytes of " + what, static_cast<std::int64_t>(rows_.bytes()),
                  Printing::at_the_end) {}

  bool next() {
    const bool found = rows_.next();
    const auto read = static_cast<std::int64_t>(rows_.bytes_read());
    if (read != shown_) progress_.advance(read - shown_);
    shown_ = read;
    return found;
  }
  const std::vector<std::string>& header() const { return rows_.header(); }
  std::span<const std::string_view> fields() const { return rows_.fields(); }
  std::string place() const { return rows_.place(); }
  // Ends the bar.
  void finish() { progress_.finish(); }

 private:
  engine::TextRows rows_;
  Progress progress_;
  std::int64_t shown_ = 0;
};

// A field as it is written: in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace shoal::cli
