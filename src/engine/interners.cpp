#include "engine/interners.hpp"

#include "engine/keyed_hash.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace shoal::engine {
namespace {

// Such words are looked up directly.
constexpr std::uint64_t kSmallWords = 1 << 14;

// One number stays free: tables mark an empty place with it.
constexpr std::size_t kMostNumbers = std::numeric_limits<GroupNumber>::max() - 1;

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

GroupNumber TextInterner::number(std::string_view text) {
  const std::uint64_t hash = quick_hash(text);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at].text != nullptr; at = (at + 1) & mask) {
    const Place& place = table_[at];
    if (place.hash == hash && std::string_view(place.text, place.length) == text)
      return place.number;
  }
  SHOAL_CHECK(texts_.size() < kMostNumbers);
  const std::string& kept = texts_.emplace_back(text);
  const auto number = static_cast<GroupNumber>(texts_.size() - 1);
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

std::uint64_t WordInterner::hash(const std::uint64_t* tuple) const {
  std::uint64_t hash = stride_;
  for (std::size_t i = 0; i < stride_; ++i) hash = mix(hash, tuple[i]);
  return hash;
}

GroupNumber WordInterner::number(const std::uint64_t* tuple) {
  if (stride_ != 1 || *tuple >= kSmallWords) return find_or_add(tuple);
  if (small_.empty()) small_.resize(kSmallWords);
  GroupNumber& known = small_[*tuple];
  if (known == 0) known = find_or_add(tuple) + 1;
  return known - 1;
}

GroupNumber WordInterner::find_or_add(const std::uint64_t* wanted) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(wanted) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const GroupNumber number = table_[at] - 1;
    if (std::equal(wanted, wanted + stride_, tuple(number))) return number;
  }
  SHOAL_CHECK(size_ < kMostNumbers);
  tuples_.insert(tuples_.end(), wanted, wanted + stride_);
  table_[at] = static_cast<GroupNumber>(++size_);
  if (is_full(size_, table_.size())) grow();
  return static_cast<GroupNumber>(size_ - 1);
}

void WordInterner::grow() {
  std::vector<GroupNumber> larger(table_.size() * 2, 0);
  const std::size_t mask = larger.size() - 1;
  for (std::size_t i = 0; i < size_; ++i) {
    std::size_t at = hash(tuple(static_cast<GroupNumber>(i))) & mask;
    while (larger[at] != 0) at = (at + 1) & mask;
    larger[at] = static_cast<GroupNumber>(i + 1);
  }
  table_ = std::move(larger);
}

}  // namespace shoal::engine
