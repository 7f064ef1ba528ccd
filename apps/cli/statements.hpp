// Text that arrives line by line, cut into statements at each semicolon that stands neither in a
// string, nor in a quoted name, nor in a comment. Every byte is looked at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::cli {

class StatementBuffer {
 public:
  void add_line(std::string_view line);

  // The next whole statement, without its semicolon; nothing if there is none yet. Statements of
  // spaces and comments alone are skipped.
  std::optional<std::string> next();

  // What was never ended by a semicolon, unless it is spaces and comments alone. Empties.
  std::optional<std::string> rest();

  // Nothing has begun: what comes next may be a command.
  bool idle() const { return !has_code_ && mode_ == Mode::code; }

  // What would have to be closed: ' or " or * (a comment), or a space.
  char open_mark() const;

  void clear();

 private:
  enum class Mode { code, string, name, line_comment, block_comment };

  // Looks at the byte at scanned_ and moves on; true if it ends a statement.
  bool step();
  std::optional<std::string> cut(std::size_t end, std::size_t next);

  std::string text_;
  std::size_t scanned_ = 0;
  Mode mode_ = Mode::code;
  int depth_ = 0;  // of comments in comments
  bool has_code_ = false;
};

}  // namespace shoal::cli
