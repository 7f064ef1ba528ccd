#include "neighbors/scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace shoal::test::scenarios {
namespace {

Words row_question(Dice& dice) {
  switch (dice.below(4)) {
    case 0:
      return {"--marginal", dice.pick({"sex=m", "city=Paris", "y=1", "member=true", "age=30"})};
    case 1:
      return {"--predictions", "OWNER/predictions.csv", "--label", dice.pick({"y", "sex", "note"})};
    case 2:
      return {"--values", "OWNER/predictions.csv"};
    default:
      return {"--correlation", "age", "income"};
  }
}

// One for each row, whose number is public.
std::string predictions(const Rows& rows) {
  std::string text = "p\n";
  for (std::size_t i = 0; i < rows.size(); ++i) text += "1\n";
  return text;
}

}  // namespace

Scenario holdout(Dice& dice, const Setting&) {
  Scenario scenario{.name = "holdout", .steps = {}, .derived = {{"predictions.csv", predictions}}};
  scenario.steps.push_back({.words = {"holdout", "create", "OWNER/h.state", "--policy", "POLICY",
                                      "--table", "people", "--questions", "20", "--disagreements",
                                      "2", "--epsilon", epsilon(dice), "--format", "json"}});
  for (int i = 0; i < 2; ++i) {
    Words words = {"holdout", "ask", "OWNER/h.state", "--train-value",
                   dice.pick({"0", "0.5", "1"})};
    const Words question = row_question(dice);
    words.insert(words.end(), question.begin(), question.end());
    scenario.steps.push_back({.words = words, .output = Reading::anything});
  }
  scenario.steps.push_back(
      {.words = {"holdout", "status", "OWNER/h.state"}, .output = Reading::numbers});
  return scenario;
}

Scenario leaderboard(Dice& dice, const Setting&) {
  Scenario scenario{
      .name = "leaderboard", .steps = {}, .derived = {{"predictions.csv", predictions}}};
  scenario.steps.push_back(
      {.words = {"leaderboard", "create", "OWNER/b.state", "--policy", "POLICY", "--table",
                 "people", "--submissions", "10", "--epsilon", epsilon(dice), "--format", "json"}});
  for (int i = 0; i < 2; ++i) {
    Words words = {"leaderboard", "submit", "OWNER/b.state", "--name", "me"};
    const Words question = row_question(dice);
    words.insert(words.end(), question.begin(), question.end());
    scenario.steps.push_back({.words = words, .output = Reading::anything});
  }
  scenario.steps.push_back(
      {.words = {"leaderboard", "show", "OWNER/b.state"}, .output = Reading::anything});
  return scenario;
}

namespace {

// How many rows are above each of some ages: a row moves each by 1 at most.
std::string stream_of_counts(const Rows& rows) {
  std::string text = "day,count\n";
  for (long age = 0; age < 100; age += 10) {
    const auto above = [age](const Row& row) {
      return row[Field::age] && std::strtol(row[Field::age]->c_str(), nullptr, 10) > age;
    };
    text += fmt::format("{},{}\n", age, std::count_if(rows.begin(), rows.end(), above));
  }
  return text;
}

std::string truths(const Rows& rows) {
  std::string text;
  for (const Row& row : rows) text += row[Field::sex] == "m" ? "m\n" : "f\n";
  return text;
}

}  // namespace

Scenario streams(Dice& dice, const Setting& setting) {
  Scenario scenario{.name = "streams", .steps = {}};
  scenario.derived = {{"stream.csv", stream_of_counts}, {"truths.txt", truths}};
  Words watch = {"watch",         "OWNER/stream.csv",
                 "--threshold",   "5",
                 "--hits",        "2",
                 "--sensitivity", "1",
                 "--epsilon",     epsilon(dice),
                 "--format",      dice.pick({"text", "json"})};
  if (setting.neighbors == Neighbors::add_remove && dice.one_in(2)) watch.push_back("--monotone");
  if (dice.one_in(2)) watch.push_back("--gap");
  if (dice.one_in(2)) watch.insert(watch.end(), {"--state", "OWNER/w.state"});
  const Step step{.words = watch, .output = Reading::anything};
  scenario.steps = {
      step,
      step,
      {.words = {"choose", "OWNER/stream.csv", "--sensitivity", "1", "--epsilon", epsilon(dice),
                 "--method", dice.pick({"permute-and-flip", "exponential", "noisy-max"})},
       .output = Reading::numbers}};
  // One line a row: their number is public where rows are exchanged.
  const bool exchange = setting.neighbors == Neighbors::replace_one;
  scenario.steps.push_back(
      {.words = {"respond", "OWNER/truths.txt", "--epsilon", epsilon(dice), "--categories", "m,f"},
       .output = exchange ? Reading::lines : Reading::anything,
       .same_draws = exchange});
  return scenario;
}

// For the owner, who may be told about rows. Afterwards an analyst asks.
Scenario owner_commands(Dice& dice, const Setting& setting) {
  const std::string file =
      setting.format == catalog::SourceFormat::csv ? "OWNER/people.csv" : "OWNER/people.parquet";
  if (dice.one_in(3)) {
    // What it writes says which values there are, so it is not for analysts either.
    return {.name = "owner",
            .steps = {{.words = {"init", file, "--output", "OWNER/other.toml"}, .owner = true}}};
  }
  return {.name = "owner",
          .steps = {{.words = {"import", file, "--policy", "POLICY", "--table", "people",
                               "--update-policy"},
                     .owner = true},
                    ask("SELECT COUNT(*), SUM(age) FROM people", "1", Reading::answer),
                    {.words = {"reopen", "POLICY"}}}};
}

}  // namespace shoal::test::scenarios
