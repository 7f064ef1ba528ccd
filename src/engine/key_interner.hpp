// Gives each row of a block its group's number in every grouping set: one thread's own numbering,
// in the order of first sight.
#pragma once

#include "engine/chunk.hpp"
#include "engine/group_keys.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

// Texts by number.
class TextInterner {
 public:
  // The numbers of a column's texts; 0 for a NULL.
  void number_column(const ChunkColumn& column, std::size_t rows, std::uint64_t* numbers);
  const std::string& text(std::uint64_t number) const { return texts_[number]; }

 private:
  struct Place {
    std::uint64_t hash = 0;
    const char* text = nullptr;  // null: free
    std::uint32_t length = 0;
    std::uint32_t number = 0;
  };
  std::uint32_t find_or_add(std::string_view text);
  void grow();

  std::deque<std::string> texts_;
  std::vector<Place> table_ = std::vector<Place>(64);
};

// The keys of one set by the words of their columns and a mask of those that are NULL.
class WordInterner {
 public:
  explicit WordInterner(std::size_t columns) : stride_(columns + 1) {}

  // `key`: a word a column, 0 for NULL, then the mask.
  GroupNumber number(const std::uint64_t* key);
  // The numbers of keys of one column. `nulls`: a bit a row says NULL, or null if no row is.
  void number_column(const std::uint64_t* words, const std::uint64_t* nulls, unsigned null_bit,
                     std::size_t rows, GroupNumber* numbers);
  const std::uint64_t* key(GroupNumber number) const { return &keys_[number * stride_]; }
  std::size_t size() const { return keys_.size() / stride_; }

 private:
  std::uint64_t hash(const std::uint64_t* key) const;
  void grow();

  std::size_t stride_;
  std::vector<std::uint64_t> keys_;                                   // by number
  std::vector<GroupNumber> table_ = std::vector<GroupNumber>(64, 0);  // number + 1; 0 is free
  std::vector<GroupNumber> small_;  // the same for keys of one small word
};

class KeyInterner {
 public:
  explicit KeyInterner(const GroupShape& shape);

  // Fills block.groups from the key columns of a chunk, which start at `first_column`.
  void number_groups(const Chunk& chunk, std::size_t first_column, RowBlock& block);

  const std::vector<GroupKeys>& keys() const { return keys_; }

 private:
  void read_words(std::size_t key, const ChunkColumn& column, std::size_t rows);
  void number_several(std::size_t set, RowBlock& block);
  void add_new_keys(std::size_t set);

  const GroupShape& shape_;
  std::vector<TextInterner> texts_;                // one a key column
  std::vector<std::vector<std::uint64_t>> words_;  // of the chunk at hand, one a key column
  std::vector<std::uint64_t> nulls_;               // of the chunk at hand: bit j: key j is NULL
  bool has_nulls_ = false;                         // whether any bit is set
  std::vector<WordInterner> interners_;            // one a set
  std::vector<GroupKeys> keys_;                    // one a set
};

}  // namespace shoal::engine
