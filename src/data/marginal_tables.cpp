#include <shoal/base/error.hpp>
#include <shoal/data/marginal_tables.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <thread>

namespace shoal::data {

MarginalTables::~MarginalTables() {
  for (std::vector<std::int64_t>& table : counts_) {
    for (std::int64_t& count : table) *static_cast<volatile std::int64_t*>(&count) = 0;
  }
}

// Reads codes; gives secret counts and nothing else.
class MarginalCounter {
 public:
  explicit MarginalCounter(const CodedTable& table) : table_(table), rows_(length(0)) {
    for (std::size_t j = 0; j < table.sizes_.size(); ++j) SHOAL_CHECK(length(j) == rows_);
  }

  // Tables number first, first + step, ... A block of rows stays in the cache while all of them
  // count it, so the rows come from memory once.
  void count(std::span<const AttributeSet> sets, std::size_t first, std::size_t step,
             std::vector<std::vector<std::int64_t>>& counts) const {
    std::vector<std::uint32_t> cell(kBlock);
    std::vector<std::vector<std::size_t>> columns;
    for (const AttributeSet set : sets) columns.push_back(set.members());
    for (std::size_t start = 0; start < rows_; start += kBlock) {
      const std::size_t many = std::min(kBlock, rows_ - start);
      for (std::size_t t = first; t < sets.size(); t += step) {
        std::fill_n(cell.begin(), many, 0u);
        for (const std::size_t column : columns[t]) add_column(column, start, many, cell);
        std::int64_t* table = counts[t].data();
        for (std::size_t i = 0; i < many; ++i) ++table[cell[i]];
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 8192;

  std::size_t length(std::size_t column) const {
    return std::visit([](const auto& codes) { return codes.size(); }, table_.columns_[column]);
  }

  void add_column(std::size_t column, std::size_t start, std::size_t many,
                  std::vector<std::uint32_t>& cell) const {
    const std::uint32_t size = table_.sizes_[column];
    std::visit(
        [&](const auto& codes) {
          const auto* from = codes.data() + start;
          for (std::size_t i = 0; i < many; ++i) cell[i] = cell[i] * size + from[i];
        },
        table_.columns_[column]);
  }

  const CodedTable& table_;
  std::size_t rows_;
};

MarginalTables count_marginals(const CodedTable& table, std::span<const AttributeSet> sets,
                               int threads) {
  std::vector<std::vector<std::int64_t>> counts;
  for (const AttributeSet set : sets) {
    const std::int64_t cells = cell_count(table.sizes(), set);
    if (cells > kMaxMarginalCells) {
      throw Error(ErrorCode::invalid_argument,
                  "a marginal of " + std::to_string(cells) + " cells is beyond the limit of " +
                      std::to_string(kMaxMarginalCells) + ": use fewer columns or wider bins");
    }
    counts.emplace_back(static_cast<std::size_t>(cells));
  }
  const MarginalCounter counter(table);
  const auto workers = static_cast<std::size_t>(std::clamp(threads, 1, 64));
  std::vector<std::exception_ptr> failures(workers);
  {
    std::vector<std::jthread> running;
    for (std::size_t w = 0; w < workers; ++w) {
      running.emplace_back([&, w] {
        try {
          counter.count(sets, w, workers, counts);
        } catch (...) {
          failures[w] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return {{sets.begin(), sets.end()}, std::move(counts)};
}

}  // namespace shoal::data
