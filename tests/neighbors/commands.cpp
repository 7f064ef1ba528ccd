#include "neighbors/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

namespace shoal::test {
namespace {

using Format = catalog::SourceFormat;
using Words = std::vector<std::string>;

bool any(const Setting&) { return true; }
bool is_file(const Setting& setting) { return setting.format != Format::postgresql; }
// Joins with a public file.
bool is_file_of_rows(const Setting& setting) {
  return is_file(setting) && setting.unit == catalog::PrivacyUnit::row;
}
bool exchanges_rows(const Setting& setting) {
  return is_file_of_rows(setting) && setting.neighbors == Neighbors::replace_one;
}

Step ask(const std::string& sql, const std::string& epsilon, Reading reading, Words more = {}) {
  Words words = {"query", "POLICY", sql, "--epsilon", epsilon, "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  return {.words = words, .output = reading, .same_draws = reading == Reading::answer};
}

Words noise_options(Dice& dice) {
  if (!dice.one_in(3)) return {};
  return {"--delta", "1e-6", "--noise", dice.pick({"gaussian", "automatic"})};
}

// Filters that walk through every type and most functions.
std::string filter(Dice& dice) {
  if (dice.one_in(2)) return "";
  return dice.pick({"",
                    "",
                    "",
                    " WHERE age > 40",
                    " WHERE income / age > 3",
                    " WHERE LN(income) > 2",
                    " WHERE SQRT(income - 50) < 10",
                    " WHERE age % 7 = 1",
                    " WHERE POWER(income, 3) > 1e9",
                    " WHERE EXP(age) > 10",
                    " WHERE CAST(note AS BIGINT) > 3",
                    " WHERE CAST(city AS DATE) > DATE '2000-01-01'",
                    " WHERE UPPER(note) LIKE '%A%'",
                    " WHERE LENGTH(note) > 3",
                    " WHERE note IS NULL",
                    " WHERE SUBSTR(note, 2, 3) = 'abc'",
                    " WHERE EXTRACT(YEAR FROM born) > 1980",
                    " WHERE DATE_DIFF('day', born, seen) > 10000",
                    " WHERE DATE_TRUNC('month', seen) < TIMESTAMP '2024-05-01 00:00:00'",
                    " WHERE born + 1 > born",
                    " WHERE CAST(income AS INTEGER) > 50",
                    " WHERE CAST(income AS DECIMAL(10, 2)) > 50",
                    " WHERE city || sex = 'Parism'",
                    " WHERE age * age * age * age * income > 0",
                    " WHERE NOT member",
                    " WHERE COALESCE(note, city) <> ''",
                    " WHERE CASE WHEN age > 50 THEN income ELSE age END > 30",
                    " WHERE ROUND(income, 1) = 3.2",
                    " WHERE -age < 0",
                    " WHERE ABS(age) > 10",
                    " WHERE REPLACE(note, 'a', 'bb') <> 'b'",
                    " WHERE y = 1",
                    " WHERE sex = 'm' AND city = 'Paris'",
                    " WHERE age BETWEEN 20 AND 60",
                    " WHERE CAST(seen AS DATE) >= born",
                    " WHERE EXTRACT(HOUR FROM seen) = 3",
                    " WHERE TRIM(note) = ''",
                    " WHERE CAST(age AS VARCHAR) = '30'",
                    " WHERE STARTS_WITH(note, 'a')"});
}

std::string epsilon(Dice& dice) { return dice.pick({"0.01", "0.1", "1", "3"}); }

Scenario counts(Dice& dice, const Setting&) {
  const std::string from = " FROM people" + filter(dice);
  const std::string what = dice.pick(
      {"COUNT(*)", "COUNT(age)", "COUNT(*), COUNT(income), COUNT(note)", "COUNT(DISTINCT person)",
       "COUNT(DISTINCT city)", "COUNT(*) FILTER (WHERE age > 30)", "COUNT(born), COUNT(seen)"});
  return {
      .name = "counts",
      .steps = {ask("SELECT " + what + from, epsilon(dice), Reading::answer, noise_options(dice))}};
}

Scenario sums(Dice& dice, const Setting&) {
  const std::string what = dice.pick(
      {"SUM(age), SUM(income)", "SUM(age), COUNT(*)", "SUM(income), COUNT(income), COUNT(*)",
       "SUM(y), SUM(age)", "AVG(income)", "SUM(income), AVG(income), AVG(age)", "VARIANCE(income)",
       "STDDEV(age)", "SUM(income / age, bounds => (0, 10))", "SUM(age) FILTER (WHERE member)",
       "AVG(income * age, bounds => (0, 1000)) AS x"});
  return {.name = "sums",
          .steps = {ask("SELECT " + what + " FROM people" + filter(dice), epsilon(dice),
                        Reading::answer, noise_options(dice))}};
}

Scenario public_groups(Dice& dice, const Setting&) {
  const std::string what =
      dice.pick({"COUNT(*), SUM(age)", "SUM(age), SUM(income)", "AVG(income), COUNT(*)"});
  const std::string by = dice.pick({"sex", "member", "y", "sex, member", "CUBE (sex, member)",
                                    "ROLLUP (sex, y)", "GROUPING SETS ((sex), (y), ())"});
  const std::string keys = by == "sex" || by == "member" || by == "y" ? by + ", " : "";
  return {.name = "public groups",
          .steps = {ask("SELECT " + keys + what + " FROM people" + filter(dice) + " GROUP BY " + by,
                        epsilon(dice), Reading::answer, noise_options(dice))}};
}

Scenario hidden_groups(Dice& dice, const Setting&) {
  const std::string by = dice.pick({"city", "note", "born", "seen", "income", "city, sex", "age",
                                    "EXTRACT(YEAR FROM born)", "UPPER(city)", "FLOOR(age / 10)"});
  return {.name = "hidden groups",
          .steps = {ask("SELECT " + by + ", COUNT(*), SUM(age) FROM people" + filter(dice) +
                            " GROUP BY " + by,
                        epsilon(dice), Reading::rows, {"--delta", dice.pick({"1e-3", "1e-9"})})}};
}

Scenario quantiles(Dice& dice, const Setting&) {
  const std::string what = dice.pick(
      {"MEDIAN(age)", "MEDIAN(income)", "QUANTILE_CONT(income, 0.9)", "MIN(age)", "MAX(income)",
       "MIN(income), MAX(income)", "MEDIAN(age), QUANTILE_CONT(age, 0.25)", "MAX(age), COUNT(*)"});
  const std::string by = dice.one_in(3) ? " GROUP BY sex" : "";
  // A choice among values compares them by as many bits as it takes.
  Step step =
      ask("SELECT " + what + " FROM people" + filter(dice) + by, epsilon(dice), Reading::answer);
  step.same_draws = false;
  return {.name = "quantiles", .steps = {step}};
}

Scenario automatic_bounds(Dice& dice, const Setting&) {
  const std::string what = dice.pick({"SUM(income, bounds => AUTO)", "AVG(age, bounds => AUTO)",
                                      "SUM(income * 2, bounds => AUTO)"});
  Step step = ask("SELECT " + what + " FROM people" + filter(dice),
                  dice.pick({"0.1", "100", "300"}), Reading::answer);
  step.same_draws = false;
  // Whether enough people were there to tell is said by noisy counts.
  step.noise_decides = true;
  return {.name = "automatic bounds", .steps = {step}};
}

Scenario expressions(Dice& dice, const Setting&) {
  return {.name = "having, order and limit",
          .steps = {ask(
              dice.pick({"SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 3",
                         "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC",
                         "SELECT y, SUM(age) AS n FROM people GROUP BY y ORDER BY n LIMIT 1",
                         "SELECT SUM(income) / COUNT(*) AS r, SQRT(COUNT(*)) FROM people",
                         "SELECT LN(SUM(age)) AS l, 1 / COUNT(*) AS i FROM people"}),
              epsilon(dice), Reading::rows)}};
}

Scenario joins(Dice& dice, const Setting&) {
  const std::string join = dice.pick({"JOIN", "LEFT JOIN"});
  const std::string from = " FROM people " + join + " places ON people.city = places.city";
  return {.name = "joins",
          .steps = {ask(dice.one_in(2)
                            ? "SELECT country, COUNT(*)" + from + " GROUP BY country"
                            : "SELECT COUNT(*), SUM(age)" + from + " WHERE country = 'France'",
                        epsilon(dice), Reading::rows, {"--delta", "1e-6"})}};
}

Scenario formats(Dice& dice, const Setting&) {
  const std::string sql = "SELECT sex, COUNT(*), AVG(age) FROM people GROUP BY sex";
  Scenario scenario{.name = "formats", .steps = {}};
  const std::string format = dice.pick({"table", "csv", "json", "parquet", "arrow"});
  Words words = {"query", "POLICY", sql, "--epsilon", "1", "--format", format, "--key", "k"};
  if (format == "parquet" || format == "arrow" || dice.one_in(2)) {
    words.insert(words.end(), {"--output", "answer"});
    scenario.outputs["answer"] = format == "table"  ? Reading::anything
                                 : format == "csv"  ? Reading::numbers
                                 : format == "json" ? Reading::answer
                                                    : Reading::anything;
  }
  // Once more: the same answer, free, from the ledger.
  const Reading reading = format == "json" && scenario.outputs.empty() ? Reading::answer
                          : format == "table"                          ? Reading::anything
                                                                       : Reading::numbers;
  const Step step{.words = words, .output = reading};
  Step again = step;
  for (std::string& word : again.words) {
    if (word == "answer") word = "again";
  }
  if (scenario.outputs.contains("answer"))
    scenario.outputs["again"] = Reading(scenario.outputs.at("answer"));
  scenario.steps = {step,
                    again,
                    {.words = {"budget", "POLICY"}},
                    {.words = {"budget", "POLICY", "--format", "json"}}};
  return scenario;
}

Scenario refusals(Dice& dice, const Setting&) {
  const std::string sql = dice.pick(
      {"SELECT AVG(nobody) FROM people", "SELECT * FROM people", "SELECT COUNT(*) FROM nowhere",
       "SELECT SUM(note) FROM people", "SELECT COUNT(*) FROM people WHERE sex = 'x'",
       "SELECT MAX(city) FROM people", "SELECT COUNT(*) FRM people",
       "SELECT COUNT(*) FROM people WHERE agee > 3", "SELECT SUM(city) FROM people GROUP BY y",
       "SELECT age FROM people", "SELECT COUNT(*) FROM people GROUP BY nobody"});
  return {.name = "refusals",
          .steps = {{.words = {"query", "POLICY", sql, "--epsilon", "1"}, .same_draws = true},
                    {.words = {"explain", "POLICY", sql, "--epsilon", "1"}},
                    ask("SELECT COUNT(*) FROM people", "2000", Reading::answer)}};
}

Scenario explained(Dice& dice, const Setting&) {
  const std::string sql = dice.pick(
      {"SELECT COUNT(*) FROM people", "SELECT sex, AVG(age) FROM people GROUP BY sex",
       "SELECT city, COUNT(*) FROM people GROUP BY city", "SELECT MEDIAN(age) FROM people",
       "SELECT SUM(income, bounds => AUTO) FROM people"});
  return {
      .name = "explain",
      .steps = {{.words = {"explain", "POLICY", sql, "--epsilon", epsilon(dice), "--format",
                           dice.pick({"table", "json"})}},
                {.words = {"train", "POLICY", "--target", "sex", "--epsilon", "1", "--explain"}},
                {.words = {"synthesize", "POLICY", "--columns", "sex,y", "--workload", "all-2way",
                           "--epsilon", "1", "--delta", "1e-6", "--explain"}},
                {.words = {"budget", "POLICY"}}}};
}

Scenario shell(Dice& dice, const Setting&) {
  const std::string format = dice.pick({"json", "csv"});
  return {
      .name = "shell",
      .steps = {{.words = {"shell", "POLICY", "--epsilon", "0.1", "--format", format},
                 .output = Reading::numbers,
                 .input = "\\schema\nSELECT COUNT(*) FROM people;\nSELECT AVG(age) FROM people" +
                          filter(dice) + ";\n" +
                          (dice.one_in(3) ? "SELECT nobody FROM people;\n" : "") +
                          "\\cost SELECT SUM(age) FROM "
                          "people\n\\budget\nSELECT COUNT(*) FROM people;\n"}}};
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Step train(const std::string& target, const std::string& features, const Words& more) {
  const Words words = {"train",      "POLICY", "--target", target,
                       "--features", features, "--output", "model.json"};
  return {.words = with(words, more), .output = Reading::numbers};
}

// Sometimes a constraint, a regulariser, a private choice or a private estimate.
Words training_options(Dice& dice, bool bounded) {
  Words words;
  if (bounded || dice.one_in(4)) words = with(words, {"--radius", dice.pick({"0.5", "10", "1e5"})});
  if (dice.one_in(6)) words = with(words, {"--l1", dice.pick({"0.1", "5"})});
  if (dice.one_in(3)) words = with(words, {"--l2", dice.pick({"1e-6", "1", "30"})});
  if (dice.one_in(6)) words = with(words, {"--evaluate-epsilon", "0.005"});
  if (dice.one_in(8)) words = with(words, {"--try-l2", "0.1,1,10"});
  return words;
}

std::string training_method(Dice& dice) {
  return dice.pick({"auto", "objective", "output", "amp", "gradient", "sgd", "ftrl", "bolt_on"});
}

// All but the first few need it.
Words training_cost(Dice& dice, const std::string& method) {
  const Words cost = {"--method", method, "--epsilon", epsilon(dice)};
  const bool must = method == "amp" || method == "gradient" || method == "sgd" || method == "ftrl";
  if (must) return with(cost, {"--delta", "1e-5", "--rows", "1000"});
  return dice.one_in(2) ? with(cost, {"--delta", "1e-5"}) : cost;
}

Scenario trained(std::string name, const Step& step) {
  const bool chosen =
      std::find(step.words.begin(), step.words.end(), "--try-l2") != step.words.end();
  return {.name = std::move(name),
          .steps = {step, {.words = {"budget", "POLICY"}}},
          .outputs = {{"model.json", chosen ? Reading::chosen : Reading::model}}};
}

Scenario classification(Dice& dice, const Setting&) {
  const std::string model = dice.pick({"logistic", "svm", "softmax"});
  const Words options = with(with({"--model", model}, training_cost(dice, training_method(dice))),
                             training_options(dice, false));
  return trained("classification", model == "softmax" ? train("y", "age,income,sex", options)
                                                      : train("sex", "age,income,y", options));
}

Scenario regression(Dice& dice, const Setting&) {
  const std::string method = dice.one_in(3) ? "adassp" : training_method(dice);
  const Words options = with(with({"--model", "linear"}, training_cost(dice, method)),
                             training_options(dice, method == "output"));
  return trained("regression", train("income", "age,sex", options));
}

Scenario mean(Dice& dice, const Setting&) {
  const Words words = {"train",   "POLICY", "--target", dice.pick({"income", "age"}),
                       "--model", "mean",   "--output", "model.json"};
  return trained(
      "mean",
      {.words = with(words, training_cost(dice, dice.pick({"auto", "objective", "gradient"}))),
       .output = Reading::numbers});
}

Scenario frank_wolfe(Dice& dice, const Setting&) {
  return trained("frank-wolfe", train("sex", "age,y",
                                      with(training_cost(dice, "frank_wolfe"),
                                           {"--radius", "2", "--steps", "5"})));
}

Scenario weights_of_candidates(Dice& dice, const Setting&) {
  Words words = with(training_cost(dice, "exponential"), {"--intercept", "0"});
  if (dice.one_in(2)) words = with(words, {"--mistakes"});
  Scenario scenario{.name = "exponential", .steps = {}};
  if (dice.one_in(2)) {
    scenario = trained("exponential",
                       train("sex", "age,income", with(words, {"--radius", "1", "--points", "3"})));
  } else {
    scenario = trained("exponential",
                       train("sex", "age,income", with(words, {"--candidates", "weights.csv"})));
    scenario.inputs = {{"weights.csv", "0,0\n1,0\n0,1\n-1,1\n"}};
  }
  return scenario;
}

Scenario synthesis(Dice& dice, const Setting&) {
  const std::string method = dice.pick({"auto", "aim", "graded", "mst", "mwem", "blr"});
  const bool universe = method == "mwem" || method == "blr";
  Words words = {
      "synthesize", "POLICY",     "--columns", dice.pick({"sex,y", "sex,member,y", "age,sex"}),
      "--workload", "all-2way",   "--bins",    "4",
      "--method",   method,       "--epsilon", epsilon(dice),
      "--output",   "records.csv"};
  Scenario scenario{.name = "synthesis", .steps = {}};
  scenario.outputs["records.csv"] = Reading::anything;
  if (!universe || dice.one_in(2)) words = with(words, {"--delta", "1e-6"});
  if (universe) words = with(words, {"--public-rows", "20"});
  if (dice.one_in(2)) {
    words = with(words, {"--rows", "10"});
    scenario.outputs["records.csv"] = Reading::table;
  }
  if (method != "blr" && dice.one_in(4)) words = with(words, {"--check", "0.1"});
  if (dice.one_in(4)) {
    words = with(words, {"--report", "report.html"});
    scenario.outputs["report.html"] = Reading::anything;
  }
  scenario.steps = {{.words = words, .output = Reading::numbers}, {.words = {"budget", "POLICY"}}};
  return scenario;
}

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
      setting.format == Format::csv ? "OWNER/people.csv" : "OWNER/people.parquet";
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

const std::vector<ScenarioKind>& kinds() {
  static const std::vector<ScenarioKind> all = {
      {"counts", {"query"}, any, counts},
      {"sums", {"query"}, any, sums},
      {"public groups", {"query"}, any, public_groups},
      {"hidden groups", {"query"}, any, hidden_groups},
      {"quantiles", {"query"}, any, quantiles},
      {"automatic bounds", {"query"}, any, automatic_bounds},
      {"expressions", {"query"}, any, expressions},
      {"joins", {"query"}, is_file, joins},
      {"formats", {"query", "budget"}, any, formats},
      {"refusals", {"query", "explain"}, any, refusals},
      {"explained", {"explain", "budget"}, is_file, explained},
      {"shell", {"shell"}, any, shell},
      {"classification", {"train"}, is_file, classification},
      {"regression", {"train"}, is_file, regression},
      {"mean", {"train"}, is_file, mean},
      {"frank-wolfe", {"train"}, is_file, frank_wolfe},
      {"exponential", {"train"}, is_file, weights_of_candidates},
      {"synthesis", {"synthesize"}, is_file, synthesis},
      {"holdout", {"holdout create", "holdout ask", "holdout status"}, exchanges_rows, holdout},
      {"leaderboard",
       {"leaderboard create", "leaderboard submit", "leaderboard show"},
       exchanges_rows,
       leaderboard},
      {"streams", {"watch", "choose", "respond"}, is_file_of_rows, streams},
      {"owner", {"init", "import", "reopen"}, is_file, owner_commands},
  };
  return all;
}

constexpr std::array kPublicCommands = {
    PublicCommand{"predict", "reads a model and rows of its caller"},
    PublicCommand{"evaluate", "reads a model and rows that are public"},
    PublicCommand{"noise", "reads no data"},
    PublicCommand{"tally", "reads randomized answers"},
    PublicCommand{"calibrate gaussian", "reads no data"},
    PublicCommand{"calibrate laplace", "reads no data"},
    PublicCommand{"calibrate count", "reads no data"},
    PublicCommand{"calibrate queries", "reads no data"},
    PublicCommand{"calibrate split", "reads no data"},
    PublicCommand{"account", "reads an event"},
    PublicCommand{"plot", "reads events"},
    PublicCommand{"generalize", "reads no data"},
};

}  // namespace

std::span<const ScenarioKind> scenario_kinds() { return kinds(); }
std::span<const PublicCommand> public_commands() { return kPublicCommands; }

bool can_be_on(const ScenarioKind& kind, Where where) {
  Setting setting;
  if (where == Where::server) setting.format = Format::postgresql;
  for (const auto unit : {catalog::PrivacyUnit::row, catalog::PrivacyUnit::person}) {
    for (const auto neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      setting.unit = unit;
      setting.neighbors = neighbors;
      if (kind.allows(setting)) return true;
    }
  }
  return false;
}

Setting draw_setting(Dice& dice, const ScenarioKind& kind, Where where) {
  for (int tries = 0; tries < 1000; ++tries) {
    Setting setting;
    setting.format = where == Where::server ? Format::postgresql
                     : dice.one_in(3)       ? Format::parquet
                                            : Format::csv;
    setting.unit = dice.one_in(3) ? catalog::PrivacyUnit::person : catalog::PrivacyUnit::row;
    setting.neighbors = dice.one_in(2) ? Neighbors::add_remove : Neighbors::replace_one;
    if (setting.format == Format::csv) {
      if (dice.one_in(8)) setting.line_end = "\r\n";
      setting.byte_order_mark = dice.one_in(8);
      setting.last_line_ends = !dice.one_in(8);
    }
    setting.milliseconds = setting.format == Format::parquet && dice.one_in(3);
    setting.numbers_as_decimals = setting.format == Format::postgresql && dice.one_in(2);
    setting.threads = dice.one_in(6) ? 2 : 1;
    if (kind.allows(setting)) return setting;
  }
  throw std::logic_error(fmt::format("no setting suits {}", kind.name));
}

}  // namespace shoal::test
