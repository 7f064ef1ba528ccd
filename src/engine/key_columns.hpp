// Numbers for the values of each key column of a request, the same on every thread: 0 is NULL, the
// others go by first sight.
//
// DuckDB asks for them through a function of its own (ChunkFeed's), so that of a column that is
// stored as a dictionary each entry is numbered once, and not each row. Entries that no row has are
// numbered too: a number makes no group.
#pragma once

#include "engine/chunk.hpp"
#include "engine/group_shape.hpp"
#include "engine/interners.hpp"
#include "engine/per_thread.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shoal::engine {

class KeyColumns {
 public:
  // `storages`: how the values of each column come.
  KeyColumns(const GroupShape& shape, const std::vector<Storage>& storages);

  std::size_t size() const { return columns_.size(); }
  Storage storage(std::size_t key) const { return columns_[key].storage; }

  // The numbers of a column's values, on any thread.
  void number(std::size_t key, const ChunkColumn& column, std::size_t rows, GroupNumber* numbers);
  // How many numbers there are by now: all are below this.
  std::size_t known(std::size_t key);
  // The bytes that stand for a value in a group's key.
  std::string bytes(std::size_t key, GroupNumber number);

 private:
  struct Column {
    KeyType type;
    Storage storage;
    std::mutex mutex;
    std::deque<std::string> bytes;  // by number
    std::unordered_map<std::string_view, GroupNumber> numbers;
  };
  // What one thread has seen of a column: its own numbers, and the others' for them.
  struct Seen {
    TextInterner texts;
    WordInterner words{1};
    std::vector<GroupNumber> shared;
  };
  using AllSeen = std::vector<Seen>;

  static GroupNumber share(Column& column, std::string&& bytes);
  static GroupNumber number_text(Column& column, Seen& seen, std::string_view text);
  static GroupNumber number_word(Column& column, Seen& seen, std::uint64_t word);

  std::deque<Column> columns_;
  PerThread<AllSeen> seen_;
};

}  // namespace shoal::engine
