#include "statements.hpp"

#include <utility>

namespace shoal::cli {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

}  // namespace

void StatementBuffer::add_line(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

bool StatementBuffer::step() {
  const char c = text_[scanned_];
  const char following = scanned_ + 1 < text_.size() ? text_[scanned_ + 1] : '\n';
  std::size_t taken = 1;
  bool ends = false;
  switch (mode_) {
    case Mode::code:
      if (c == '-' && following == '-') {
        mode_ = Mode::line_comment;
      } else if (c == '/' && following == '*') {
        mode_ = Mode::block_comment;
        depth_ = 1;
        taken = 2;
      } else if (c == ';') {
        ends = true;
      } else if (!is_space(c)) {
        has_code_ = true;
        if (c == '\'') mode_ = Mode::string;
        if (c == '"') mode_ = Mode::name;
      }
      break;
    // A doubled quote ends and begins again: the same as going on.
    case Mode::string:
      if (c == '\'') mode_ = Mode::code;
      break;
    case Mode::name:
      if (c == '"') mode_ = Mode::code;
      break;
    case Mode::line_comment:
      if (c == '\n') mode_ = Mode::code;
      break;
    case Mode::block_comment:
      if (c == '/' && following == '*') {
        ++depth_;
        taken = 2;
      } else if (c == '*' && following == '/') {
        if (--depth_ == 0) mode_ = Mode::code;
        taken = 2;
      }
      break;
  }
  if (!ends) scanned_ += taken;
  return ends;
}

std::optional<std::string> StatementBuffer::cut(std::size_t end, std::size_t next) {
  std::optional<std::string> statement;
  if (has_code_) statement = text_.substr(0, end);
  text_.erase(0, next);
  scanned_ = 0;
  has_code_ = false;
  return statement;
}

std::optional<std::string> StatementBuffer::next() {
  while (scanned_ < text_.size()) {
    if (!step()) continue;
    if (auto statement = cut(scanned_, scanned_ + 1)) return statement;
  }
  // Spaces and closed comments before a statement are not kept: a command may follow.
  if (idle()) clear();
  return std::nullopt;
}

std::optional<std::string> StatementBuffer::rest() {
  const bool open = mode_ != Mode::code && mode_ != Mode::line_comment;
  has_code_ = has_code_ || open;
  auto statement = cut(text_.size(), text_.size());
  clear();
  return statement;
}

char StatementBuffer::open_mark() const {
  switch (mode_) {
    case Mode::string:
      return '\'';
    case Mode::name:
      return '"';
    case Mode::block_comment:
      return '*';
    default:
      return ' ';
  }
}

void StatementBuffer::clear() { *this = StatementBuffer(); }

}  // namespace shoal::cli
