// The keys of one grouping set: each has a number, bytes that stand for it and for no other key of
// the set, and a keyed hash of them. The same key has the same bytes and hash everywhere; its
// number is this object's own.
#pragma once

#include "engine/group_shape.hpp"
#include "engine/row_block.hpp"

#include <shoal/catalog/key.hpp>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shoal::engine {

class GroupKeys {
 public:
  GroupKeys(const HashKey& key, std::size_t set) : hash_key_(key), set_(set) {}

  // The caller knows that the key is new.
  GroupNumber add(std::string bytes);
  // With a hash of the caller's choice.
  GroupNumber add(std::string bytes, std::uint64_t hash);

  std::size_t size() const { return bytes_.size(); }
  std::uint64_t hash(GroupNumber number) const { return hashes_[number]; }
  // By number; good until the next key comes.
  const std::uint64_t* hashes() const { return hashes_.data(); }
  const std::string& bytes(GroupNumber number) const { return bytes_[number]; }

 private:
  HashKey hash_key_;
  std::size_t set_;
  std::deque<std::string> bytes_;
  std::vector<std::uint64_t> hashes_;
};

// Keys found by their bytes: where the keys of several threads come together.
class KeyIndex {
 public:
  KeyIndex(const HashKey& key, std::size_t set) : keys_(key, set) {}

  GroupNumber find_or_add(const std::string& bytes);
  // The numbers here of another's keys, by their numbers there.
  std::vector<GroupNumber> absorb(const GroupKeys& other);

  const GroupKeys& keys() const { return keys_; }

 private:
  GroupKeys keys_;
  std::unordered_map<std::string_view, GroupNumber> numbers_;
};

// A key's bytes, part by part.
void append_null(std::string& bytes);
void append_word(std::string& bytes, std::uint64_t word);  // integers, reals' bits and the like
void append_text(std::string& bytes, std::string_view text);

// The key in words. `types` are those of the set's columns.
catalog::Key read_key(std::string_view bytes, std::span<const KeyType> types);

}  // namespace shoal::engine
