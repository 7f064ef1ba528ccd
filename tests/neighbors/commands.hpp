// What the suite runs: kinds of scenarios, each for some settings, and which commands of the
// program they cover. A command that stands in none of the two lists fails a test.
#pragma once

#include "neighbors/dice.hpp"
#include "neighbors/scenario.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace shoal::test {

struct ScenarioKind {
  std::string_view name;
  std::vector<std::string_view> covers;  // commands, such as "holdout ask"
  bool (*allows)(const Setting& setting);
  Scenario (*make)(Dice& dice, const Setting& setting);
};

std::span<const ScenarioKind> scenario_kinds();

// Commands that never see private rows: what they read is public or their caller's own.
struct PublicCommand {
  std::string_view name;
  std::string_view reason;
};
std::span<const PublicCommand> public_commands();

enum class Where { files, server };

// Whether some setting there is allowed.
bool can_be_on(const ScenarioKind& kind, Where where);
// A setting there that the kind allows.
Setting draw_setting(Dice& dice, const ScenarioKind& kind, Where where = Where::files);

}  // namespace shoal::test
