// Draws neighbouring tables: small ones, with every kind of cell that a file can hold.
#pragma once

#include "neighbors/dice.hpp"
#include "neighbors/table_pair.hpp"

#include <span>
#include <string_view>

namespace shoal::test {

// A way to write a row of a CSV that no writer would choose. The names are those that a pair is
// reported with.
struct HostileRow {
  std::string_view name;
  // The whole row, line end included, of a person; `filler` is a few letters.
  std::string (*make)(const std::string& person, const std::string& filler);
};

// Those that the generator draws.
std::span<const HostileRow> hostile_rows();
// Rows of 64 MiB and more take seconds: for tests that ask for them.
std::span<const HostileRow> huge_rows();

// The row of that name. Throws if there is none.
Row hostile_row(std::string_view name, const std::string& person);

// Any row of the person. One value of so many is odd.
Row draw_row(Dice& dice, const Setting& setting, const Cell& person, std::size_t odd = 9);

// The setting is given, since a command may not be for every one.
TablePair draw_pair(Dice& dice, const Setting& setting);

}  // namespace shoal::test
