// From released groups to the rows of an answer: expressions over noisy numbers, HAVING, ORDER BY,
// LIMIT. Post-processing, and free: it sees released values and public facts only.
#pragma once

#include <shoal/catalog/released_group.hpp>
#include <shoal/plan/plan.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace shoal::plan {

// A key, or a noisy value between the ends of its interval. Dates and timestamps are texts. A value
// without an interval is made of keys alone, or is none (NULL).
struct Cell {
  std::variant<std::monostate, bool, double, std::string> value;
  std::optional<double> lower = std::nullopt;
  std::optional<double> upper = std::nullopt;
  bool operator==(const Cell&) const = default;
};

struct PresentedColumn {
  std::string name;
  bool is_key = false;
  catalog::ColumnType type = catalog::ColumnType::real;
  bool bare = false;                         // one aggregate and nothing around it
  std::vector<std::size_t> aggregates = {};  // that it is made of
};

const std::vector<PresentedColumn>& presented_columns(const Plan& plan);

// One list of released groups a grouping of the plan.
std::vector<std::vector<Cell>> present(const Plan& plan,
                                       std::span<const std::vector<catalog::ReleasedGroup>> sets);

}  // namespace shoal::plan
