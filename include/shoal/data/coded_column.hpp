// What the codes of a column stand for. Made of the policy's public lists and bounds alone, never
// of rows.
//
// A column is either a list of categories, or a range of numbers cut into bins of equal width (an
// integer column with few enough values has a bin for each). If it may be NULL there is one more
// code, the last, for that; values that the list lacks count as NULL too, or as the first category
// where there is no NULL. Numbers beyond the bounds fall in the outermost bins.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shoal::data {

struct CodedColumn {
  std::string name;
  catalog::ColumnType type = catalog::ColumnType::text;
  std::vector<std::string> categories;  // empty: numeric
  catalog::Bounds bounds{0, 1};
  std::uint32_t bins = 0;
  bool nulls = false;

  std::uint32_t size() const;
  bool operator==(const CodedColumn&) const = default;
};

// The code of a number. Every number has one; NaN is NULL.
std::uint16_t code_of_number(const CodedColumn& column, std::optional<double> value);

// The integers of a bin: from this one on, below that of the next bin.
std::int64_t first_integer(const CodedColumn& column, std::uint32_t bin);

double bin_width(const CodedColumn& column);

// The codes of a column of categories, by the value as text. Every value has one.
class CategoryCodes {
 public:
  explicit CategoryCodes(const CodedColumn& column);
  std::uint16_t of(std::optional<std::string_view> value) const {
    if (!value) return other_;
    const auto found = codes_.find(*value);
    return found == codes_.end() ? other_ : found->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, std::uint16_t, Hash, std::equal_to<>> codes_;
  std::uint16_t other_;
};

}  // namespace shoal::data
