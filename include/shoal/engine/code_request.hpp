// What synthesis asks of a table: the codes of some columns of every unit's row.
#pragma once

#include <shoal/data/coded_column.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::engine {

struct CodeRequest {
  std::vector<data::CodedColumn> columns = {};
  // If the unit is a person: of her rows the one with the smallest keyed hash counts, and rows
  // without a person do not. Empty: every row is a unit.
  std::string person_column = {};
  std::array<std::uint64_t, 2> hash_key = {};  // secret, new for each request
  // A public number of rows to which the table is padded or cut.
  std::optional<std::size_t> rows = std::nullopt;
};

}  // namespace shoal::engine
