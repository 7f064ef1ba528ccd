// A sample of the pairs with every command in a process of its own, and on a terminal, where
// progress shows.
#include "neighbors/commands.hpp"
#include "neighbors/programs.hpp"
#include "neighbors/run_side.hpp"
#include "neighbors/table_generator.hpp"

#include <gtest/gtest.h>

namespace shoal::test {
namespace {

// Far from the numbers of the other pairs.
constexpr std::uint64_t kFirst = 1'000'000'000;

void look_at(const ScenarioKind& kind, std::uint64_t number, const Way& way) {
  Dice dice(number);
  const Setting setting = draw_setting(dice, kind);
  Scenario scenario = kind.make(dice, setting);
  scenario.seed = number;
  // Only this process counts its draws.
  for (Step& step : scenario.steps) step.same_draws = false;
  const TablePair pair = draw_pair(dice, setting);
  const auto found = finding(scenario, pair, way);
  EXPECT_FALSE(found) << "pair " << number << " (" << kind.name << "):\n"
                      << *found << "\n"
                      << describe(pair);
}

TEST(Processes, LookAlike) {
  std::uint64_t number = kFirst;
  for (const ScenarioKind& kind : scenario_kinds()) {
    for (int i = 0; i < 3; ++i) look_at(kind, ++number, {.program = scripted_program()});
  }
}

// Bars and counters are for terminals alone.
TEST(Terminals, LookAlike) {
  std::uint64_t number = 2 * kFirst;
  for (const ScenarioKind& kind : scenario_kinds()) {
    if (kind.covers.front() != "train" && kind.covers.front() != "synthesize") continue;
    for (int i = 0; i < 4; ++i)
      look_at(kind, ++number, {.program = scripted_program(), .terminal = true});
  }
}

}  // namespace
}  // namespace shoal::test
