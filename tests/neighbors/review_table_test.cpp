// Breaks of the promise that were found by hand, each as the pair of tables that showed it.
//
// SHOAL_NEIGHBOR_PROGRAM=<path of a shoal> runs these commands as processes of that program, to see
// what an older version did. Its bits are its own then, so values differ; exit statuses and
// messages must not.
#include "neighbors/run_side.hpp"
#include "neighbors/scripted_bits.hpp"
#include "neighbors/table_files.hpp"
#include "neighbors/table_generator.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace shoal::test {
namespace {

using Words = std::vector<std::string>;

Way way() {
  const char* program = std::getenv("SHOAL_NEIGHBOR_PROGRAM");
  return {.program = program == nullptr ? "" : program};
}

void expect_alike(const Scenario& scenario, const TablePair& pair) {
  const auto found = finding(scenario, pair, way());
  EXPECT_FALSE(found) << *found;
}

// A person as most are.
Row person(const std::string& name) {
  Row row;
  const char* const cells[] = {
      "", "30", "100", "m", "Paris", "true", "2000-01-01", "2024-01-01 10:00:00", "1", "a note"};
  for (std::size_t i = 0; i < row.cells.size(); ++i) row.cells[i] = cells[i];
  row[Field::person] = name;
  return row;
}

Rows persons(std::size_t count, const Row& model) { return Rows(count, model); }

Scenario one_command(Words words, Reading output) {
  return {.name = "review", .steps = {{.words = std::move(words), .output = output}}};
}

Scenario question(const std::string& sql) {
  return one_command({"query", "POLICY", sql, "--epsilon", "1", "--format", "json"},
                     Reading::answer);
}

Scenario training(Words options) {
  Words words = {"train", "POLICY", "--epsilon", "1", "--output", "model.json"};
  words.insert(words.end(), options.begin(), options.end());
  Scenario scenario = one_command(words, Reading::numbers);
  scenario.outputs = {{"model.json", Reading::model}};
  return scenario;
}

class HostileQuestion : public testing::TestWithParam<const char*> {};

// Questions that do not use the column, that use it, and that go by it.
void ask_about(const TablePair& pair) {
  for (const char* sql : {"SELECT COUNT(*) FROM people", "SELECT COUNT(note), SUM(age) FROM people",
                          "SELECT sex, COUNT(*) FROM people WHERE note LIKE '%a%' GROUP BY sex"})
    expect_alike(question(sql), pair);
}

// --- 1: a block of rows without a single feature was read as a dense one: SIGSEGV.

const std::vector<Words> kTrainingsOfOneCategory = {
    {"--target", "income", "--features", "sex", "--model", "linear"},
    {"--target", "income", "--features", "sex", "--model", "linear", "--method", "gradient",
     "--delta", "1e-6", "--rows", "1000"},
    {"--target", "y", "--features", "sex", "--model", "softmax", "--delta", "1e-6", "--rows",
     "1000"},
    {"--target", "income", "--features", "sex", "--model", "linear", "--evaluate-epsilon", "0.1"},
};

// Alike, and not because they are refused alike.
void expect_trained_alike(const Words& options, const TablePair& pair) {
  expect_alike(training(options), pair);
  const StepSeen seen = run_side(training(options), pair, true, way()).steps.at(0);
  EXPECT_EQ(seen.status, 0) << seen.errors;
}

TEST(ReviewTable, Row1SparseBlockWithoutFeature) {
  Row unlisted = person("1");
  unlisted[Field::sex] = "unlisted";
  for (const Words& options : kTrainingsOfOneCategory)
    expect_trained_alike(options, {{}, persons(1000, unlisted), {}, {person("2")}, {}});
}

TEST(ReviewTable, Row1OneBlockOfManyWithoutFeature) {
  Row unlisted = person("1");
  unlisted[Field::sex] = "unlisted";
  const TablePair pair{{.neighbors = Neighbors::replace_one},
                       persons(4095, unlisted),
                       {unlisted},
                       {person("1")},
                       persons(4096, person("1"))};
  expect_trained_alike(kTrainingsOfOneCategory[0], pair);
  expect_trained_alike({"--target", "income", "--features", "sex", "--model", "linear", "--method",
                        "bolt_on", "--radius", "1"},
                       pair);
}

// --- 2: a quoted line break failed every question.

class Row2QuotedLineBreak : public HostileQuestion {};

TEST_P(Row2QuotedLineBreak, FailsNothing) {
  ask_about({{}, persons(5, person("1")), {}, {hostile_row(GetParam(), "2")}, {person("3")}});
}

INSTANTIATE_TEST_SUITE_P(ReviewTable, Row2QuotedLineBreak,
                         testing::Values("short quoted break", "long quoted break", "quoted rows",
                                         "quoted carriage return", "break in a number"));

// --- 3: a field of several lines at the end of a buffer was read as rows of its author's choice.

class Row3HugeField : public HostileQuestion {};

TEST_P(Row3HugeField, MovesACountByOne) {
  expect_alike(question("SELECT COUNT(*), SUM(age) FROM people"),
               {{}, persons(5, person("1")), {}, {hostile_row(GetParam(), "2")}, {person("3")}});
}

INSTANTIATE_TEST_SUITE_P(ReviewTable, Row3HugeField,
                         testing::Values("a field of 17 MiB",
                                         "a quoted field of 65 MiB with rows in it"));

// --- 4: Parquet's reader threw before anything could be guarded.

TEST(ReviewTable, Row4TimestampOutOfRange) {
  Row row = person("2");
  row[Field::seen] = "infinity";
  const Setting setting{.format = catalog::SourceFormat::parquet, .milliseconds = true};
  const TablePair pair{setting, persons(5, person("1")), {}, {row}, {}};
  ask_about(pair);
  expect_alike(question("SELECT COUNT(seen) FROM people WHERE seen > TIMESTAMP '2000-01-01 "
                        "00:00:00'"),
               pair);
}

TEST(ReviewTable, Row4ParquetTextThatIsNotUtf8) {
  Row row = person("2");
  row[Field::note] = std::string(kNotUtf8);
  ask_about({{.format = catalog::SourceFormat::parquet}, persons(5, person("1")), {}, {row}, {}});
}

// --- 5: proximal gradients gave up after 50,000 steps, and the training failed.

TEST(ReviewTable, Row5ProximalGradientsThatDoNotArrive) {
  Row one = person("1"), other = person("1");
  other[Field::sex] = "f";
  other[Field::age] = "99";
  for (const Words& more :
       {Words{"--method", "output", "--l2", "1e-6", "--radius", "1e5"},
        Words{"--method", "output", "--l2", "1e-6", "--radius", "1e5", "--l1", "1e-3"}}) {
    Words options = {"--target", "sex", "--features", "age,income"};
    options.insert(options.end(), more.begin(), more.end());
    Rows rows = persons(1001, one);
    rows.push_back(other);
    expect_alike(training(options), {{}, rows, {}, {other}, {}});
  }
}

// --- 6: a terminal counted the steps of a loop whose length rows decide.

using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;

// What a terminal could show: how many steps of how many, where their number is planned.
Steps steps_of_training(const session::TrainOptions& options, const TablePair& pair, bool second) {
  const TemporaryFolder folder(Place::memory);
  write_policy(pair.setting, folder.path());
  write_table_file(pair.setting, pair.side(second), folder.path());
  scripted_bits::begin(1);
  session::Session session(folder / "people.toml");
  Steps steps;
  learn::FitOptions fit;
  fit.progress = [&steps](std::int64_t done, std::int64_t planned) {
    if (planned != 0) steps.emplace_back(done, planned);
  };
  session.train(options, "", fit);
  return steps;
}

class Row6ProgressOfATraining : public testing::TestWithParam<const char*> {};

TEST_P(Row6ProgressOfATraining, ShowsPublicNumbersAlone) {
  Row other = person("2");
  other[Field::sex] = "f";
  other[Field::age] = "99";
  TablePair pair{{}, persons(600, person("1")), {}, {other}, {}};
  session::TrainOptions options;
  options.table = "people";
  options.target = "sex";
  options.features = {"age", "income"};
  options.method = GetParam();
  options.epsilon = 1;
  options.delta = 1e-6;
  if (options.method == "frank_wolfe") options.radius = 2;
  if (options.method == "gradient" || options.method == "sgd") options.rows = 600;
  if (options.method == "bolt_on") {
    pair.setting.neighbors = Neighbors::replace_one;
    pair.one = {person("2")};
  }
  // In a child: the data engine has threads, and other tests fork.
  const ChildEnd end = run_in_child([&] {
    return steps_of_training(options, pair, false) == steps_of_training(options, pair, true) ? 0
                                                                                             : 1;
  });
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.status, 0) << "the steps shown tell the tables apart";
}

INSTANTIATE_TEST_SUITE_P(ReviewTable, Row6ProgressOfATraining,
                         testing::Values("objective", "output", "gradient", "sgd", "bolt_on",
                                         "frank_wolfe"));

// --- 7: the program's own reader of private rows quoted their lines in messages.

class Row7HoldoutOverABrokenRow : public HostileQuestion {};

TEST_P(Row7HoldoutOverABrokenRow, SaysNothingOfIt) {
  const Setting setting{.neighbors = Neighbors::replace_one};
  const TablePair pair{
      setting, persons(20, person("1")), {person("2")}, {hostile_row(GetParam(), "2")}, {}};
  for (const std::string kind : {"holdout", "leaderboard"}) {
    const bool holdout = kind == "holdout";
    Words create = {kind,      "create", "OWNER/a.state", "--policy", "POLICY",
                    "--table", "people", "--epsilon",     "1"};
    const Words limits =
        holdout ? Words{"--questions", "9", "--disagreements", "2"} : Words{"--submissions", "9"};
    create.insert(create.end(), limits.begin(), limits.end());
    Words ask = {kind, holdout ? "ask" : "submit", "OWNER/a.state", "--marginal", "sex=m"};
    const Words own = holdout ? Words{"--train-value", "0.5"} : Words{"--name", "me"};
    ask.insert(ask.end(), own.begin(), own.end());
    Scenario scenario{.name = kind,
                      .steps = {{.words = create, .output = Reading::numbers},
                                {.words = ask, .output = Reading::anything}}};
    expect_alike(scenario, pair);
  }
}

INSTANTIATE_TEST_SUITE_P(ReviewTable, Row7HoldoutOverABrokenRow,
                         testing::Values("unclosed quote", "quote inside", "text after a quote",
                                         "too few fields", "too many fields"));

// --- 8: what broke between noise and settling left with a message and a status of its own.

// Fails the request at every draw that it makes, on one side. Before the reservation that is a
// refusal, which costs nothing; from then on one sentence, whatever was thrown.
void fail_at_every_draw(Scenario scenario) {
  const TablePair pair{{}, persons(6, person("1")), {}, {person("2")}, {}};
  scenario.may_fail = true;
  // Asked again, it is refused: the data set is closed.
  scenario.steps.push_back(scenario.steps.front());
  const Seen whole = run_side(scenario, pair, true);
  ASSERT_EQ(whole.steps.at(0).status, 0) << whole.steps[0].errors;
  const std::uint64_t draws = whole.steps[0].draws;
  ASSERT_GT(draws, 0U);
  int settled = 0;
  // The last and the first few, and some between.
  for (std::uint64_t at = 0; at < draws; at += at < 8 || at + 8 > draws ? 1 : draws / 7 + 1) {
    scenario.fail_at = at;
    const Seen seen = run_side(scenario, pair, true);
    ASSERT_EQ(seen.signal, 0) << at;
    const StepSeen& first = seen.steps.at(0);
    ASSERT_EQ(seen.charges.size(), 1U) << at;
    if (first.status == error_door(ErrorCode::unavailable).exit_status) {
      EXPECT_EQ(seen.steps.at(1).status, 0) << "nothing was spent yet, so it can be asked again";
      continue;
    }
    ++settled;
    EXPECT_EQ(first.status, error_door(ErrorCode::internal).exit_status) << at;
    EXPECT_EQ(first.errors,
              "shoal: internal: the request failed after private data was read: its cost is "
              "spent, and the reason is in the data owner's log\n")
        << at;
    EXPECT_EQ(first.output, "") << at;
    EXPECT_NE(seen.steps.at(1).errors.find("this data set is closed"), std::string::npos)
        << seen.steps[1].errors;
    EXPECT_TRUE(seen.charges[0].starts_with("failed ")) << seen.charges[0];
    EXPECT_TRUE(seen.files.empty()) << at;
  }
  EXPECT_GT(settled, 0) << "no draw is made after data was touched";
}

TEST(ReviewTable, Row8WhateverBreaksInAQuestion) {
  fail_at_every_draw(question("SELECT sex, COUNT(*), AVG(age) FROM people GROUP BY sex"));
}

TEST(ReviewTable, Row8WhateverBreaksInATraining) {
  fail_at_every_draw(training({"--target", "sex", "--features", "age"}));
}

TEST(ReviewTable, Row8WhateverBreaksInASynthesis) {
  fail_at_every_draw(
      one_command({"synthesize", "POLICY", "--columns", "sex,y", "--workload", "all-2way",
                   "--epsilon", "1", "--delta", "1e-6", "--rows", "5", "--output", "records.csv"},
                  Reading::numbers));
}

// --- 9: keys that Shoal makes itself could be claimed by anybody.

TEST(ReviewTable, Row9KeysOfShoalsOwn) {
  const TablePair pair{{}, persons(5, person("1")), {}, {person("2")}, {}};
  for (const char* key : {"same-1", "automatic-1", "state/1"}) {
    Scenario scenario = question("SELECT COUNT(*) FROM people");
    scenario.steps[0].words.insert(scenario.steps[0].words.end(), {"--key", key});
    const Seen seen = run_side(scenario, pair, false, way());
    EXPECT_EQ(seen.steps.at(0).status, error_door(ErrorCode::invalid_argument).exit_status) << key;
    EXPECT_TRUE(seen.charges.empty()) << key;
  }
}

// --- 10: the budget claimed the number for a moment fixed in advance, without saying so.

TEST(ReviewTable, Row10BudgetForWhoeverStopsAtWill) {
  const TablePair pair{{}, persons(5, person("1")), {}, {person("2")}, {}};
  Scenario scenario{.name = "budget", .steps = {}};
  for (const char* key : {"1", "2", "3"}) {
    Step step = question("SELECT COUNT(*) FROM people").steps[0];
    step.words.insert(step.words.end(), {"--key", key, "--delta", "1e-6", "--noise", "gaussian"});
    scenario.steps.push_back(step);
  }
  scenario.steps.push_back({.words = {"budget", "POLICY"}});
  const Seen seen = run_side(scenario, pair, false, way());
  EXPECT_NE(seen.steps.at(3).output.find("whenever you stop"), std::string::npos)
      << seen.steps[3].output;
}

// --- 11: of a file without a header, the first person's row became the names of the columns.

TEST(ReviewTable, Row11FileWithoutAHeader) {
  const TablePair pair{{}, {}, {}, {}, {}};
  Scenario scenario{.name = "headless", .steps = {}};
  scenario.inputs = {{"rows.csv", "39,State-gov,77516,Bachelors\n50,Private,83311,Masters\n"}};
  scenario.steps = {
      {.words = {"init", "rows.csv", "--output", "rows.toml"}, .owner = true},
      {.words = {"query", "rows.toml", "SELECT AVG(age) FROM rows", "--epsilon", "1"}}};
  const Seen seen = run_side(scenario, pair, false, way());
  EXPECT_NE(seen.steps.at(0).status, 0) << seen.steps[0].output;
  EXPECT_EQ(seen.steps.at(1).errors.find("Bachelors"), std::string::npos) << seen.steps[1].errors;
}

// --- 12: a value of a stream with too many decimals ended the watch.

std::string stream_of_decimals(const Rows& rows) {
  std::string text = "count\n";
  for (const Row& row : rows) text += row[Field::income].value_or("") + "\n";
  return text;
}

TEST(ReviewTable, Row12StreamWithTooManyDecimals) {
  Row row = person("2");
  row[Field::income] = "100.00000000000000000000001";
  Scenario scenario = one_command({"watch", "OWNER/stream.csv", "--threshold", "5000", "--hits",
                                   "2", "--sensitivity", "1", "--epsilon", "1"},
                                  Reading::anything);
  scenario.derived = {{"stream.csv", stream_of_decimals}};
  expect_alike(scenario, {{.neighbors = Neighbors::replace_one},
                          persons(5, person("1")),
                          {person("2")},
                          {row},
                          persons(2, person("3"))});
}

}  // namespace
}  // namespace shoal::test
