#include <shoal/data/coded_column.hpp>

#include <cmath>

namespace shoal::data {

std::uint32_t CodedColumn::size() const {
  const auto values = categories.empty() ? bins : static_cast<std::uint32_t>(categories.size());
  return values + (nulls ? 1 : 0);
}

double bin_width(const CodedColumn& column) {
  return (column.bounds.upper - column.bounds.lower) / column.bins;
}

std::int64_t first_integer(const CodedColumn& column, std::uint32_t bin) {
  return static_cast<std::int64_t>(
      std::ceil(column.bounds.lower + static_cast<double>(bin) * bin_width(column)));
}

std::uint16_t code_of_number(const CodedColumn& column, std::optional<double> value) {
  if (!value || std::isnan(*value)) {
    // Without NULLs the middle of the bounds stands in, as in queries.
    return static_cast<std::uint16_t>(column.nulls ? column.size() - 1 : column.bins / 2);
  }
  const double bin = std::floor((*value - column.bounds.lower) / bin_width(column));
  std::uint32_t code = 0;  // also where the bounds are so wide that the quotient is no number
  if (bin >= column.bins) {
    code = column.bins - 1;
  } else if (bin > 0) {
    code = static_cast<std::uint32_t>(bin);
  }
  // Division rounds: an integer belongs to the bin whose first integer it reaches.
  if (column.type == catalog::ColumnType::integer && column.bounds.lower <= *value &&
      *value < column.bounds.upper) {
    const auto whole = static_cast<std::int64_t>(std::floor(*value));
    while (code > 0 && whole < first_integer(column, code)) --code;
    while (code + 1 < column.bins && whole >= first_integer(column, code + 1)) ++code;
  }
  return static_cast<std::uint16_t>(code);
}

CategoryCodes::CategoryCodes(const CodedColumn& column)
    : other_(static_cast<std::uint16_t>(column.nulls ? column.size() - 1 : 0)) {
  for (std::size_t i = 0; i < column.categories.size(); ++i)
    codes_.emplace(column.categories[i], static_cast<std::uint16_t>(i));
}

}  // namespace shoal::data
