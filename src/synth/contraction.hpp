// Two tables multiplied where they share columns and added up over what is not kept, as a batched
// matrix product. Tables are read and written where they are, without being rearranged but for a
// panel at a time. For answers that no clique of a model holds (model_answers.hpp).
#pragma once

#include <shoal/data/attribute_set.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::synth {

struct ColumnTable {
  data::AttributeSet set;
  std::vector<double> cells;
};

// The cells of a table where some of its columns have these codes, one a column of the domain.
ColumnTable slice(std::span<const std::uint32_t> sizes, data::AttributeSet table,
                  std::span<const double> cells, data::AttributeSet fixed,
                  std::span<const std::uint32_t> codes);

// The table over `kept` (columns of either) of the sums of a * b.
ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, data::AttributeSet kept);
// The same, with or without AVX2 whatever the processor has, for tests. The numbers are the same.
ColumnTable contract(std::span<const std::uint32_t> sizes, const ColumnTable& a,
                     const ColumnTable& b, data::AttributeSet kept, bool wide);

}  // namespace shoal::synth
