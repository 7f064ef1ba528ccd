#include <shoal/base/error.hpp>
#include <shoal/data/coded_table.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace shoal::data {

CodedTable::CodedTable(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {
  if (sizes_.empty() || sizes_.size() > kMaxAttributes) {
    throw Error(ErrorCode::invalid_argument, "a table of " + std::to_string(sizes_.size()) +
                                                 " columns cannot be counted: give 1 to " +
                                                 std::to_string(kMaxAttributes));
  }
  for (const std::uint32_t size : sizes_) {
    if (size < 1 || size > kMaxCodes) {
      throw Error(ErrorCode::invalid_argument, "a column of " + std::to_string(size) +
                                                   " values cannot be counted: give 1 to " +
                                                   std::to_string(kMaxCodes) + ", or wider bins");
    }
    if (size <= 256) {
      columns_.emplace_back(Narrow{});
    } else {
      columns_.emplace_back(Wide{});
    }
  }
}

// Secrets do not stay behind in freed memory. The volatile access keeps the compiler from dropping
// it.
CodedTable::~CodedTable() {
  for (auto& column : columns_) {
    std::visit(
        [](auto& codes) {
          for (auto& code : codes) {
            *static_cast<volatile std::remove_reference_t<decltype(code)>*>(&code) = 0;
          }
        },
        column);
  }
}

void CodedTable::pad_or_cut(std::size_t rows) {
  for (auto& column : columns_) {
    std::visit(
        [rows](auto& codes) {
          // Memory beyond the end would not be wiped later.
          if (rows < codes.size()) {
            std::fill(codes.begin() + static_cast<std::ptrdiff_t>(rows), codes.end(), 0);
          }
          codes.resize(rows);
        },
        column);
  }
}

void CodedTable::append(std::size_t column, std::span<const std::uint16_t> codes) {
  SHOAL_CHECK(column < columns_.size());
  bool fits = true;
  for (const std::uint16_t code : codes) fits = fits && code < sizes_[column];
  SHOAL_CHECK(fits);
  std::visit(
      [&](auto& held) {
        using Code = typename std::remove_reference_t<decltype(held)>::value_type;
        const std::size_t before = held.size();
        held.resize(before + codes.size());
        for (std::size_t i = 0; i < codes.size(); ++i) {
          held[before + i] = static_cast<Code>(codes[i]);
        }
      },
      columns_[column]);
}

}  // namespace shoal::data
