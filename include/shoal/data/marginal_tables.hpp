// Exact marginals, before noise: for each of some sets of columns, how many rows fall in each cell.
// Secret, as ExactAggregate is: no getter, no printing, no JSON, no copy, no comparison. The way
// out is release/marginal_curator.hpp, which adds noise or chooses under a reservation.
#pragma once

#include <shoal/data/attribute_set.hpp>
#include <shoal/data/coded_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace shoal::release {
class MarginalTablesKey;
}

namespace shoal::data {

class MarginalTables {
 public:
  MarginalTables(std::vector<AttributeSet> sets, std::vector<std::vector<std::int64_t>>&& counts)
      : sets_(std::move(sets)), counts_(std::move(counts)) {}
  MarginalTables(MarginalTables&& other) noexcept = default;
  MarginalTables& operator=(MarginalTables&&) = delete;
  MarginalTables(const MarginalTables&) = delete;
  MarginalTables& operator=(const MarginalTables&) = delete;
  ~MarginalTables();  // wipes the counts

  // Public: the plan says them.
  const std::vector<AttributeSet>& sets() const { return sets_; }

  template <typename Stream>
  friend Stream& operator<<(Stream&, const MarginalTables&) = delete;

 private:
  friend class ::shoal::release::MarginalTablesKey;
  std::vector<AttributeSet> sets_;
  std::vector<std::vector<std::int64_t>> counts_;
};

// No table may have more cells.
inline constexpr std::int64_t kMaxMarginalCells = std::int64_t{1} << 28;

// Counts all of them in one pass over the rows, on up to `threads` threads. Throws invalid_argument
// if a table would have more than kMaxMarginalCells cells.
MarginalTables count_marginals(const CodedTable& table, std::span<const AttributeSet> sets,
                               int threads);

}  // namespace shoal::data
