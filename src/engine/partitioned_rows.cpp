#include "engine/partitioned_rows.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace shoal::engine {
namespace {

std::size_t words_of(std::string_view text) { return 1 + (text.size() + 7) / 8; }

// Runs `work` on several threads and throws again what one of them threw.
template <typename Work>
void on_threads(unsigned threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(guarded);
  } catch (const std::system_error&) {
    // Fewer threads do the same work.
  }
  guarded();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

// One thread's rows on their way to the partitions.
struct PartitionedRows::Lane {
  Lane(const GroupShape& shape, KeyColumns& keys, std::size_t own_number)
      : number(own_number), reader(shape, keys) {
    if (ValuePacker::fits(shape)) packer.emplace(shape.values[0]);
    for (Piece& piece : open) piece.lane = number;
  }
  std::size_t number;
  ChunkReader reader;
  std::optional<ValuePacker> packer;
  std::array<Piece, kPartitions> open;
};

PartitionedRows::PartitionedRows(const GroupShape& shape, const std::vector<Storage>& storages,
                                 KeyColumns& keys, std::uint64_t memory_limit)
    : shape_(shape),
      storages_(storages),
      text_(storages[0] == Storage::text),
      packed_(ValuePacker::fits(shape)),
      fixed_words_(packed_ ? 2 : 2 + shape.sets.size() / 2 + shape.values.size()),
      memory_limit_(memory_limit),
      lanes_([this, &keys] { return std::make_unique<Lane>(shape_, keys, lane_count_++); }) {}

PartitionedRows::~PartitionedRows() {
  // The blocks go with memory_; those of a single long row are on their own.
  const auto release = [&](const Piece& piece) {
    if (piece.room > RowMemory::kBlockWords) memory_.give_back(piece.memory, piece.room);
  };
  for (const Lane* lane : lanes_.all())
    std::for_each(lane->open.begin(), lane->open.end(), release);
  for (const Pieces& pieces : pieces_)
    std::for_each(pieces.list.begin(), pieces.list.end(), release);
}

void PartitionedRows::store(std::size_t partition, Piece piece) {
  const std::uint64_t bytes = piece.room * sizeof(std::uint64_t);
  if (in_memory_ + bytes > memory_limit_) {
    piece.offset = file_.write(std::span(piece.memory, piece.words));
    memory_.give_back(std::exchange(piece.memory, nullptr), std::exchange(piece.room, 0));
    spilled_ += piece.words * sizeof(std::uint64_t);
  } else {
    in_memory_ += bytes;
  }
  const std::lock_guard lock(pieces_[partition].mutex);
  pieces_[partition].list.push_back(piece);
}

// Sees to it that a partition's open piece has room for so many more words.
void PartitionedRows::make_room(Lane& lane, std::size_t partition, std::size_t words) {
  Piece& piece = lane.open[partition];
  const Piece full = std::exchange(piece, Piece{});
  piece.lane = lane.number;
  if (full.memory != nullptr) store(partition, full);
  const std::size_t room = std::max(RowMemory::kBlockWords, words);
  piece.memory = memory_.take(room);
  piece.room = room;
}

const std::uint32_t* PartitionedRows::pack_values(Lane& lane, const RowBlock& block) const {
  return packed_ ? lane.packer->pack(block.values[0], block.size) : nullptr;
}

inline std::uint64_t* PartitionedRows::write_fixed(std::uint64_t* to, std::uint64_t unit,
                                                   const RowBlock& block, std::size_t row,
                                                   const std::uint32_t* codes) const {
  *to++ = unit;
  if (codes != nullptr) {
    *to++ = block.groups[0][row] | std::uint64_t{codes[row]} << 32;
    return to;
  }
  std::uint64_t present = 0;
  for (std::size_t value = 0; value < block.values.size(); ++value)
    present |= std::uint64_t{block.values[value].valid(row)} << value;
  *to++ = block.groups[0][row] | present << 32;
  for (std::size_t set = 1; set < block.groups.size(); set += 2) {
    const std::uint64_t next = set + 1 < block.groups.size() ? block.groups[set + 1][row] : 0;
    *to++ = block.groups[set][row] | next << 32;
  }
  for (const BlockValues& values : block.values) *to++ = values.words[row];
  return to;
}

void PartitionedRows::take(duckdb_data_chunk chunk) {
  const Chunk columns(chunk, storages_);
  Lane& lane = lanes_.mine();
  const RowBlock& block = lane.reader.read(columns);
  text_ ? scatter_texts(lane, block) : scatter(lane, block);
}

void PartitionedRows::scatter(Lane& lane, const RowBlock& block) {
  const std::uint64_t key = shape_.hash_key[0];
  const std::size_t words = fixed_words_;
  const std::uint32_t* codes = pack_values(lane, block);
  for (std::size_t row = 0; row < block.size; ++row) {
    const auto unit = static_cast<std::uint64_t>(block.units[row]);
    const std::size_t partition = mix(unit, key) % kPartitions;
    Piece& piece = lane.open[partition];
    if (piece.words + words > piece.room) make_room(lane, partition, words);
    std::uint64_t* to = piece.memory + piece.words;
    piece.words += words;
    ++piece.rows;
    write_fixed(to, unit, block, row, codes);
  }
}

void PartitionedRows::scatter_texts(Lane& lane, const RowBlock& block) {
  const std::uint32_t* codes = pack_values(lane, block);
  for (std::size_t row = 0; row < block.size; ++row) {
    const std::string_view text = block.unit_texts[row];
    const std::uint64_t unit = hash_text(shape_.hash_key, text);
    const std::size_t partition = mix(unit, shape_.hash_key[0]) % kPartitions;
    Piece& piece = lane.open[partition];
    const std::size_t words = fixed_words_ + words_of(text);
    if (piece.words + words > piece.room) make_room(lane, partition, words);
    std::uint64_t* to = write_fixed(piece.memory + piece.words, unit, block, row, codes);
    piece.words += words;
    ++piece.rows;
    *to++ = text.size();
    std::memcpy(to, text.data(), text.size());
  }
}

// Brings the rows of a partition together by unit. One for each worker, used again and again.
class PartitionedRows::Partition {
 public:
  Partition(const PartitionedRows& rows, const Numbers& numbers)
      : shape_(rows.shape_), text_(rows.text_), fixed_words_(rows.fixed_words_), numbers_(numbers) {
    if (rows.packed_) packer_.emplace(shape_.values[0]);
    groups_.resize(shape_.sets.size());
    words_.resize(shape_.values.size());
    validity_.resize(shape_.values.size());
    block_.groups.resize(shape_.sets.size());
    block_.values.resize(shape_.values.size());
  }

  struct Loaded {
    std::size_t lane;
    std::span<const std::uint64_t> words;
  };

  void bound(const std::vector<Loaded>& pieces, std::size_t rows, UnitBounder& bounder) {
    find_units(pieces, rows);
    make_room(rows);
    packer_ ? arrange_packed(pieces) : arrange(pieces);
    hashes_.resize(units_.size());
    for (std::size_t i = 0; i < units_.size(); ++i) hashes_[i] = units_[i].word;
    if (!text_) hash_words(shape_.hash_key, hashes_, hashes_.data());
    bounder.add_units(block_, {0, next_, hashes_});
  }

 private:
  struct Unit {
    std::uint64_t word;               // the number, or the text's hash
    const std::uint64_t* text_words;  // length and bytes
  };
  struct Place {
    std::uint64_t word = 0;
    std::uint32_t unit = 0;  // + 1; 0 is free
  };

  std::size_t record_words(const std::uint64_t* record) const {
    return fixed_words_ + (text_ ? 1 + (record[fixed_words_] + 7) / 8 : 0);
  }

  bool same_text(const std::uint64_t* a, const std::uint64_t* b) const {
    return a[0] == b[0] && std::memcmp(a + 1, b + 1, a[0]) == 0;
  }

  template <typename Action>
  void each(const std::vector<Loaded>& pieces, const Action& action) const {
    for (const Loaded& piece : pieces) {
      const std::uint64_t* end = piece.words.data() + piece.words.size();
      for (const std::uint64_t* at = piece.words.data(); at < end; at += record_words(at))
        action(piece.lane, at);
    }
  }

  void find_units(const std::vector<Loaded>& pieces, std::size_t rows) {
    units_.clear();
    counts_.clear();
    unit_of_.resize(rows);
    std::uint32_t* unit_of = unit_of_.data();
    // Partitions are of one size, more or less: the next has as many units as the last.
    table_.assign(std::max<std::size_t>(table_.size(), 1024), {});
    each(pieces, [&](std::size_t, const std::uint64_t* record) {
      const std::uint32_t unit = find(record);
      *unit_of++ = unit;
      ++counts_[unit];
    });
  }

  std::size_t home(std::uint64_t word) const {
    return (mix(word, shape_.hash_key[1]) >> 8) & (table_.size() - 1);
  }

  std::uint32_t find(const std::uint64_t* record) {
    const std::uint64_t* text = text_ ? record + fixed_words_ : nullptr;
    std::size_t at = home(record[0]);
    for (; table_[at].unit != 0; at = (at + 1) & (table_.size() - 1)) {
      const Place& place = table_[at];
      if (place.word == record[0] && (!text_ || same_text(units_[place.unit - 1].text_words, text)))
        return place.unit - 1;
    }
    SHOAL_CHECK(units_.size() < std::numeric_limits<std::uint32_t>::max() - 1);
    units_.push_back({record[0], text});
    counts_.push_back(0);
    table_[at] = {record[0], static_cast<std::uint32_t>(units_.size())};
    if (units_.size() * 2 >= table_.size()) grow();
    return static_cast<std::uint32_t>(units_.size() - 1);
  }

  void grow() {
    table_.assign(table_.size() * 2, {});
    for (std::size_t i = 0; i < units_.size(); ++i) {
      std::size_t at = home(units_[i].word);
      while (table_[at].unit != 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = {units_[i].word, static_cast<std::uint32_t>(i + 1)};
    }
  }

  // For so many rows, those of a unit next to each other.
  void make_room(std::size_t rows) {
    block_.size = rows;
    for (std::size_t set = 0; set < groups_.size(); ++set) {
      groups_[set].resize(rows);
      block_.groups[set] = groups_[set].data();
    }
    for (std::size_t value = 0; value < words_.size(); ++value) {
      words_[value].resize(rows);
      validity_[value].assign((rows + 63) / 64, ~std::uint64_t{0});
      block_.values[value] = {words_[value].data(), nullptr};
    }
    next_.clear();
    std::size_t begin = 0;
    for (const std::size_t count : counts_) {
      next_.push_back(begin);
      begin += count;
    }
  }

  void note_nulls(std::size_t row, std::uint64_t present) {
    for (std::size_t value = 0; value < words_.size(); ++value) {
      if ((present >> value) & 1) continue;
      validity_[value][row / 64] &= ~(std::uint64_t{1} << (row % 64));
      block_.values[value].validity = validity_[value].data();
    }
  }

  // Writes the rows into the block, the first unit's first. Afterwards next_ is where the rows of a
  // unit end.
  void arrange(const std::vector<Loaded>& pieces) {
    const std::uint64_t all_present = (std::uint64_t{1} << words_.size()) - 1;
    std::size_t row = 0;
    each(pieces, [&](std::size_t lane, const std::uint64_t* record) {
      const std::size_t to = next_[unit_of_[row++]]++;
      const auto& numbers = numbers_[lane];
      groups_[0][to] = numbers[0][static_cast<std::uint32_t>(record[1])];
      if (record[1] >> 32 != all_present) note_nulls(to, record[1] >> 32);
      for (std::size_t set = 1; set < numbers.size(); ++set) {
        const std::uint64_t word = record[2 + (set - 1) / 2];
        groups_[set][to] =
            numbers[set][static_cast<std::uint32_t>(set % 2 == 1 ? word : word >> 32)];
      }
      const std::uint64_t* values = record + 2 + numbers.size() / 2;
      for (std::size_t value = 0; value < words_.size(); ++value) words_[value][to] = values[value];
    });
  }

  // The same of packed rows.
  void arrange_packed(const std::vector<Loaded>& pieces) {
    GroupNumber* groups = groups_[0].data();
    std::uint64_t* words = words_[0].data();
    const std::uint32_t* unit_of = unit_of_.data();
    each(pieces, [&](std::size_t lane, const std::uint64_t* record) {
      const std::size_t to = next_[*unit_of++]++;
      const auto code = static_cast<std::uint32_t>(record[1] >> 32);
      groups[to] = numbers_[lane][0][static_cast<std::uint32_t>(record[1])];
      words[to] = static_cast<std::uint64_t>(packer_->steps(code));
      if (code == 0) note_nulls(to, 0);
    });
  }

  const GroupShape& shape_;
  bool text_;
  std::size_t fixed_words_;
  const Numbers& numbers_;
  std::optional<ValuePacker> packer_;
  std::vector<std::vector<GroupNumber>> groups_;      // one a set
  std::vector<std::vector<std::uint64_t>> words_;     // one a value
  std::vector<std::vector<std::uint64_t>> validity_;  // one a value
  RowBlock block_;                                    // points at them
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_;  // by row, as it lies in the pieces
  std::vector<std::size_t> counts_;     // by unit: its rows
  std::vector<Place> table_;
  std::vector<std::size_t> next_;      // by unit: where its next row goes
  std::vector<std::uint64_t> hashes_;  // by unit
};

void PartitionedRows::add_to(GroupedSums& sums, unsigned threads) {
  Numbers numbers(lane_count_);
  for (Lane* lane : lanes_.all()) {
    for (std::size_t partition = 0; partition < kPartitions; ++partition) {
      const Piece piece = std::exchange(lane->open[partition], Piece{});
      if (piece.memory != nullptr) store(partition, piece);
    }
    for (std::size_t set = 0; set < shape_.sets.size(); ++set)
      numbers[lane->number].push_back(sums.keys[set].absorb(lane->reader.keys()[set]));
  }
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  on_threads(threads, [&] {
    std::vector<GroupTable> tables(shape_.sets.size(), GroupTable(shape_));
    UnitBounder bounder(shape_, sums.key_lists(), tables,
                        packed_ ? ValueWords::steps : ValueWords::stored);
    Partition partition(*this, numbers);
    for (std::size_t at = next++; at < kPartitions; at = next++) {
      std::vector<Partition::Loaded> pieces;
      std::vector<std::vector<std::uint64_t>> from_file;
      std::size_t rows = 0;
      for (const Piece& piece : pieces_[at].list) {
        rows += piece.rows;
        if (piece.memory != nullptr) {
          pieces.push_back({piece.lane, {piece.memory, piece.words}});
        } else {
          auto& words = from_file.emplace_back(piece.words);
          file_.read(piece.offset, words);
          pieces.push_back({piece.lane, words});
        }
      }
      partition.bound(pieces, rows, bounder);
    }
    const std::lock_guard lock(mutex);
    for (std::size_t set = 0; set < shape_.sets.size(); ++set) {
      std::vector<GroupNumber> own(sums.keys[set].keys().size());
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<GroupNumber>(i);
      sums.tables[set].add(tables[set], own);
    }
  });
}

}  // namespace shoal::engine
