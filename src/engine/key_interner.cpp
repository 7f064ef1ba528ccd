#include "engine/key_interner.hpp"

#include <algorithm>
#include <limits>

namespace shoal::engine {
namespace {

constexpr std::size_t kRecent = 4096;
// No pair of numbers: the second would be beyond any.
constexpr std::uint64_t kNoPair = std::numeric_limits<std::uint64_t>::max();

}  // namespace

KeyInterner::KeyInterner(const GroupShape& shape, KeyColumns& columns)
    : shape_(shape), columns_(columns), recent_(shape.sets.size()), own_(shape.sets.size()) {
  for (std::size_t set = 0; set < shape.sets.size(); ++set) {
    interners_.emplace_back(shape.sets[set].keys.size());
    keys_.emplace_back(shape.hash_key, set);
    if (shape.sets[set].keys.size() == 2) recent_[set].resize(kRecent, {kNoPair, 0});
  }
}

void KeyInterner::number_groups(const std::vector<const GroupNumber*>& numbers, RowBlock& block) {
  for (std::size_t set = 0; set < shape_.sets.size(); ++set) {
    const std::vector<std::size_t>& columns = shape_.sets[set].keys;
    if (columns.size() == 1) {
      block.groups[set] = numbers[columns[0]];
      know_column(set);
    } else {
      number_several(set, numbers, block.size);
      block.groups[set] = own_[set].data();
      add_new_keys(set);
    }
  }
}

// Brings the keys of a set of one column up to all that have a number by now.
void KeyInterner::know_column(std::size_t set) {
  GroupKeys& keys = keys_[set];
  const std::size_t column = shape_.sets[set].keys[0];
  for (const std::size_t known = columns_.known(column); keys.size() < known;)
    keys.add(columns_.bytes(column, static_cast<GroupNumber>(keys.size())));
}

void KeyInterner::number_several(std::size_t set, const std::vector<const GroupNumber*>& numbers,
                                 std::size_t rows) {
  const std::vector<std::size_t>& columns = shape_.sets[set].keys;
  own_[set].resize(rows);  // without columns: all 0, the one group
  GroupNumber* own = own_[set].data();
  if (columns.empty()) return;
  if (columns.size() == 2) {
    const GroupNumber* first = numbers[columns[0]];
    const GroupNumber* second = numbers[columns[1]];
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint64_t pair = std::uint64_t{first[row]} << 32 | second[row];
      Recent& recent = recent_[set][(first[row] * 61 + second[row]) % kRecent];
      if (recent.pair != pair) {
        const std::uint64_t tuple[2] = {first[row], second[row]};
        recent = {pair, interners_[set].number(tuple)};
      }
      own[row] = recent.number;
    }
    return;
  }
  std::vector<std::uint64_t> tuple(columns.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) tuple[i] = numbers[columns[i]][row];
    own[row] = interners_[set].number(tuple.data());
  }
}

// Writes out the keys that the last block brought.
void KeyInterner::add_new_keys(std::size_t set) {
  const std::vector<std::size_t>& columns = shape_.sets[set].keys;
  if (columns.empty() && keys_[set].size() == 0) keys_[set].add("");
  while (keys_[set].size() < interners_[set].size()) {
    const std::uint64_t* tuple = interners_[set].tuple(static_cast<GroupNumber>(keys_[set].size()));
    std::string bytes;
    for (std::size_t i = 0; i < columns.size(); ++i)
      bytes += columns_.bytes(columns[i], static_cast<GroupNumber>(tuple[i]));
    keys_[set].add(std::move(bytes));
  }
}

}  // namespace shoal::engine
