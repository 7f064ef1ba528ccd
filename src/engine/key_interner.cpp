#include "engine/key_interner.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace shoal::engine {
namespace {

// Such words are looked up directly.
constexpr std::uint64_t kSmallWords = 1 << 14;

// Tables are at most half full.
bool is_full(std::size_t used, std::size_t places) { return used * 2 >= places; }

std::uint64_t load_word(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// For the table alone: what decides anything is GroupKeys' keyed hash.
std::uint64_t quick_hash(std::string_view text) {
  std::uint64_t hash = text.size();
  if (text.size() < sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), text.size());
    return mix(hash, word);
  }
  for (std::size_t at = 0; at + sizeof hash < text.size(); at += sizeof hash)
    hash = mix(hash, load_word(text.data() + at));
  return mix(hash, load_word(text.data() + text.size() - sizeof hash));
}

}  // namespace

void TextInterner::number_column(const ChunkColumn& column, std::size_t rows,
                                 std::uint64_t* numbers) {
  for (std::size_t i = 0; i < rows; ++i)
    numbers[i] = column.valid(i) ? find_or_add(column.text(i)) : 0;
}

std::uint32_t TextInterner::find_or_add(std::string_view text) {
  const std::uint64_t hash = quick_hash(text);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at].text != nullptr; at = (at + 1) & mask) {
    const Place& place = table_[at];
    if (place.hash == hash && std::string_view(place.text, place.length) == text)
      return place.number;
  }
  SHOAL_CHECK(texts_.size() < std::numeric_limits<std::uint32_t>::max() - 1);
  const std::string& kept = texts_.emplace_back(text);
  const auto number = static_cast<std::uint32_t>(texts_.size() - 1);
  table_[at] = {hash, kept.data(), static_cast<std::uint32_t>(kept.size()), number};
  if (is_full(texts_.size(), table_.size())) grow();
  return number;
}

void TextInterner::grow() {
  std::vector<Place> larger(table_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Place& place : table_) {
    if (place.text == nullptr) continue;
    std::size_t at = place.hash & mask;
    while (larger[at].text != nullptr) at = (at + 1) & mask;
    larger[at] = place;
  }
  table_ = std::move(larger);
}

std::uint64_t WordInterner::hash(const std::uint64_t* key) const {
  std::uint64_t hash = key[0];
  for (std::size_t i = 1; i < stride_; ++i) hash = mix(hash, key[i]);
  return hash;
}

GroupNumber WordInterner::number(const std::uint64_t* key) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(key) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const GroupNumber number = table_[at] - 1;
    if (std::equal(key, key + stride_, &keys_[number * stride_])) return number;
  }
  keys_.insert(keys_.end(), key, key + stride_);
  table_[at] = static_cast<GroupNumber>(size());
  if (is_full(size(), table_.size())) grow();
  return static_cast<GroupNumber>(size() - 1);
}

void WordInterner::number_column(const std::uint64_t* words, const std::uint64_t* nulls,
                                 unsigned null_bit, std::size_t rows, GroupNumber* numbers) {
  small_.resize(kSmallWords);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t null = nulls == nullptr ? 0 : (nulls[i] >> null_bit) & 1;
    const std::uint64_t word = words[i];
    if (word < kSmallWords && null == 0 && small_[word] != 0) {
      numbers[i] = small_[word] - 1;
      continue;
    }
    const std::uint64_t key[2] = {word, null};
    numbers[i] = number(key);
    if (word < kSmallWords && null == 0) small_[word] = numbers[i] + 1;
  }
}

void WordInterner::grow() {
  std::vector<GroupNumber> larger(table_.size() * 2, 0);
  const std::size_t mask = larger.size() - 1;
  for (std::size_t i = 0; i < size(); ++i) {
    std::size_t at = hash(&keys_[i * stride_]) & mask;
    while (larger[at] != 0) at = (at + 1) & mask;
    larger[at] = static_cast<GroupNumber>(i + 1);
  }
  table_ = std::move(larger);
}

KeyInterner::KeyInterner(const GroupShape& shape)
    : shape_(shape), texts_(shape.keys.size()), words_(shape.keys.size()) {
  for (std::size_t set = 0; set < shape.sets.size(); ++set) {
    interners_.emplace_back(shape.sets[set].keys.size());
    keys_.emplace_back(shape.hash_key, set);
  }
}

void KeyInterner::read_words(std::size_t key, const ChunkColumn& column, std::size_t rows) {
  std::vector<std::uint64_t>& words = words_[key];
  words.resize(rows);
  const std::uint64_t null = std::uint64_t{1} << key;
  const auto widen = [&](const auto* data) {
    for (std::size_t i = 0; i < rows; ++i)
      words[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(data[i]));
  };
  if (shape_.keys[key] == KeyType::real) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double value = column.as<double>()[i];
      words[i] = real_word(value);
      if (std::isnan(value) && column.valid(i)) {
        nulls_[i] |= null;
        has_nulls_ = true;
        words[i] = 0;
      }
    }
  } else if (column.storage == Storage::bits8) {
    widen(column.as<std::int8_t>());
  } else if (column.storage == Storage::bits32) {
    widen(column.as<std::int32_t>());
  } else if (column.storage == Storage::bits64) {
    widen(column.as<std::int64_t>());
  } else {
    texts_[key].number_column(column, rows, words.data());
  }
  if (column.validity == nullptr) return;
  for (std::size_t i = 0; i < rows; ++i) {
    if (column.valid(i)) continue;
    nulls_[i] |= null;
    has_nulls_ = true;
    words[i] = 0;
  }
}

// Writes out the keys that the last block brought.
void KeyInterner::add_new_keys(std::size_t set) {
  const std::vector<std::size_t>& columns = shape_.sets[set].keys;
  while (keys_[set].size() < interners_[set].size()) {
    const std::uint64_t* key = interners_[set].key(static_cast<GroupNumber>(keys_[set].size()));
    std::string bytes;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if ((key[columns.size()] >> i) & 1) {
        append_null(bytes);
      } else if (shape_.keys[columns[i]] == KeyType::text) {
        append_text(bytes, texts_[columns[i]].text(key[i]));
      } else {
        append_word(bytes, key[i]);
      }
    }
    keys_[set].add(std::move(bytes));
  }
}

void KeyInterner::number_groups(const Chunk& chunk, std::size_t first_column, RowBlock& block) {
  nulls_.assign(chunk.rows, 0);
  has_nulls_ = false;
  for (std::size_t key = 0; key < shape_.keys.size(); ++key)
    read_words(key, chunk.columns[first_column + key], chunk.rows);
  for (std::size_t set = 0; set < shape_.sets.size(); ++set) {
    const std::vector<std::size_t>& columns = shape_.sets[set].keys;
    if (columns.size() == 1) {
      interners_[set].number_column(words_[columns[0]].data(), has_nulls_ ? nulls_.data() : nullptr,
                                    static_cast<unsigned>(columns[0]), chunk.rows,
                                    block.groups[set].data());
    } else {
      number_several(set, block);
    }
    add_new_keys(set);
  }
}

void KeyInterner::number_several(std::size_t set, RowBlock& block) {
  const std::vector<std::size_t>& columns = shape_.sets[set].keys;
  std::vector<std::uint64_t> key(columns.size() + 1);
  for (std::size_t row = 0; row < block.size; ++row) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      key[i] = words_[columns[i]][row];
      mask |= ((nulls_[row] >> columns[i]) & 1) << i;
    }
    key[columns.size()] = mask;
    block.groups[set][row] = interners_[set].number(key.data());
  }
}

}  // namespace shoal::engine
