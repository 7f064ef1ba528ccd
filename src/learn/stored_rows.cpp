// A block is full at kBlockRows rows and then lies in memory or, as words, in the file: where each
// row of a sparse block begins and its columns, two to a word, then values and labels.
#include <shoal/base/error.hpp>
#include <shoal/learn/rows.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace shoal::learn {

struct StoredRows::Full {
  std::unique_ptr<MemoryRows> memory;  // null: it is in the file
  std::uint64_t offset = 0;
  std::size_t values = 0;
  RowLayout layout = RowLayout::dense;
};

namespace {

std::size_t words_of_halves(std::size_t count) { return (count + 1) / 2; }

std::size_t value_count(const RowBlock& block) {
  return block.layout == RowLayout::sparse ? block.begins[block.rows]
                                           : block.rows * block.dimension;
}

template <typename Number>
void append(std::vector<std::uint64_t>& words, const Number* from, std::size_t count) {
  const std::size_t bytes = count * sizeof(Number);
  const std::size_t at = words.size();
  words.resize(at + (bytes + 7) / 8);
  if (bytes > 0) std::memcpy(words.data() + at, from, bytes);
}

template <typename Number>
const std::uint64_t* take(const std::uint64_t* words, std::size_t count,
                          std::vector<Number>& numbers) {
  const std::size_t bytes = count * sizeof(Number);
  numbers.resize(count);
  if (bytes > 0) std::memcpy(numbers.data(), words, bytes);
  return words + (bytes + 7) / 8;
}

}  // namespace

StoredRows::StoredRows(std::size_t dimension, double row_norm, double label_bound, LabelKind kind,
                       std::uint64_t memory_limit)
    : memory_limit_(memory_limit),
      open_(std::make_unique<MemoryRows>(dimension, row_norm, label_bound, kind)) {}

StoredRows::~StoredRows() = default;

std::unique_ptr<MemoryRows> StoredRows::new_block() const {
  return std::make_unique<MemoryRows>(dimension(), row_norm(), label_bound(), label_kind());
}

void StoredRows::add_sparse(std::span<const std::uint32_t> columns, std::span<const double> values,
                            double label) {
  open_->add_sparse(columns, values, label);
  close_if_full();
}

void StoredRows::add_dense(std::span<const double> values, double label) {
  open_->add_dense(values, label);
  close_if_full();
}

void StoredRows::close_if_full() {
  widest_ = std::max(widest_, open_->widest_row());
  if (open_->row_count() < kBlockRows) return;
  SHOAL_CHECK(row_count() < kMostRows);
  BlockBuffer none;
  const RowBlock block = open_->block(0, none);
  Full full;
  full.values = value_count(block);
  full.layout = block.layout;
  std::vector<std::uint64_t> words;
  if (full.layout == RowLayout::sparse) {
    append(words, block.begins, block.rows + 1);
    append(words, block.columns, full.values);
  }
  append(words, block.values, full.values);
  append(words, block.labels, block.rows);
  const std::uint64_t bytes = words.size() * sizeof(std::uint64_t);
  std::unique_ptr<MemoryRows> next = new_block();
  if (in_memory_ + bytes <= memory_limit_) {
    in_memory_ += bytes;
    full.memory = std::move(open_);
  } else {
    if (!file_) file_ = std::make_unique<SpillFile>();
    full.offset = file_->write(words);
  }
  open_ = std::move(next);
  full_.push_back(std::move(full));
}

std::uint64_t StoredRows::row_count() const {
  return full_.size() * kBlockRows + open_->row_count();
}

std::size_t StoredRows::block_count() const { return full_.size() + open_->block_count(); }

RowBlock StoredRows::block(std::size_t index, BlockBuffer& buffer) const {
  SHOAL_CHECK(index < block_count());
  if (index == full_.size()) return open_->block(0, buffer);
  const Full& full = full_[index];
  if (full.memory) return full.memory->block(0, buffer);
  std::size_t size = full.values + kBlockRows;
  if (full.layout == RowLayout::sparse)
    size += words_of_halves(kBlockRows + 1) + words_of_halves(full.values);
  buffer.words.resize(size);
  file_->read(full.offset, buffer.words);
  RowBlock block;
  block.rows = kBlockRows;
  block.dimension = dimension();
  block.layout = full.layout;
  const std::uint64_t* words = buffer.words.data();
  if (full.layout == RowLayout::sparse) {
    words = take(words, kBlockRows + 1, buffer.begins);
    words = take(words, full.values, buffer.columns);
    block.begins = buffer.begins.data();
    block.columns = buffer.columns.data();
  }
  words = take(words, full.values, buffer.values);
  take(words, kBlockRows, buffer.labels);
  block.values = buffer.values.data();
  block.labels = buffer.labels.data();
  return block;
}

}  // namespace shoal::learn
