// How long the texts of a row may keep an engine busy: a public bound, from the query alone.
//
// A constant can be long, and a condition can give it to one person's rows alone. Each text
// function reads its arguments, guards name an argument several times, and a search may take the
// product of two lengths: without a bound one row could take seconds, and the time would tell that
// it is there. A step is about ten nanoseconds. Private to the sql layer.
#pragma once

#include <shoal/sql/syntax.hpp>

#include <unordered_map>

namespace shoal::sql {

// A column's text counts as so many characters; longer ones are the table's own, and are read by
// whatever reads the table.
inline constexpr double kColumnCharacters = 200;
inline constexpr double kMaxRowSteps = 1'000'000;

class RowWork {
 public:
  // Adds what the expression takes, as it will be printed: a shared part counts each time. Returns
  // the most characters that it may have. Throws unsupported beyond kMaxRowSteps in all.
  double add(const Expression& expression);

  // Columns may be made by an inner query, of so many characters.
  double column = kColumnCharacters;

 private:
  struct Cost {
    double steps = 0;
    double longest = 0;  // 0 of what is no text
  };
  using Known = std::unordered_map<const Node*, Cost>;

  Cost cost(const Expression& expression, Known& known) const;

  double steps_ = 0;
};

}  // namespace shoal::sql
