#include <shoal/synth/records.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <utility>

namespace shoal::synth {
namespace {

using data::AttributeSet;

constexpr std::int64_t kMaxCells = std::int64_t{1} << 22;     // of one marginal
constexpr std::int64_t kMaxAllCells = std::int64_t{1} << 26;  // of all: 512 megabytes
constexpr std::int64_t kMaxLooks = std::int64_t{1} << 34;     // about a minute
constexpr std::size_t kBatch = 64;  // marginals that the model is asked for together

// Of a set with this many columns or fewer, all subsets.
constexpr std::size_t kClosedColumns = 4;

void add_parts(const WorkloadMarginal& one, std::map<AttributeSet, std::int64_t>& weights) {
  const std::uint64_t bits = one.set.bits();
  if (one.set.size() > kClosedColumns) {
    weights[one.set] += one.weight;
    for (const std::size_t column : one.set.members())
      weights[AttributeSet::single(column)] += one.weight;
    return;
  }
  for (std::uint64_t part = bits; part != 0; part = (part - 1) & bits)
    weights[AttributeSet(part)] += one.weight;
}

// The workload's marginals and those within them, each by the weight of all that hold it. Where
// cells expect less than a row, a marginal by itself is nearest with all rows in its likeliest
// cells; that its own marginals stay right is what keeps rows from there.
Workload looked_at(std::span<const std::uint32_t> sizes, const Workload& workload) {
  std::map<AttributeSet, std::int64_t> weights;
  for (const WorkloadMarginal& one : workload) add_parts(one, weights);
  std::vector<WorkloadMarginal> sets;
  sets.reserve(weights.size());
  for (const auto& [set, weight] : weights) sets.push_back({set, weight});
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto& a, const auto& b) { return a.set.size() < b.set.size(); });
  Workload some;
  std::int64_t all = 0;
  for (const WorkloadMarginal& one : sets) {
    const std::int64_t cells = data::cell_count(sizes, one.set);
    if (cells > kMaxCells || all + cells > kMaxAllCells) continue;
    all += cells;
    some.push_back(one);
  }
  return some;
}

// A cell of which the model expects m rows, and where the records have `gap` more. If the source's
// count is Poisson of mean m, with the distribution function F, a row more than r changes the
// expected distance by 2 F(r) - 1: a curve that crosses 0 near r = m - 2/3, with about the slope of
// the normal distribution there. A line with that slope, cut off at 1, is within 0.1 of it.
struct Cell {
  float gap;
  float slope;
};

Cell empty_cell(double expected) {
  const double variance = std::max(1.0 / 3, expected);
  return {static_cast<float>(-expected),
          static_cast<float>(std::sqrt(2 / (std::numbers::pi * variance)))};
}
float one_more(Cell cell) { return std::clamp((cell.gap + 2.0F / 3) * cell.slope, -1.0F, 1.0F); }
float one_less(Cell cell) { return std::clamp((1.0F / 3 - cell.gap) * cell.slope, -1.0F, 1.0F); }

class Refiner {
 public:
  Refiner(CodedRecords& records, const GraphicalModel& model, const Workload& workload, int threads)
      : records_(records), sizes_(model.sizes()), holding_(sizes_.size()) {
    const double scale = static_cast<double>(records[0].size()) / model.total();
    for (std::size_t first = 0; first < workload.size(); first += kBatch) {
      std::vector<AttributeSet> sets;
      for (std::size_t s = first; s < std::min(workload.size(), first + kBatch); ++s) {
        sets.push_back(workload[s].set);
      }
      const auto expected = model.marginals(sets, threads);
      for (std::size_t s = 0; s < sets.size(); ++s) {
        add(sets[s], static_cast<float>(workload[first + s].weight), expected[s], scale);
      }
    }
    for (std::size_t i = 0; i < records[0].size(); ++i) {
      for (const Table& table : tables_) cells_[cell(table, i)].gap += 1;
    }
  }

  void run() {
    std::int64_t looks = 1;
    for (std::size_t j = 0; j < sizes_.size(); ++j) {
      looks += static_cast<std::int64_t>(holding_[j].size() * sizes_[j]);
    }
    const auto rows = std::min(records_[0].size(), static_cast<std::size_t>(kMaxLooks / looks));
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < sizes_.size(); ++j) improve(i, j);
    }
  }

 private:
  // A marginal's place among all cells.
  struct Table {
    std::size_t begin;
    float weight;
    std::vector<std::pair<std::size_t, std::size_t>> strides;  // each column, and its step
  };
  // That a column is in a table.
  struct Holder {
    std::size_t table;
    std::size_t stride;
  };

  void add(AttributeSet set, float weight, std::span<const double> expected, double scale) {
    Table table{cells_.size(), weight, {}};
    std::size_t stride = expected.size();
    for (const std::size_t column : set.members()) {
      stride /= sizes_[column];
      table.strides.emplace_back(column, stride);
      holding_[column].push_back({tables_.size(), stride});
    }
    for (const double count : expected) cells_.push_back(empty_cell(scale * count));
    tables_.push_back(std::move(table));
  }

  std::size_t cell(const Table& table, std::size_t row) const {
    std::size_t at = table.begin;
    for (const auto& [column, stride] : table.strides) at += records_[column][row] * stride;
    return at;
  }

  void improve(std::size_t row, std::size_t column) {
    const std::vector<Holder>& holders = holding_[column];
    const std::size_t held = records_[column][row];
    firsts_.clear();  // the cell that the row would be in with value 0
    float leaving = 0;
    for (const Holder& holder : holders) {
      const std::size_t at = cell(tables_[holder.table], row);
      firsts_.push_back(at - held * holder.stride);
      leaving += tables_[holder.table].weight * one_less(cells_[at]);
    }
    // A row that is missed where it leaves hardly ever gains by it.
    if (!(leaving < 0)) return;
    costs_.assign(sizes_[column], 0.0F);
    for (std::size_t h = 0; h < holders.size(); ++h) {
      const float weight = tables_[holders[h].table].weight;
      const Cell* at = cells_.data() + firsts_[h];
      for (float& cost : costs_) {
        cost += weight * one_more(*at);
        at += holders[h].stride;
      }
    }
    costs_[held] = -leaving;
    const auto best =
        static_cast<std::size_t>(std::min_element(costs_.begin(), costs_.end()) - costs_.begin());
    if (best == held) return;
    for (std::size_t h = 0; h < holders.size(); ++h) {
      cells_[firsts_[h] + held * holders[h].stride].gap -= 1;
      cells_[firsts_[h] + best * holders[h].stride].gap += 1;
    }
    records_[column][row] = static_cast<std::uint16_t>(best);
  }

  CodedRecords& records_;
  const std::vector<std::uint32_t>& sizes_;
  std::vector<Table> tables_;
  std::vector<std::vector<Holder>> holding_;  // of each column
  std::vector<Cell> cells_;                   // of all tables
  std::vector<float> costs_;
  std::vector<std::size_t> firsts_;
};

}  // namespace

void refine_records(CodedRecords& records, const GraphicalModel& model, const Workload& workload,
                    int threads) {
  validate(workload, model.sizes());
  if (records.empty() || records[0].empty()) return;
  Refiner(records, model, looked_at(model.sizes(), workload), threads).run();
}

}  // namespace shoal::synth
