// Every kind of hostile row before every kind of command, whatever the generator draws.
#include "neighbors/commands.hpp"
#include "neighbors/run_side.hpp"
#include "neighbors/table_generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace shoal::test {
namespace {

class HostileRows : public testing::TestWithParam<HostileRow> {};

// The row is there or not, or stands in the place of another, among rows that are as they should
// be.
TablePair pair_with(const Setting& setting, std::string_view kind, Dice& dice) {
  const auto ordinary = [&](const char* person) {
    Row row = draw_row(dice, {.format = catalog::SourceFormat::postgresql}, person);
    row[Field::person] = person;
    return row;
  };
  TablePair pair{setting, {ordinary("1"), ordinary("2")}, {}, {}, {ordinary("2"), ordinary("3")}};
  pair.other = {hostile_row(kind, "4242")};
  if (setting.neighbors == Neighbors::replace_one) pair.one = {ordinary("4242")};
  return pair;
}

TEST_P(HostileRows, ShowNothing) {
  std::uint64_t seed = 0;
  for (const ScenarioKind& kind : scenario_kinds()) {
    for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      Dice dice(++seed);
      const Setting setting{.neighbors = neighbors};
      if (!kind.allows(setting)) continue;
      const Scenario scenario = kind.make(dice, setting);
      const TablePair pair = pair_with(setting, GetParam().name, dice);
      const auto found = finding(scenario, pair);
      EXPECT_FALSE(found) << *found << "\n" << describe(pair);
    }
  }
}

std::string name_of(const testing::TestParamInfo<HostileRow>& info) {
  std::string name(info.param.name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Neighbors, HostileRows, testing::ValuesIn(hostile_rows()), name_of);

}  // namespace
}  // namespace shoal::test
