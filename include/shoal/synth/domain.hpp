// The domain of a table: what codes stand for, column by column (data/coded_column.hpp). Made of
// the policy's public lists and bounds alone, never of rows.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/data/coded_column.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::synth {

using DomainColumn = data::CodedColumn;
using Domain = std::vector<DomainColumn>;

// Columns by name, in the table's order; all that may be queried if none are named. Throws
// not_found for a name that the table lacks, with the nearest one, and invalid_argument for a
// column with neither list nor bounds, bins not from 1 to 65535, more values than codes and too
// many columns.
Domain make_domain(const catalog::Table& table, std::span<const std::string> columns,
                   std::uint32_t bins);

std::vector<std::uint32_t> sizes_of(const Domain& domain);

// A value of a code; none for NULL. Categories are as the policy lists them, booleans without a
// list are true and false. Numbers are drawn evenly from their bin; reals are rounded to as few
// decimals as leave the bin a thousand values or more. Throws internal for a code that the column
// lacks.
std::optional<std::string> value_of_code(const DomainColumn& column, std::uint16_t code,
                                         random::BitSource& bits);

}  // namespace shoal::synth
