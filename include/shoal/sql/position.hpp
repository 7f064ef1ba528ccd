// Where something stands in a query's text, and errors that point there.
#pragma once

#include <shoal/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::sql {

// Line and column count from one, the column in characters; the offset counts bytes from zero.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t offset = 0;
  bool operator==(const Position&) const = default;
};

// Two lines: the source line and a caret below the position. A long line is clipped around the
// position, and control characters show as spaces, so that the excerpt is safe to print.
std::string point_at(std::string_view text, Position position);

// An error whose message is "line 1, column 8: <message>", followed by the excerpt of point_at.
Error error_at(ErrorCode code, std::string_view text, Position position, std::string_view message);

}  // namespace shoal::sql
