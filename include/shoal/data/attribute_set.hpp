// Sets of columns, as bits: which columns a marginal is over. Public facts only.
//
// A table over a set of columns lists its cells with the last column moving fastest: cell
// (c1, ..., ck), columns in ascending order, has the index ((c1 * s2 + c2) * s3 + c3) ...
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace shoal::data {

// Columns beyond this many have no bit.
inline constexpr std::size_t kMaxAttributes = 64;

class AttributeSet {
 public:
  constexpr AttributeSet() = default;
  constexpr explicit AttributeSet(std::uint64_t bits) : bits_(bits) {}
  // Throws internal for a column that has no bit.
  static AttributeSet of(std::initializer_list<std::size_t> columns);
  static constexpr AttributeSet single(std::size_t column) {
    return AttributeSet(std::uint64_t{1} << column);
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  constexpr bool contains(std::size_t column) const { return (bits_ >> column & 1) != 0; }
  constexpr bool within(AttributeSet other) const { return (bits_ & ~other.bits_) == 0; }
  constexpr AttributeSet without(AttributeSet other) const {
    return AttributeSet(bits_ & ~other.bits_);
  }
  // The lowest column. The set must not be empty.
  constexpr std::size_t first() const { return static_cast<std::size_t>(std::countr_zero(bits_)); }

  // In ascending order.
  std::vector<std::size_t> members() const;

  friend constexpr AttributeSet operator|(AttributeSet a, AttributeSet b) {
    return AttributeSet(a.bits_ | b.bits_);
  }
  friend constexpr AttributeSet operator&(AttributeSet a, AttributeSet b) {
    return AttributeSet(a.bits_ & b.bits_);
  }
  constexpr auto operator<=>(const AttributeSet&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

// How many cells a table over the set has: the product of the sizes, or int64's largest value if
// that is smaller. 1 for the empty set.
std::int64_t cell_count(std::span<const std::uint32_t> sizes, AttributeSet set);

}  // namespace shoal::data
