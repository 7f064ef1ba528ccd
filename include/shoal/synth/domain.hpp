// The domain of a table: what codes stand for, column by column. Made of the policy's public lists
// and bounds alone, never of rows.
//
// A column is either a list of categories, or a range of numbers cut into bins of equal width (an
// integer column with few enough values has a bin for each). If it may be NULL there is one more
// code, the last, for that; values that the list lacks count as NULL too, or as the first category
// where there is no NULL. Numbers beyond the bounds fall in the outermost bins.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::synth {

struct DomainColumn {
  std::string name;
  catalog::ColumnType type = catalog::ColumnType::text;
  std::vector<std::string> categories;  // empty: numeric
  catalog::Bounds bounds{0, 1};
  std::uint32_t bins = 0;
  bool nulls = false;

  std::uint32_t size() const;
  bool operator==(const DomainColumn&) const = default;
};

using Domain = std::vector<DomainColumn>;

// Columns by name, in the table's order; all that may be queried if none are named. Throws
// not_found for a name that the table lacks, with the nearest one, and invalid_argument for a
// column with neither list nor bounds, bins not from 1 to 65535 and too many columns.
Domain make_domain(const catalog::Table& table, std::span<const std::string> columns,
                   std::uint32_t bins);

std::vector<std::uint32_t> sizes_of(const Domain& domain);

// The code of a value. Every value has one.
std::uint16_t code_of_text(const DomainColumn& column, std::optional<std::string_view> value);
std::uint16_t code_of_number(const DomainColumn& column, std::optional<double> value);

// A value of a code, in the column's notation; none for NULL. Numbers are drawn evenly from their
// bin. Throws internal for a code that the column lacks.
std::optional<std::string> value_of_code(const DomainColumn& column, std::uint16_t code,
                                         random::BitSource& bits);

}  // namespace shoal::synth
