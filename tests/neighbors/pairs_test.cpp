// Thousands of neighbouring tables: every command sees both of a pair with the same bits, and what
// an analyst sees is compared. SHOAL_NEIGHBOR_PAIRS says how many (3,000 by default), and
// SHOAL_NEIGHBOR_FIRST where they start: a finding names its number, so that
// SHOAL_NEIGHBOR_FIRST=<number> SHOAL_NEIGHBOR_PAIRS=1 runs it again.
#include "neighbors/commands.hpp"
#include "neighbors/run_side.hpp"
#include "neighbors/shrink.hpp"
#include "neighbors/table_generator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace shoal::test {
namespace {

constexpr std::size_t kPairs = 3000;
// A failure costs a shrinking; more of them tell little.
constexpr int kMostFindings = 3;

std::size_t from_environment(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Drawn {
  Scenario scenario;
  TablePair pair;
};

Drawn draw(std::size_t number, bool with_server) {
  Dice dice(number);
  const ScenarioKind& kind = scenario_kinds()[number % scenario_kinds().size()];
  const Setting setting = draw_setting(dice, kind, with_server);
  Drawn drawn{kind.make(dice, setting), draw_pair(dice, setting)};
  drawn.scenario.seed = number;
  return drawn;
}

std::string report(std::size_t number, const Drawn& drawn) {
  const TablePair small = shrink(
      drawn.pair, [&](const TablePair& pair) { return finding(drawn.scenario, pair).has_value(); });
  const auto found = finding(drawn.scenario, small);
  return fmt::format("pair {} ({}):\n{}\nthe smallest table that shows it:\n{}", number,
                     drawn.scenario.name, found.value_or("gone when it was shrunk"),
                     describe(small));
}

class Pairs : public testing::TestWithParam<std::size_t> {};

// Every part has pairs of every kind.
constexpr std::size_t kParts = 6;

TEST_P(Pairs, LookAlike) {
  const std::size_t first = from_environment("SHOAL_NEIGHBOR_FIRST", 0);
  const std::size_t pairs = from_environment("SHOAL_NEIGHBOR_PAIRS", kPairs);
  int findings = 0;
  for (std::size_t number = first; number < first + pairs && findings < kMostFindings; ++number) {
    if (number / scenario_kinds().size() % kParts != GetParam()) continue;
    const Drawn drawn = draw(number, false);
    const auto found = finding(drawn.scenario, drawn.pair);
    if (!found) continue;
    ++findings;
    ADD_FAILURE() << report(number, drawn);
  }
}

INSTANTIATE_TEST_SUITE_P(Neighbors, Pairs, testing::Range(std::size_t{0}, kParts));

}  // namespace
}  // namespace shoal::test
