#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/rows.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

void check_bound(double value, const char* what) {
  if (value > 0 && std::isfinite(value) && value >= 0x1p-100 && value <= 0x1p100) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the {} is {}; it must be public, positive and from 2^-100 to 2^100",
                          what, format_number(value)));
}

// At least the exact norm. The ordinary sum of k squares is off by a factor of at most (1 + u)^k
// either way, u = 2^-53: for k + 2 <= 2^26 that is less than 1 + (k + 2) 2^-52. Squares that
// underflow are below 2^-1000 each, beside a bound of at least 2^-100.
double norm_up(std::span<const double> values) {
  double sum = 0;
  for (const double x : values) sum += x * x;
  const double widen = numeric::add_up(1, static_cast<double>(values.size() + 2) * 0x1p-52);
  return numeric::sqrt_up(numeric::add_up(numeric::multiply_up(sum, widen), 0x1p-900));
}

}  // namespace

void clip_row(std::span<double> values, double bound) {
  double largest = 0;
  for (double& x : values) {
    if (!std::isfinite(x)) x = 0;
    largest = std::max(largest, std::fabs(x));
  }
  // Far outside, squares could overflow.
  if (largest > 0x1p400) {
    for (double& x : values) x = std::ldexp(x, -700);
  }
  double norm = norm_up(values);
  // One turn does it but for rounding; a few more, each a little smaller, always do.
  for (double slack = 0x1p-50; norm > bound; slack *= 2) {
    const double factor = bound / norm * (1 - slack);
    for (double& x : values) x *= factor;
    norm = norm_up(values);
  }
}

MemoryRows::MemoryRows(std::size_t dimension, double row_norm, double label_bound, LabelKind kind)
    : dimension_(dimension), row_norm_(row_norm), label_bound_(label_bound), kind_(kind) {
  if (dimension < 1 || dimension > (std::size_t{1} << 24)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows have {} features; from 1 to 2^24 are taken", dimension));
  }
  check_bound(row_norm, "norm of a row");
  check_bound(label_bound, "bound of labels");
  SHOAL_CHECK(kind != LabelKind::sign || label_bound == 1);
}

void MemoryRows::add_label(double label) {
  SHOAL_CHECK(labels_.size() < kMostRows);
  if (kind_ == LabelKind::sign) label = label > 0 ? 1 : -1;
  if (!std::isfinite(label)) label = std::isnan(label) ? 0 : std::copysign(label_bound_, label);
  const double least = kind_ == LabelKind::count ? 0 : -label_bound_;
  labels_.push_back(std::clamp(label, least, label_bound_));
}

void MemoryRows::add_sparse(std::span<const std::uint32_t> columns, std::span<const double> values,
                            double label) {
  SHOAL_CHECK(layout_.value_or(RowLayout::sparse) == RowLayout::sparse);
  SHOAL_CHECK(columns.size() == values.size());
  layout_ = RowLayout::sparse;
  if (labels_.size() % kBlockRows == 0) {
    starts_.push_back(values_.size());
    begins_.push_back(0);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SHOAL_CHECK(columns[i] < dimension_ && (i == 0 || columns[i - 1] < columns[i]));
  }
  columns_.insert(columns_.end(), columns.begin(), columns.end());
  values_.insert(values_.end(), values.begin(), values.end());
  clip_row(std::span(values_).last(values.size()), row_norm_);
  begins_.push_back(static_cast<std::uint32_t>(values_.size() - starts_.back()));
  widest_ = std::max(widest_, values.size());
  add_label(label);
}

void MemoryRows::add_dense(std::span<const double> values, double label) {
  SHOAL_CHECK(layout_.value_or(RowLayout::dense) == RowLayout::dense);
  SHOAL_CHECK(values.size() == dimension_);
  layout_ = RowLayout::dense;
  values_.insert(values_.end(), values.begin(), values.end());
  clip_row(std::span(values_).last(dimension_), row_norm_);
  widest_ = dimension_;
  add_label(label);
}

std::size_t MemoryRows::block_count() const {
  return (labels_.size() + kBlockRows - 1) / kBlockRows;
}

RowBlock MemoryRows::block(std::size_t index, BlockBuffer&) const {
  const std::size_t first = index * kBlockRows;
  RowBlock block;
  block.rows = std::min(kBlockRows, labels_.size() - first);
  block.dimension = dimension_;
  block.labels = labels_.data() + first;
  block.layout = layout_.value();
  if (block.layout == RowLayout::sparse) {
    block.begins = begins_.data() + index * (kBlockRows + 1);
    block.columns = columns_.data() + starts_[index];
    block.values = values_.data() + starts_[index];
  } else {
    block.values = values_.data() + first * dimension_;
  }
  return block;
}

}  // namespace shoal::learn
