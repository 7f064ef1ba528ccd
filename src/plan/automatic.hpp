// What a question leaves to be found, while it is planned: collects searches, and hands out what
// earlier ones found.
#pragma once

#include "plan/grouping.hpp"
#include "plan/relation.hpp"
#include "plan/row_expression.hpp"

#include <shoal/plan/automatic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

class AutomaticPlanner {
 public:
  // All must outlive it.
  AutomaticPlanner(const PlannedRelation& from, const RowExpressions& rows, const Findings& found,
                   std::string_view text)
      : from_(from), rows_(rows), found_(found), text_(text) {}

  // The bounds of a value that is written so; none while they are to be looked for. Throws
  // refused_by_policy if a search found none.
  std::optional<catalog::Bounds> bounds(const sql::Expression& value, const std::string& of,
                                        sql::Position position);

  // How many groups of a person count; none while it is to be looked for. Throws as bounds().
  std::optional<std::int64_t> max_groups(const Grouping& grouping);

  // Divides a part of the epsilon among what is to be looked for and returns what is left. With
  // `searched`, that part was spent already.
  double share(double epsilon, bool searched);

  bool must_search() const;
  std::vector<Automatic> take() && { return std::move(automatic_); }

 private:
  const Automatic& add(Search search);

  const PlannedRelation& from_;
  const RowExpressions& rows_;
  const Findings& found_;
  std::string_view text_;
  std::vector<Automatic> automatic_;
};

}  // namespace shoal::plan
