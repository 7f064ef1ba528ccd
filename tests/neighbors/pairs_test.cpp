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

Drawn draw(std::size_t number, Where where) {
  Dice dice(number);
  std::vector<const ScenarioKind*> kinds;
  for (const ScenarioKind& kind : scenario_kinds()) {
    if (can_be_on(kind, where)) kinds.push_back(&kind);
  }
  const ScenarioKind& kind = *kinds[number % kinds.size()];
  const Setting setting = draw_setting(dice, kind, where);
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

// Runs the pairs that are chosen, and reports the first findings.
template <typename Choose>
void look_at_pairs(std::size_t pairs, Where where, const Choose& chosen) {
  const std::size_t first = from_environment("SHOAL_NEIGHBOR_FIRST", 0);
  int findings = 0;
  for (std::size_t number = first; number < first + pairs && findings < kMostFindings; ++number) {
    if (!chosen(number)) continue;
    const Drawn drawn = draw(number, where);
    if (!finding(drawn.scenario, drawn.pair)) continue;
    ++findings;
    ADD_FAILURE() << report(number, drawn);
  }
}

std::size_t all_pairs() { return from_environment("SHOAL_NEIGHBOR_PAIRS", kPairs); }

class Pairs : public testing::TestWithParam<std::size_t> {};

// Every part has pairs of every kind.
constexpr std::size_t kParts = 6;

TEST_P(Pairs, LookAlike) {
  look_at_pairs(all_pairs(), Where::files, [](std::size_t number) {
    return number / scenario_kinds().size() % kParts == GetParam();
  });
}

// A table of a server is filled anew for each side, which takes longer.
TEST(ServerPairs, LookAlike) {
  look_at_pairs(all_pairs() / 10, Where::server, [](std::size_t) { return true; });
}

INSTANTIATE_TEST_SUITE_P(Neighbors, Pairs, testing::Range(std::size_t{0}, kParts));

}  // namespace
}  // namespace shoal::test
