#include "neighbors/scenarios.hpp"

namespace shoal::test::scenarios {
namespace {

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

}  // namespace

Step ask(const std::string& sql, const std::string& epsilon, Reading reading, const Words& more) {
  const Words words = {"query", "POLICY", sql, "--epsilon", epsilon, "--format", "json"};
  return {.words = with(words, more), .output = reading, .same_draws = reading == Reading::answer};
}

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

}  // namespace shoal::test::scenarios
