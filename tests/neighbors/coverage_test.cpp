// The suite against the program: a command that nobody put into the suite fails here.
#include "neighbors/commands.hpp"
#include "neighbors/run_side.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace shoal::test {
namespace {

// Commands as they are typed: "query", "holdout ask".
void collect(const CLI::App& app, const std::string& before, std::set<std::string>& names) {
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string name = before + command->get_name();
    if (command->get_subcommands({}).empty()) {
      names.insert(name);
    } else {
      collect(*command, name + " ", names);
    }
  }
}

std::set<std::string> commands_of_the_program() {
  CLI::App app;
  cli::add_commands(app);
  std::set<std::string> names;
  collect(app, "", names);
  return names;
}

std::set<std::string> commands_of_the_suite() {
  std::set<std::string> names;
  for (const ScenarioKind& kind : scenario_kinds()) {
    for (const std::string_view name : kind.covers) names.emplace(name);
  }
  return names;
}

TEST(Coverage, EveryCommandIsInTheSuite) {
  const std::set<std::string> covered = commands_of_the_suite();
  std::set<std::string> known = covered;
  for (const PublicCommand& command : public_commands()) {
    EXPECT_FALSE(covered.contains(std::string(command.name)))
        << command.name << " is called public, and is run over private rows";
    EXPECT_FALSE(command.reason.empty());
    known.emplace(command.name);
  }
  const std::set<std::string> program = commands_of_the_program();
  for (const std::string& name : program) {
    EXPECT_TRUE(known.contains(name))
        << "shoal " << name
        << " is not in the neighbours suite: add it to tests/neighbors/commands.cpp, with a "
           "scenario, or with the reason why it never sees private rows";
  }
  for (const std::string& name : known)
    EXPECT_TRUE(program.contains(name)) << "there is no command shoal " << name;
}

// A scenario that names a command in `covers` and does not run it covers nothing.
TEST(Coverage, ScenariosRunWhatTheyCover) {
  for (const ScenarioKind& kind : scenario_kinds()) {
    std::set<std::string> missing(kind.covers.begin(), kind.covers.end());
    for (std::uint64_t seed = 0; seed < 40 && !missing.empty(); ++seed) {
      Dice dice(seed);
      const Scenario scenario = kind.make(dice, draw_setting(dice, kind));
      for (const Step& step : scenario.steps) {
        missing.erase(step.words.at(0));
        if (step.words.size() > 1) missing.erase(step.words[0] + " " + step.words[1]);
      }
    }
    EXPECT_TRUE(missing.empty()) << kind.name << " does not run shoal " << *missing.begin();
  }
}

TablePair plain_pair(const Setting& setting) {
  Row row;
  const char* const cells[] = {
      "1", "30", "100", "m", "Paris", "true", "2000-01-01", "2024-01-01 10:00:00", "1", "a note"};
  for (std::size_t i = 0; i < row.cells.size(); ++i) row.cells[i] = cells[i];
  Row other = row;
  other[Field::person] = "2";
  other[Field::sex] = "f";
  return {setting, {row, row, row}, {other}, {other}, {other}};
}

// Refusals look alike on both sides. A kind of which nothing is ever answered would show nothing.
TEST(Coverage, ScenariosAreAnswered) {
  constexpr int kAsked = 8;
  using Format = catalog::SourceFormat;
  for (const ScenarioKind& kind : scenario_kinds()) {
    if (kind.name == "refusals") continue;
    for (const Format format : {Format::csv, Format::parquet, Format::postgresql}) {
      const Where where = format == Format::postgresql ? Where::server : Where::files;
      if (!can_be_on(kind, where)) continue;
      int answered = 0;
      std::string refusals;
      for (int asked = 0; asked < kAsked;) {
        Dice dice(static_cast<std::uint64_t>(100 * asked + answered));
        Setting setting = draw_setting(dice, kind, where);
        setting.format = format;
        ++asked;
        const Scenario scenario = kind.make(dice, setting);
        const Seen seen = run_side(scenario, plain_pair(setting), false);
        EXPECT_EQ(seen.steps.size(), scenario.steps.size());
        bool every = true;
        for (const StepSeen& step : seen.steps) {
          every = every && step.status == 0;
          refusals += step.errors;
        }
        answered += every ? 1 : 0;
      }
      EXPECT_GE(answered, 3) << kind.name << " is hardly ever answered:\n" << refusals;
    }
  }
}

}  // namespace
}  // namespace shoal::test
