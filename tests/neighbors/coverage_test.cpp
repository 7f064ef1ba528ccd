// The suite against the program: a command that nobody put into the suite fails here.
#include "neighbors/commands.hpp"
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
      const Scenario scenario = kind.make(dice, draw_setting(dice, kind, true));
      for (const Step& step : scenario.steps) {
        missing.erase(step.words.at(0));
        if (step.words.size() > 1) missing.erase(step.words[0] + " " + step.words[1]);
      }
    }
    EXPECT_TRUE(missing.empty()) << kind.name << " does not run shoal " << *missing.begin();
  }
}

}  // namespace
}  // namespace shoal::test
