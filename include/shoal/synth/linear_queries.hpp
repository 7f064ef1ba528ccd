// Linear queries over an explicit universe: each gives every possible row a value from 0 to 1, and
// asks for the mean over the table. Values are whole numbers of 1 / kQuerySteps, so that answers
// are exact. Public.
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::synth {

inline constexpr std::int64_t kQuerySteps = 1024;

struct LinearQuery {
  std::string name;
  std::vector<std::int64_t> steps;  // one for each element of the universe, from 0 to kQuerySteps
};

// No universe has more elements, and no family more values in all.
inline constexpr std::int64_t kMaxUniverse = std::int64_t{1} << 24;

// The size of the universe of these columns. Throws invalid_argument beyond kMaxUniverse.
std::int64_t universe_size(std::span<const std::uint32_t> sizes);

// Every cell of a marginal as a query: rows that fall in it count 1.
std::vector<LinearQuery> marginal_queries(std::span<const std::uint32_t> sizes,
                                          data::AttributeSet set);

// Rows whose code in the column is from `first` to `last`; a prefix starts at 0. Throws
// invalid_argument unless 0 <= first <= last < size.
LinearQuery range_query(std::span<const std::uint32_t> sizes, std::size_t column,
                        std::uint32_t first, std::uint32_t last);
std::vector<LinearQuery> prefix_queries(std::span<const std::uint32_t> sizes, std::size_t column);

// Throws invalid_argument for no queries, one of another size than the universe, and values out of
// range.
void validate(std::span<const LinearQuery> queries, std::int64_t universe);

}  // namespace shoal::synth
