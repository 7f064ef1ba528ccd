// A constant pattern of LIKE, as the engines can match it in time proportional to the text times
// the pattern.
//
// Engines try every split of a text again for each further %, so a pattern with k of them takes
// up to n^k steps on a text of n characters: minutes, on the one row that has such a text. Such a
// pattern is matched as a regular expression instead, which DuckDB and PostgreSQL match without
// going back. Private to the sql layer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::sql {

class LikePattern {
 public:
  explicit LikePattern(std::string_view written);

  // Whether LIKE itself never tries a split twice: at most one %, or two of which the second is the
  // end.
  bool is_plain() const;

  // The same pattern with each run of % and _ as its _ and then at most one %.
  std::string text() const;

  // The same as a regular expression for the whole text, where . is any character.
  std::string regular_expression() const;

  // Characters and runs.
  std::size_t size() const { return parts_.size(); }

 private:
  enum class Kind { character, any_character, any_text };
  struct Part {
    Kind kind;
    std::string character = {};
  };

  std::vector<Part> parts_;
};

}  // namespace shoal::sql
