#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/data/attribute_set.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/random/uniform.hpp>
#include <shoal/synth/domain.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::synth {
namespace {

using catalog::ColumnType;

constexpr std::uint32_t kMaxBins = 65535;
constexpr double kMaxInteger = 0x1p53;  // up to here doubles tell integers apart

DomainColumn make_column(const catalog::Column& column, std::uint32_t bins) {
  DomainColumn made{column.name, column.type, column.categories, {0, 1}, 0, column.nulls};
  if (!column.categories.empty()) {
    if (made.size() > data::kMaxCodes) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("column {} has {} values with NULL, and at most {} can be told apart: "
                      "leave it out",
                      column.name, made.size(), data::kMaxCodes));
    }
    return made;
  }
  if (column.type == ColumnType::boolean) {
    made.categories = {"false", "true"};
    return made;
  }
  if (!catalog::is_numeric(column.type) || !column.bounds) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("column {} has neither categories nor bounds in the policy: give it "
                            "one of them, or leave it out",
                            column.name));
  }
  made.bounds = *column.bounds;
  made.bins = bins;
  if (column.type != ColumnType::integer) {
    if (!(made.bounds.lower < made.bounds.upper)) made.bins = 1;
    return made;
  }
  if (std::max(std::abs(made.bounds.lower), std::abs(made.bounds.upper)) > kMaxInteger) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the bounds of column {} go beyond {}: narrow them", column.name,
                            format_number(kMaxInteger)));
  }
  made.bounds = {std::ceil(column.bounds->lower), std::floor(column.bounds->upper) + 1};
  const double values = made.bounds.upper - made.bounds.lower;
  if (values < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the bounds of column {} hold no integer: widen them", column.name));
  }
  if (values <= bins) made.bins = static_cast<std::uint32_t>(values);
  return made;
}

// With as few decimals as leave a bin a thousand values or more: all others would say nothing. The
// next such number below, or above where that is in another bin; as it is if neither is in this
// one.
double with_few_decimals(const DomainColumn& column, std::uint16_t code, double value) {
  const double decimals = std::ceil(3 - std::log10(data::bin_width(column)));
  if (!(std::abs(decimals) <= 300)) return value;  // bins of no width, too
  const double whole = std::pow(10.0, std::abs(decimals));
  const double scaled = decimals > 0 ? value * whole : value / whole;
  for (const double near : {std::floor(scaled), std::ceil(scaled)}) {
    const double rounded = decimals > 0 ? near / whole : near * whole;
    if (rounded >= column.bounds.lower && rounded <= column.bounds.upper &&
        data::code_of_number(column, rounded) == code)
      return rounded;
  }
  return value;
}

}  // namespace

Domain make_domain(const catalog::Table& table, std::span<const std::string> columns,
                   std::uint32_t bins) {
  if (bins < 1 || bins > kMaxBins) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} bins are out of range: give 1 to {}", bins, kMaxBins));
  }
  std::vector<std::string> known;
  for (const catalog::Column& column : table.columns) {
    if (column.queryable) known.push_back(column.name);
  }
  for (const std::string& name : columns) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto nearest = nearest_name(name, known);
    throw Error(ErrorCode::not_found,
                fmt::format("table {} has no column {} to synthesise{}", table.name, name,
                            nearest ? fmt::format("; did you mean {}?", *nearest) : ""));
  }
  Domain domain;
  for (const catalog::Column& column : table.columns) {
    const bool wanted =
        columns.empty() ? column.queryable
                        : std::find(columns.begin(), columns.end(), column.name) != columns.end();
    if (wanted) domain.push_back(make_column(column, bins));
  }
  if (domain.empty() || domain.size() > data::kMaxAttributes) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} columns cannot be synthesised together: name 1 to {}",
                            domain.size(), data::kMaxAttributes));
  }
  return domain;
}

std::vector<std::uint32_t> sizes_of(const Domain& domain) {
  std::vector<std::uint32_t> sizes;
  for (const DomainColumn& column : domain) sizes.push_back(column.size());
  return sizes;
}

std::optional<std::string> value_of_code(const DomainColumn& column, std::uint16_t code,
                                         random::BitSource& bits) {
  SHOAL_CHECK(code < column.size());
  if (column.nulls && code + 1u == column.size()) return std::nullopt;
  if (!column.categories.empty()) return column.categories[code];
  if (column.type == ColumnType::integer) {
    const std::int64_t first = data::first_integer(column, code);
    const std::int64_t end = std::max(first + 1, data::first_integer(column, code + 1u));
    const auto offset = random::uniform_below(static_cast<std::uint64_t>(end - first), bits);
    return std::to_string(first + static_cast<std::int64_t>(offset));
  }
  const double share = std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
  const double value =
      std::min(column.bounds.lower + (static_cast<double>(code) + share) * data::bin_width(column),
               column.bounds.upper);
  return format_number(with_few_decimals(column, code, value));
}

}  // namespace shoal::synth
