// Rows for learning: features and a label each, in blocks, dense or sparse (CSR).
//
// A RowSource is plain memory that solvers read. What was made of private rows is wrapped in
// TrainingRows, which has no getter: fit() alone looks inside.
//
// Invariants: every row's exact Euclidean norm is at most row_norm(), and every label is finite and
// at most label_bound() in size, because whoever adds a row here has it clipped on the way in. The
// blocks are the same at every visit.
#pragma once

#include <shoal/base/spill_file.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace shoal::learn {

// How the values of a block lie. Dense: row i has the `dimension` values from i * dimension on.
// Sparse: row i has the values from begins[i] to begins[i + 1], columns ascending.
enum class RowLayout { dense, sparse };

// A look at some rows. The layout alone says how to read it: a sparse block without a non-zero
// value is a sparse block, and where its columns and values would lie, nothing may be.
struct RowBlock {
  std::size_t rows = 0;
  std::size_t dimension = 0;
  RowLayout layout = RowLayout::dense;
  const std::uint32_t* begins = nullptr;
  const std::uint32_t* columns = nullptr;
  const double* values = nullptr;
  const double* labels = nullptr;
};

// Memory that a source may read a block into. One a thread.
struct BlockBuffer {
  std::vector<std::uint32_t> begins = {};
  std::vector<std::uint32_t> columns = {};
  std::vector<double> values = {};
  std::vector<double> labels = {};
  std::vector<std::uint64_t> words = {};
};

// What a label may be: any number within the bound, +1 and -1 alone, or a number from 0 to the
// bound.
enum class LabelKind { number, sign, count };

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual std::size_t dimension() const = 0;
  virtual double row_norm() const = 0;
  virtual double label_bound() const = 0;
  virtual LabelKind label_kind() const = 0;
  virtual std::uint64_t row_count() const = 0;
  // Rows and those that were left out because they have no label: an exchange of one row for
  // another changes row_count(), but not this.
  virtual std::uint64_t slot_count() const { return row_count(); }
  virtual std::size_t block_count() const = 0;
  // Most non-zero values of a row.
  virtual std::size_t widest_row() const = 0;
  // Valid until the buffer is used again. Threads may call it at once, each with its own buffer.
  virtual RowBlock block(std::size_t index, BlockBuffer& buffer) const = 0;
};

// Rows in a block of a source in memory.
inline constexpr std::size_t kBlockRows = 4096;

// No source has more rows: the proofs of solvers count on it. At 12 bytes a row they fill 800 GB.
inline constexpr std::uint64_t kMostRows = std::uint64_t{1} << 36;

// Rows in memory.
class MemoryRows final : public RowSource {
 public:
  // Throws invalid_argument unless the dimension is from 1 to 2^24 and the bounds are positive and
  // finite.
  MemoryRows(std::size_t dimension, double row_norm, double label_bound, LabelKind kind);

  // Adds a row, clipped: scaled down until its exact norm is at most row_norm. A value that is not
  // finite counts as 0, a label as well; labels are clamped, or
  // taken for +1 if positive and -1 otherwise. Columns ascend and are below the
  // dimension (internal otherwise). A source has rows of one kind.
  void add_sparse(std::span<const std::uint32_t> columns, std::span<const double> values,
                  double label);
  void add_dense(std::span<const double> values, double label);
  // A row that adds nothing, but was there.
  void skip_row() { ++skipped_; }

  std::size_t dimension() const override { return dimension_; }
  double row_norm() const override { return row_norm_; }
  double label_bound() const override { return label_bound_; }
  LabelKind label_kind() const override { return kind_; }
  std::uint64_t row_count() const override { return labels_.size(); }
  std::uint64_t slot_count() const override { return labels_.size() + skipped_; }
  std::size_t block_count() const override;
  std::size_t widest_row() const override { return widest_; }
  RowBlock block(std::size_t index, BlockBuffer& buffer) const override;

 private:
  void add_label(double label);

  std::size_t dimension_;
  double row_norm_;
  double label_bound_;
  LabelKind kind_;
  std::optional<RowLayout> layout_;  // none before the first row
  std::size_t widest_ = 0;
  std::uint64_t skipped_ = 0;
  std::vector<std::uint64_t> starts_;  // of the blocks' values
  std::vector<std::uint32_t> begins_;  // within the block; one more than rows a block
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
  std::vector<double> labels_;
};

// Rows in memory as long as they fit into a limit, and in a temporary file without a name beyond
// it: tables larger than memory train, at the speed of the disk.
class StoredRows final : public RowSource {
 public:
  // `memory_limit` in bytes. Throws as MemoryRows does.
  StoredRows(std::size_t dimension, double row_norm, double label_bound, LabelKind kind,
             std::uint64_t memory_limit);
  ~StoredRows() override;

  // As MemoryRows does. Throws io besides.
  void add_sparse(std::span<const std::uint32_t> columns, std::span<const double> values,
                  double label);
  void add_dense(std::span<const double> values, double label);
  void skip_row() { ++skipped_; }

  std::size_t dimension() const override { return open_->dimension(); }
  double row_norm() const override { return open_->row_norm(); }
  double label_bound() const override { return open_->label_bound(); }
  LabelKind label_kind() const override { return open_->label_kind(); }
  std::uint64_t row_count() const override;
  std::uint64_t slot_count() const override { return row_count() + skipped_; }
  std::size_t block_count() const override;
  std::size_t widest_row() const override { return widest_; }
  RowBlock block(std::size_t index, BlockBuffer& buffer) const override;

 private:
  struct Full;
  std::unique_ptr<MemoryRows> new_block() const;
  void close_if_full();

  std::uint64_t memory_limit_;
  std::uint64_t in_memory_ = 0;
  std::size_t widest_ = 0;
  std::uint64_t skipped_ = 0;
  std::unique_ptr<MemoryRows> open_;  // the last block
  std::vector<Full> full_;            // those before it
  std::unique_ptr<SpillFile> file_;
};

// Scales the values so that their exact Euclidean norm is at most `bound`; values that are not
// finite become 0.
void clip_row(std::span<double> values, double bound);

// Private rows on their way to fit(). Neither printed nor copied; the number of rows is private
// too.
class TrainingRows {
 public:
  explicit TrainingRows(std::unique_ptr<RowSource> rows) : rows_(std::move(rows)) {}
  TrainingRows(TrainingRows&&) = default;
  TrainingRows& operator=(TrainingRows&&) = delete;
  TrainingRows(const TrainingRows&) = delete;
  TrainingRows& operator=(const TrainingRows&) = delete;

  // Public: the pipeline says it.
  std::size_t dimension() const { return rows_->dimension(); }
  double row_norm() const { return rows_->row_norm(); }
  double label_bound() const { return rows_->label_bound(); }
  LabelKind label_kind() const { return rows_->label_kind(); }

  template <typename Stream>
  friend Stream& operator<<(Stream&, const TrainingRows&) = delete;

 private:
  friend class TrainingRowsKey;
  std::unique_ptr<RowSource> rows_;
};

}  // namespace shoal::learn
