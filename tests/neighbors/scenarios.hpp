// The scenarios of commands.cpp, by what they ask for. Private to the suite.
#pragma once

#include "neighbors/dice.hpp"
#include "neighbors/scenario.hpp"

#include <string>
#include <vector>

namespace shoal::test::scenarios {

using Words = std::vector<std::string>;

inline Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// From far too little to plenty.
inline std::string epsilon(Dice& dice) { return dice.pick({"0.01", "0.1", "1", "3"}); }

// A question that is answered as JSON.
Step ask(const std::string& sql, const std::string& epsilon, Reading reading,
         const Words& more = {});

// Questions: question_scenarios.cpp.
Scenario counts(Dice& dice, const Setting& setting);
Scenario sums(Dice& dice, const Setting& setting);
Scenario public_groups(Dice& dice, const Setting& setting);
Scenario hidden_groups(Dice& dice, const Setting& setting);
Scenario quantiles(Dice& dice, const Setting& setting);
Scenario automatic_bounds(Dice& dice, const Setting& setting);
Scenario expressions(Dice& dice, const Setting& setting);
Scenario joins(Dice& dice, const Setting& setting);
Scenario formats(Dice& dice, const Setting& setting);
Scenario refusals(Dice& dice, const Setting& setting);
Scenario explained(Dice& dice, const Setting& setting);
Scenario shell(Dice& dice, const Setting& setting);

// Models and synthetic tables: learning_scenarios.cpp.
Scenario classification(Dice& dice, const Setting& setting);
Scenario regression(Dice& dice, const Setting& setting);
Scenario mean(Dice& dice, const Setting& setting);
Scenario frank_wolfe(Dice& dice, const Setting& setting);
Scenario weights_of_candidates(Dice& dice, const Setting& setting);
Scenario synthesis(Dice& dice, const Setting& setting);

// States, streams, and what an owner runs: state_scenarios.cpp.
Scenario holdout(Dice& dice, const Setting& setting);
Scenario leaderboard(Dice& dice, const Setting& setting);
Scenario streams(Dice& dice, const Setting& setting);
Scenario owner_commands(Dice& dice, const Setting& setting);

}  // namespace shoal::test::scenarios
