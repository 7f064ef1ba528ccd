// The rows of a CSV text by the rules as they are written down, slowly, with the text as a whole in
// view: what the reader is compared with.
#pragma once

#include "engine/csv_rows.hpp"

#include <optional>
#include <string>
#include <vector>

namespace shoal::test {

using CsvRow = std::vector<std::optional<std::string>>;

class CsvReference {
 public:
  CsvReference(std::string text, engine::CsvShape shape, std::size_t longest_row)
      : text_(std::move(text)), shape_(shape), longest_row_(longest_row) {}

  std::vector<CsvRow> rows() const {
    std::size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    bool header = shape_.has_header;
    std::vector<CsvRow> rows;
    while (at < text_.size()) {
      const std::size_t begin = at;
      const std::size_t line = text_.find_first_of("\r\n", begin);
      std::size_t end = line == std::string::npos ? text_.size() : line;
      const auto whole = well_formed_end(begin, header);
      if (whole && *whole > end) end = *whole;
      at = end;
      if (at < text_.size()) at += text_.compare(at, 2, "\r\n") == 0 ? 2U : 1U;
      if (end == begin) continue;
      if (!header) rows.push_back(fields(text_.substr(begin, end - begin)));
      header = false;
    }
    return rows;
  }

 private:
  bool ends(std::size_t at) const {
    return at == text_.size() || text_[at] == '\n' || text_[at] == '\r';
  }

  // Where the row ends that starts there, if it is well formed and has the header's fields.
  std::optional<std::size_t> well_formed_end(std::size_t at, bool header) const {
    for (std::size_t count = 1;; ++count) {
      if (at < text_.size() && text_[at] == shape_.quote) {
        for (++at;; ++at) {
          if (at >= text_.size()) return std::nullopt;
          if (text_[at] != shape_.quote) continue;
          if (at + 1 < text_.size() && text_[at + 1] == shape_.quote) {
            ++at;
          } else {
            break;
          }
        }
        ++at;
      } else {
        while (!ends(at) && text_[at] != shape_.delimiter) {
          if (text_[at] == shape_.quote) return std::nullopt;
          ++at;
        }
      }
      if (ends(at)) return header || count == shape_.fields ? std::optional(at) : std::nullopt;
      if (text_[at] != shape_.delimiter) return std::nullopt;
      ++at;
    }
  }

  CsvRow fields(std::string row) const {
    const bool cut = row.size() > longest_row_;
    if (cut) row.resize(longest_row_);
    CsvRow fields;
    std::optional<std::size_t> at = 0;
    while (at && fields.size() < shape_.fields) {
      std::string field;
      const bool lost = !next_field(row, cut, *at, at, field);
      const bool none = lost || field.empty() || !engine::is_text(field);
      fields.push_back(none ? std::nullopt : std::optional(field));
    }
    fields.resize(shape_.fields);
    return fields;
  }

  // False if it goes on where the row was cut.
  bool next_field(const std::string& row, bool cut, std::size_t at,
                  std::optional<std::size_t>& next, std::string& field) const {
    const auto step_to = [&](std::size_t end) {
      next = end == row.size() ? std::nullopt : std::optional(end + 1);
    };
    if (at < row.size() && row[at] == shape_.quote) {
      std::string inside;
      std::size_t i = at + 1;
      for (; i < row.size(); ++i) {
        if (row[i] == shape_.quote) {
          if (i + 1 >= row.size() || row[i + 1] != shape_.quote) break;
          ++i;
        }
        inside += row[i];
      }
      if (cut && i + 1 >= row.size()) {
        next.reset();
        return false;
      }
      if (i < row.size() && (i + 1 == row.size() || row[i + 1] == shape_.delimiter)) {
        field = inside;
        step_to(i + 1);
        return true;
      }
    }
    const std::size_t end = std::min(row.find(shape_.delimiter, at), row.size());
    field = row.substr(at, end - at);
    step_to(end);
    return !cut || end < row.size();
  }

  std::string text_;
  engine::CsvShape shape_;
  std::size_t longest_row_;
};

}  // namespace shoal::test
