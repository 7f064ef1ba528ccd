#include "synth/belief_tree.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/uniform.hpp>
#include <shoal/synth/records.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace shoal::synth {
namespace {

using data::AttributeSet;

// Multiples of the golden ratio: the most evenly spread sequence that is known before its length.
class EvenStarts {
 public:
  explicit EvenStarts(random::BitSource& bits)
      : at_(std::ldexp(static_cast<double>(bits.next_bits(53)), -53)) {}
  double next() {
    at_ += 0.6180339887498949;
    if (at_ >= 1) at_ -= 1;
    return at_;
  }

 private:
  double at_;
};

// Whole numbers that add up to `rows` and each differ from rows * chances by less than one.
// Systematic sampling (Madow 1949): value v gets its extra row with the chance of its fraction.
void round_systematically(std::span<const double> chances, double sum, std::int64_t rows,
                          double start, std::vector<std::int64_t>& shares) {
  shares.assign(chances.size(), 0);
  std::int64_t given = 0;
  double reached = start;
  for (std::size_t v = 0; v < chances.size(); ++v) {
    const double share = static_cast<double>(rows) * (chances[v] / sum);
    const double whole = std::floor(share);
    shares[v] = static_cast<std::int64_t>(whole);
    const double before = reached;
    reached += share - whole;
    if (std::floor(reached) > std::floor(before)) ++shares[v];
    given += shares[v];
  }
  // Floating point may have lost or won a row: the most likely value takes it.
  const auto likeliest = std::max_element(chances.begin(), chances.end()) - chances.begin();
  shares[static_cast<std::size_t>(likeliest)] += rows - given;
}

class RecordMaker {
 public:
  RecordMaker(const BeliefTree& tree, std::int64_t rows, random::BitSource& bits)
      : tree_(tree), rows_(static_cast<std::size_t>(rows)), bits_(bits), starts_(bits) {
    records_.resize(tree.sizes().size());
  }

  CodedRecords make() {
    const JunctionTree& tree = tree_.tree();
    for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
      AttributeSet known = tree.separators[c];
      for (const std::size_t column : tree.cliques[c].without(known).members()) {
        add_column(c, known, column);
        known = known | AttributeSet::single(column);
      }
    }
    return std::move(records_);
  }

 private:
  // Rows sorted by their cell of the columns known, and where each cell starts.
  void group(AttributeSet known) {
    const auto cells = static_cast<std::size_t>(data::cell_count(tree_.sizes(), known));
    cell_.assign(rows_, 0);
    for (const std::size_t column : known.members()) {
      const std::uint32_t size = tree_.sizes()[column];
      for (std::size_t i = 0; i < rows_; ++i) cell_[i] = cell_[i] * size + records_[column][i];
    }
    begins_.assign(cells + 1, 0);
    for (const std::size_t cell : cell_) ++begins_[cell + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    order_.resize(rows_);
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::size_t i = 0; i < rows_; ++i) order_[next[cell_[i]]++] = i;
  }

  void add_column(std::size_t clique, AttributeSet known, std::size_t column) {
    group(known);
    others_.clear();
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
      if (!known.contains(*made)) others_.push_back(*made);
    }
    made_.push_back(column);
    records_[column].resize(rows_);
    const AttributeSet both = known | AttributeSet::single(column);
    const TableProjection projection(tree_.sizes(), tree_.tree().cliques[clique], both);
    std::vector<double> table(projection.small_cells());
    projection.add_up(tree_.belief(clique), table);
    // The new column as the fastest axis.
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> axes;
    std::size_t own = 0;
    for (const std::size_t member : both.members()) {
      if (member == column) {
        own = sizes.size();
      } else {
        axes.push_back(sizes.size());
      }
      sizes.push_back(tree_.sizes()[member]);
    }
    axes.push_back(own);
    table = transpose(table, sizes, axes);
    const std::size_t values = tree_.sizes()[column];
    for (std::size_t cell = 0; cell + 1 < begins_.size(); ++cell) {
      const std::span<std::size_t> members{order_.data() + begins_[cell],
                                           begins_[cell + 1] - begins_[cell]};
      if (!members.empty()) deal({table.data() + cell * values, values}, members, column);
    }
  }

  // Gives the rows of one group their values, spread evenly over what else they have: the model
  // holds the two independent, given the group.
  void deal(std::span<const double> chances, std::span<std::size_t> members, std::size_t column) {
    const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
    if (sum > 0) {
      round_systematically(chances, sum, static_cast<std::int64_t>(members.size()), starts_.next(),
                           shares_);
    } else {
      // Underflow left a group without a law; it has no weight either.
      shares_.assign(chances.size(), 0);
      shares_[0] = static_cast<std::int64_t>(members.size());
    }
    spread_out(members);
    // The k-th of a value's rows comes at (k + start) / share of the way, so that every stretch of
    // the order has nearly its share of each value.
    dealt_.clear();
    for (std::size_t v = 0; v < chances.size(); ++v) {
      const double start = std::ldexp(static_cast<double>(bits_.next_bits(53)), -53);
      for (std::int64_t k = 0; k < shares_[v]; ++k) {
        dealt_.emplace_back((static_cast<double>(k) + start) / static_cast<double>(shares_[v]),
                            static_cast<std::uint16_t>(v));
      }
    }
    std::sort(dealt_.begin(), dealt_.end());
    for (std::size_t i = 0; i < members.size(); ++i) {
      records_[column][members[i]] = dealt_[i].second;
    }
  }

  // Orders the rows of a group by what else they have, the column made last first; rows that agree
  // in all of it come in random order.
  void spread_out(std::span<std::size_t> members) {
    for (std::size_t i = members.size(); i > 1; --i) {
      std::swap(members[i - 1], members[random::uniform_below(i, bits_)]);
    }
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      for (const std::size_t other : others_) {
        if (records_[other][a] != records_[other][b])
          return records_[other][a] < records_[other][b];
      }
      return false;
    });
  }

  const BeliefTree& tree_;
  std::size_t rows_;
  random::BitSource& bits_;
  EvenStarts starts_;
  CodedRecords records_;
  std::vector<std::size_t> cell_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> begins_;
  std::vector<std::int64_t> shares_;
  std::vector<std::pair<double, std::uint16_t>> dealt_;
  std::vector<std::size_t> made_;    // columns, in order
  std::vector<std::size_t> others_;  // of those, the ones that do not define the group; last first
};

}  // namespace

CodedRecords generate_records(const GraphicalModel& model, std::int64_t rows,
                              random::BitSource& bits) {
  if (rows < 1 || rows > kMaxSyntheticRows) {
    throw Error(ErrorCode::invalid_argument, std::to_string(rows) +
                                                 " synthetic rows are out of range: give 1 to " +
                                                 std::to_string(kMaxSyntheticRows));
  }
  return RecordMaker(model.beliefs(), rows, bits).make();
}

}  // namespace shoal::synth
