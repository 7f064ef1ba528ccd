// Numbers for texts and for tuples of words, in the order of first sight. Each is one thread's own.
#pragma once

#include "engine/row_block.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

// Texts by number.
class TextInterner {
 public:
  GroupNumber number(std::string_view text);
  const std::string& text(GroupNumber number) const { return texts_[number]; }

 private:
  struct Place {
    std::uint64_t hash = 0;
    const char* text = nullptr;  // null: free
    std::uint32_t length = 0;
    std::uint32_t number = 0;
  };
  void grow();

  std::deque<std::string> texts_;
  std::vector<Place> table_ = std::vector<Place>(64);
};

// Tuples of at least one word by number; those of one small word are looked up directly.
class WordInterner {
 public:
  explicit WordInterner(std::size_t words) : stride_(words) {}

  GroupNumber number(const std::uint64_t* tuple);
  const std::uint64_t* tuple(GroupNumber number) const { return tuples_.data() + number * stride_; }
  std::size_t size() const { return size_; }

 private:
  GroupNumber find_or_add(const std::uint64_t* tuple);
  std::uint64_t hash(const std::uint64_t* tuple) const;
  void grow();

  std::size_t stride_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> tuples_;                                 // by number
  std::vector<GroupNumber> table_ = std::vector<GroupNumber>(64, 0);  // number + 1; 0 is free
  std::vector<GroupNumber> small_;  // the same for tuples of one small word
};

}  // namespace shoal::engine
