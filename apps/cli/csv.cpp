#include "csv.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const LineReader& lines, std::int64_t line, const char* what) {
  throw Error(ErrorCode::parse_error, fmt::format("{}: {}", lines.place(line), what));
}

// Doubled quotes count twice, so an odd number of them means that a field goes on.
bool is_open(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 != 0; }

}  // namespace

bool CsvReader::next() {
  auto text = lines_->next();
  if (!text) return false;
  line_ = lines_->line();
  if (line_ == 1 && text->starts_with(kByteOrderMark)) text->remove_prefix(kByteOrderMark.size());
  bool open = is_open(*text);
  if (!open) {
    split(*text);
    return true;
  }
  record_.assign(*text);
  while (open) {
    text = lines_->next();
    if (!text) fail(*lines_, line_, "a quote is opened and never closed; close it");
    if (record_.size() + text->size() > LineReader::kLongestLine) {
      fail(*lines_, line_, "a quoted field goes on for more than a megabyte; close its quote");
    }
    record_ += '\n';
    record_ += *text;
    open ^= is_open(*text);
  }
  split(record_);
  return true;
}

void CsvReader::split(std::string_view record) {
  fields_.clear();
  unquoted_.clear();
  // Fields without their quotes are no longer than the record: views into it stay where they are.
  unquoted_.reserve(record.size());
  while (true) {
    if (!record.starts_with('"')) {
      const std::size_t comma = std::min(record.find(','), record.size());
      const std::string_view field = record.substr(0, comma);
      if (field.find('"') != std::string_view::npos) {
        fail(*lines_, line_, "a quote stands inside a field; quote the whole field and double it");
      }
      fields_.push_back(field);
      record.remove_prefix(comma);
    } else {
      const std::size_t start = unquoted_.size();
      std::size_t at = 1;
      while (at < record.size()) {
        if (record[at] == '"') {
          if (at + 1 >= record.size() || record[at + 1] != '"') break;
          ++at;
        }
        unquoted_ += record[at++];
      }
      fields_.push_back(std::string_view(unquoted_).substr(start));
      record.remove_prefix(std::min(at + 1, record.size()));
      if (!record.empty() && record.front() != ',') {
        fail(*lines_, line_, "text follows a closing quote; quote the whole field");
      }
    }
    if (record.empty()) return;
    record.remove_prefix(1);
  }
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace shoal::cli
