// generalize, watch, holdout and leaderboard from outside. Where the program's own randomness
// matters, tests fail for no reason with a probability below 10^-9.
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace shoal {
namespace {

using Json = nlohmann::json;
using test::Ran;

class Adaptive : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }
  // Rows of labels, the first `ones` of them 1; and predictions that all say 1.
  void write_rows(int rows, int ones) {
    std::string data = "x,y\n";
    std::string predictions = "p\n";
    for (int i = 0; i < rows; ++i) {
      data += i < ones ? "0.5,1\n" : "-0.5,0\n";
      predictions += "1\n";
    }
    write("data.csv", data);
    write("ones.csv", predictions);
  }
  // The policy of those rows: data.toml.
  void write_policy(double total) {
    const Ran made = shell("shoal init data.csv --neighbors replace_one --delta 0 --epsilon " +
                           std::to_string(total));
    EXPECT_EQ(made.status, 0) << made.errors;
    shell("sed -i 's/# bounds = .0, 100./bounds = [-1, 1]/' data.toml");
  }
  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }
  Json json(const std::string& line) {
    const Ran ran = shell(line + " --format json");
    EXPECT_EQ(ran.status, 0) << line << "\n" << ran.errors;
    return Json::parse(ran.output);
  }
  void expect_error(const std::string& line, ErrorCode code, const std::string& fragment) {
    const Ran ran = shell(line);
    EXPECT_EQ(ran.status, error_door(code).exit_status) << line << "\n" << ran.errors;
    EXPECT_NE(ran.errors.find(fragment), std::string::npos) << line << "\n" << ran.errors;
  }
  std::vector<Json> lines(const std::string& line) {
    const Ran ran = shell(line + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.errors;
    std::istringstream stream(ran.output);
    std::vector<Json> all;
    for (std::string text; std::getline(stream, text);) all.push_back(Json::parse(text));
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Adaptive, HelpShowsAnExample) {
  for (const char* command :
       {"generalize", "watch", "holdout", "holdout create", "holdout ask", "holdout status",
        "leaderboard", "leaderboard create", "leaderboard submit", "leaderboard show"}) {
    const Ran ran = shell(std::string("shoal ") + command + " --help");
    EXPECT_EQ(ran.status, 0) << command;
    EXPECT_NE(ran.output.find("Example: shoal "), std::string::npos) << command;
  }
}

TEST_F(Adaptive, GeneralizeNamesTheWinner) {
  const Json found = json("shoal generalize --n 1e6 --queries 1000 --confidence 0.95");
  EXPECT_EQ(found["best"], "kl_posterior");
  EXPECT_NEAR(found["value"].get<double>(), 0.03017, 1e-5);
  EXPECT_EQ(found["bounds"].size(), 9U);
  const Ran text = shell("shoal generalize --n 1e6 --queries 1000 --confidence 0.95");
  EXPECT_NE(text.output.find("1,000 questions"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("0.03017"), std::string::npos);
  const Json most =
      json("shoal generalize --n 1e6 --width 0.1 --confidence 0.95 --bound tanh_posterior");
  EXPECT_NEAR(most["value"].get<double>(), 98768, 100);
  const Json rows = json(
      "shoal generalize --queries 1 --width 0.05 --confidence 0.95 "
      "--bound splitting");
  EXPECT_EQ(rows["value"], 738);
  expect_error("shoal generalize --n 1e6", ErrorCode::invalid_argument, "give three of");
  expect_error("shoal generalize --n 0 --queries 3 --confidence 0.9", ErrorCode::invalid_argument,
               "rows");
}

TEST_F(Adaptive, WatchPrintsVerdictsAsTheyCome) {
  write("stream.csv", "day,count\n1,100\n2,9000\n3,200\n4,9000\n5,9000\n6,100\n");
  const auto told = lines(
      "shoal watch stream.csv --threshold 5000 --hits 2 --epsilon 1 "
      "--sensitivity 1 --column count");
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told[0]["verdict"], "below");
  EXPECT_EQ(told[1]["verdict"], "above");
  EXPECT_EQ(told[2]["verdict"], "below");
  EXPECT_EQ(told[3]["verdict"], "above");
  EXPECT_EQ(told[4]["verdict"], "halted");
  EXPECT_EQ(told[5]["hits_left"], 0);
  EXPECT_EQ(told[5]["event"]["pure"]["epsilon"].get<double>(), 1);
}

TEST_F(Adaptive, NoValueEndsAWatch) {
  // Rounded down, too large, too small, no number and no value at all.
  write("stream.csv", "day,count\n1,4.9999999999999999\n2," + std::string(40, '9') + "\n3,-" +
                          std::string(40, '9') + "\n4,many\n5\n6,\xFF\n7,5000.0000000000001\n");
  const auto told = lines(
      "shoal watch stream.csv --threshold 2500 --hits 9 --epsilon 50 --sensitivity 1 --column "
      "count");
  ASSERT_EQ(told.size(), 8U);
  const std::vector<std::string> expected = {"below", "above", "below", "below",
                                             "below", "below", "above"};
  for (std::size_t row = 0; row < expected.size(); ++row)
    EXPECT_EQ(told[row]["verdict"], expected[row]) << row;
}

TEST_F(Adaptive, WatchRefusesWhatHasNoGuarantee) {
  write("stream.csv", "count\n100\n");
  const std::string start = "shoal watch stream.csv --threshold 5000 --epsilon 1 ";
  expect_error(start, ErrorCode::invalid_argument, "--sensitivity is missing");
  expect_error(start + "--sensitivity 200000 --range 0 200000", ErrorCode::invalid_argument,
               "one person");
  expect_error(start + "--sensitivity 0", ErrorCode::invalid_argument, "above 0");
  expect_error(start + "--sensitivity 1 --noise gaussian", ErrorCode::invalid_argument,
               "questions");
  expect_error(start + "--sensitivity 1 --ledger l", ErrorCode::invalid_argument, "--state");
}

TEST_F(Adaptive, WatchGoesOnWhereItStopped) {
  write("stream.csv", "count\n9000\n100\n");
  const std::string line =
      "shoal watch stream.csv --threshold 5000 --hits 3 --epsilon 1 "
      "--sensitivity 1 --state w.state --lineage counts";
  EXPECT_EQ(lines(line).back()["hits_left"], 2);
  const Ran saved = shell("cp w.state old.state");
  EXPECT_EQ(lines(line).back()["hits_left"], 1);
  expect_error(
      "shoal watch stream.csv --threshold 5000 --hits 3 --epsilon 1 --sensitivity 1 "
      "--state old.state --lineage counts",
      ErrorCode::conflict, "already");
  // A line that is no line is a failure like any other. It costs what was answered before it, and
  // no more.
  write("bad.csv", "count\n100\n" + std::string((1 << 20) + (1 << 18), '1') + "\n");
  expect_error(
      "shoal watch bad.csv --threshold 5000 --hits 3 --epsilon 1 --sensitivity 1 "
      "--state w.state --lineage counts",
      ErrorCode::internal, "the reason is in the data owner's log");
  expect_error(line, ErrorCode::refused_by_policy, "closed");
  const Ran reopened = shell("shoal reopen --state w.state --yes");
  EXPECT_NE(reopened.output.find("line 3"), std::string::npos) << reopened.output;
  EXPECT_EQ(lines(line).back()["hits_left"], 0);
  expect_error(
      "shoal watch stream.csv --threshold 5000 --hits 9 --epsilon 1 --sensitivity 1 "
      "--state w.state --lineage counts",
      ErrorCode::conflict, "other options");
  // Gaussian noise is charged as (epsilon, delta) as a whole.
  EXPECT_EQ(lines("shoal watch stream.csv --threshold 5000 --hits 3 --epsilon 1 --delta 1e-6 "
                  "--noise gaussian --questions 100 --sensitivity 1 --state g.state --lineage g")
                .back()["hits_left"],
            2);
  // The total is used up.
  expect_error(
      "shoal watch stream.csv --threshold 5000 --hits 3 --epsilon 1 --sensitivity 1 "
      "--state v.state --ledger w.state.ledger --lineage counts",
      ErrorCode::budget_exceeded, "budget");
}

TEST_F(Adaptive, HoldoutAnswersAndCounts) {
  write_rows(4000, 2400);
  write_policy(4);
  const Json made = json(
      "shoal holdout create h.state --policy data.toml --questions 50 "
      "--disagreements 2 --epsilon 4");
  EXPECT_EQ(made["rows"], 4000);
  EXPECT_EQ(made["questions_left"], 50);
  EXPECT_EQ(made["bound"], "transcripts");
  const Json same = json(
      "shoal holdout ask h.state --train-value 0.61 --predictions ones.csv "
      "--label y");
  EXPECT_EQ(same["agrees"], true);
  EXPECT_EQ(same["value"], 0.61);
  EXPECT_LT(same["lower"].get<double>(), 0.6);
  EXPECT_GT(same["upper"].get<double>(), 0.6);
  const Json other = json("shoal holdout ask h.state --train-value 0.95 --marginal y=1");
  EXPECT_EQ(other["agrees"], false);
  EXPECT_NEAR(other["value"].get<double>(), 0.6, 0.05);
  // x is 0.5 where y is 1, and y is 0, the middle of its bounds, elsewhere: (1 + 0.3) / 2.
  const Json third = json("shoal holdout ask h.state --train-value 0.1 --correlation x y");
  EXPECT_EQ(third["agrees"], false);
  EXPECT_NEAR(third["value"].get<double>(), 0.65, 0.05);
  const Json status = json("shoal holdout status h.state");
  EXPECT_EQ(status["asked"], 3);
  EXPECT_EQ(status["disagreements_left"], 0);
  EXPECT_EQ(status["questions_left"], 0);
  expect_error("shoal holdout ask h.state --train-value 0.1 --marginal y=1",
               ErrorCode::budget_exceeded, "exhausted");
}

TEST_F(Adaptive, HoldoutRefusesBadQuestionsForFree) {
  write_rows(1000, 500);
  write_policy(1);
  write("short.csv", "p\n1\n0\n");
  json("shoal holdout create h.state --policy data.toml --questions 5 --epsilon 1");
  const std::string ask = "shoal holdout ask h.state --train-value ";
  expect_error(ask + "0.5 --predictions short.csv --label y", ErrorCode::invalid_argument, "rows");
  expect_error(ask + "0.5 --values short.csv", ErrorCode::invalid_argument, "1000 rows");
  expect_error(ask + "1.5 --marginal y=1", ErrorCode::invalid_argument, "training value");
  expect_error(ask + "0.5", ErrorCode::invalid_argument, "say what is asked");
  expect_error(ask + "0.5 --marginal z=1", ErrorCode::not_found, "no column");
  expect_error(ask + "0.5 --marginal y=one", ErrorCode::invalid_argument, "is no number");
  expect_error("shoal holdout create h.state --policy data.toml --questions 5 --epsilon 1",
               ErrorCode::conflict, "exists");
  expect_error("shoal holdout create i.state --policy data.toml --questions 5 --epsilon 1",
               ErrorCode::budget_exceeded, "budget");
  EXPECT_EQ(json("shoal holdout status h.state")["asked"], 0);
  // Resumed twice: a copy of the state before a question is refused after it.
  shell("cp h.state copy.state");
  json(ask + "0.5 --marginal y=1");
  expect_error("shoal holdout ask copy.state --train-value 0.5 --marginal y=1", ErrorCode::conflict,
               "already");
}

// Products are of values scaled from public bounds; without bounds nothing can be promised.
TEST_F(Adaptive, ACorrelationNeedsPublicBounds) {
  write_rows(1000, 500);
  EXPECT_EQ(shell("shoal init data.csv --neighbors replace_one --epsilon 1 --delta 0").status, 0);
  json("shoal holdout create h.state --policy data.toml --questions 5 --epsilon 1");
  expect_error("shoal holdout ask h.state --train-value 0.5 --correlation x y",
               ErrorCode::invalid_argument, "has no public bounds");
}

// Fields that no reader expects are rows like any other.
TEST_F(Adaptive, AnOddRowOfAHoldoutChangesNoMessage) {
  const std::string ask = "shoal holdout ask h.state --train-value 0.5 --marginal y=1";
  std::string messages[2];
  for (int odd = 0; odd < 2; ++odd) {
    std::string data = "x,y\n";
    for (int i = 0; i < 2000; ++i) data += i % 2 == 0 ? "0.5,1\n" : "-0.5,0\n";
    data += odd == 1 ? "\"never closed,1\n" : "0.5,1\n";
    shell("rm -rf h.state data.*");
    write("data.csv", data);
    write_policy(1);
    json("shoal holdout create h.state --policy data.toml --questions 5 --epsilon 1");
    const Ran ran = shell(ask);
    EXPECT_EQ(ran.status, 0) << ran.errors;
    messages[odd] = ran.errors;
  }
  EXPECT_EQ(messages[0], messages[1]);
}

TEST_F(Adaptive, HoldoutOfAPolicySharesItsTotal) {
  write_rows(1000, 500);
  write_policy(1);
  const std::string create =
      "shoal holdout create h.state --policy data.toml --table data "
      "--questions 5 --epsilon ";
  expect_error(create + "2", ErrorCode::budget_exceeded, "budget");
  json(create + "0.75");
  expect_error(
      "shoal holdout create i.state --policy data.toml --table data --questions 5 "
      "--epsilon 0.5",
      ErrorCode::budget_exceeded, "budget");
  expect_error(
      "shoal holdout create i.state --policy data.toml --table rows --questions 5 "
      "--epsilon 0.1",
      ErrorCode::not_found, "no table");
  expect_error("shoal holdout create i.state --questions 5 --epsilon 0.1",
               ErrorCode::invalid_argument, "--policy");
  expect_error("shoal holdout create i.state --data data.csv --questions 5 --epsilon 0.1",
               ErrorCode::invalid_argument, "--policy");
}

TEST_F(Adaptive, LeaderboardShowsWhatImproved) {
  write_rows(2000, 1500);
  write_policy(4);
  json(
      "shoal leaderboard create b.state --policy data.toml --submissions 20 --epsilon 4 "
      "--step 0.05 --improvements 3");
  const Json first =
      json("shoal leaderboard submit b.state --predictions ones.csv --label y --name one");
  EXPECT_EQ(first["improved"], true);
  EXPECT_NEAR(first["value"].get<double>(), 0.25, 0.051);
  const Json again =
      json("shoal leaderboard submit b.state --predictions ones.csv --label y --name two");
  EXPECT_EQ(again["improved"], false);
  const Json shown = json("shoal leaderboard show b.state");
  EXPECT_EQ(shown["entries"].size(), 2U);
  EXPECT_EQ(shown["submissions_left"], 18);
  EXPECT_EQ(shown["private"], true);
  // Without an epsilon it has no noise, and says so.
  json("shoal leaderboard create c.state --policy data.toml --submissions 20");
  EXPECT_NE(shell("shoal leaderboard show c.state").output.find("not protected"),
            std::string::npos);
}

}  // namespace
}  // namespace shoal
