#include "synth/table_projection.hpp"

#include <shoal/base/error.hpp>
#include <shoal/synth/linear_queries.hpp>

#include <fmt/format.h>

namespace shoal::synth {
namespace {

using data::AttributeSet;

AttributeSet all_of(std::span<const std::uint32_t> sizes) {
  AttributeSet all;
  for (std::size_t j = 0; j < sizes.size(); ++j) all = all | AttributeSet::single(j);
  return all;
}

// Which cell of the set each element of the universe falls in.
std::vector<double> cells_of(std::span<const std::uint32_t> sizes, AttributeSet set) {
  const TableProjection projection(sizes, all_of(sizes), set);
  std::vector<double> numbers(projection.small_cells());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  std::vector<double> cells(static_cast<std::size_t>(universe_size(sizes)));
  projection.spread(numbers, cells);
  return cells;
}

}  // namespace

std::int64_t universe_size(std::span<const std::uint32_t> sizes) {
  const std::int64_t cells = data::cell_count(sizes, all_of(sizes));
  if (cells > kMaxUniverse) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a universe of {} elements is beyond the limit of {}: use fewer columns "
                    "or wider bins, or a method on marginals (aim, mst)",
                    cells, kMaxUniverse));
  }
  return cells;
}

std::vector<LinearQuery> marginal_queries(std::span<const std::uint32_t> sizes, AttributeSet set) {
  const std::vector<double> cells = cells_of(sizes, set);
  std::vector<LinearQuery> queries(static_cast<std::size_t>(data::cell_count(sizes, set)));
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t rest = q;
    const std::vector<std::size_t> columns = set.members();
    std::string name;
    for (std::size_t j = columns.size(); j-- > 0; rest /= sizes[columns[j]]) {
      name = fmt::format("{}={}{}{}", columns[j], rest % sizes[columns[j]], name.empty() ? "" : " ",
                         name);
    }
    queries[q] = {name, std::vector<std::int64_t>(cells.size())};
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    queries[static_cast<std::size_t>(cells[i])].steps[i] = kQuerySteps;
  }
  return queries;
}

LinearQuery range_query(std::span<const std::uint32_t> sizes, std::size_t column,
                        std::uint32_t first, std::uint32_t last) {
  if (column >= sizes.size() || first > last || last >= sizes[column]) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("column {} has no range from {} to {}: give codes of a column, the "
                            "smaller first",
                            column, first, last));
  }
  const std::vector<double> cells = cells_of(sizes, AttributeSet::single(column));
  LinearQuery query{fmt::format("{}={}..{}", column, first, last), {}};
  for (const double code : cells) {
    query.steps.push_back(code >= first && code <= last ? kQuerySteps : 0);
  }
  return query;
}

std::vector<LinearQuery> prefix_queries(std::span<const std::uint32_t> sizes, std::size_t column) {
  std::vector<LinearQuery> queries;
  const std::uint32_t size = column < sizes.size() ? sizes[column] : 1;
  for (std::uint32_t last = 0; last + 1 < size; ++last) {
    queries.push_back(range_query(sizes, column, 0, last));
  }
  return queries;
}

void validate(std::span<const LinearQuery> queries, std::int64_t universe) {
  if (queries.empty()) throw Error(ErrorCode::invalid_argument, "give at least one query");
  for (const LinearQuery& query : queries) {
    if (static_cast<std::int64_t>(query.steps.size()) != universe) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("query {} has {} values, but the universe has {} elements",
                              query.name, query.steps.size(), universe));
    }
    for (const std::int64_t value : query.steps) {
      if (value >= 0 && value <= kQuerySteps) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("query {} has a value of {} steps: give 0 to {}", query.name, value,
                              kQuerySteps));
    }
  }
}

}  // namespace shoal::synth
