// The commands that need neither policy nor ledger, from outside: noise, respond, tally, choose.
// The program draws its own randomness, so tests that depend on it state how rarely they fail for
// no reason; together less than 10^-5.
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>  // for posix_openpt and its kin
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using Json = nlohmann::json;

using test::Ran;

class Tools : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }

  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }

  Json json(const std::string& line) {
    const Ran ran = shell(line + " --format json");
    EXPECT_EQ(ran.status, 0) << line << "\n" << ran.errors;
    return Json::parse(ran.output);
  }

  struct Case {
    std::string line;
    ErrorCode code;
    std::string fragment;
  };

  void expect_errors(const std::vector<Case>& cases) {
    for (const Case& bad : cases) {
      const Ran ran = shell(bad.line);
      EXPECT_EQ(ran.status, error_door(bad.code).exit_status) << bad.line << "\n" << ran.errors;
      const std::string start = "shoal: " + std::string(error_door(bad.code).name) + ": ";
      EXPECT_TRUE(ran.errors.starts_with(start)) << bad.line << "\n" << ran.errors;
      EXPECT_NE(ran.errors.find(bad.fragment), std::string::npos) << bad.line << "\n" << ran.errors;
    }
  }

  test::TemporaryFolder folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Tools, HelpShowsAnExample) {
  for (const std::string command : {"noise", "respond", "tally", "choose"}) {
    const Ran ran = shell("shoal " + command + " --help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_NE(ran.output.find("Example: shoal " + command), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("--format"), std::string::npos);
    EXPECT_NE(shell("shoal --help").output.find(command), std::string::npos);
  }
  EXPECT_NE(shell("shoal noise --help").output.find("once in a million runs"), std::string::npos);
  for (const std::string command : {"noise", "respond", "choose"}) {
    EXPECT_NE(shell("shoal " + command + " --help").output.find("ledger"), std::string::npos);
  }
}

// More than one block. That all of 20000 values of a width of 10 are within 1000 fails with
// probability below 10^-38.
TEST_F(Tools, NoiseIsIntegersOneALine) {
  for (const std::string law : {"laplace --scale", "gaussian --sigma", "rounded-laplace --scale",
                                "rounded-gaussian --sigma"}) {
    const Ran ran = shell("shoal noise " + law + " 10 --count 20000");
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_EQ(ran.errors, "");
    const std::vector<std::string> lines = lines_of(ran.output);
    ASSERT_EQ(lines.size(), 20000u) << law;
    std::set<int> values;
    for (const std::string& line : lines) {
      std::size_t used = 0;
      values.insert(std::stoi(line, &used));
      EXPECT_EQ(used, line.size());
    }
    EXPECT_GT(*values.begin(), -1000) << law;
    EXPECT_LT(*values.rbegin(), 1000) << law;
    EXPECT_GT(values.size(), 40u) << law;
  }
  // As wide as it gets, no two values are equal, but for a probability of 10^-7: no block is drawn
  // twice, and both signs of 16 digits fit where they are written.
  const std::vector<std::string> wide =
      lines_of(shell("shoal noise laplace --scale 1125899906842624 --count 20000").output);
  EXPECT_EQ(wide.size(), 20000u);
  EXPECT_EQ(std::set<std::string>(wide.begin(), wide.end()).size(), 20000u);
}

TEST_F(Tools, NoiseInJson) {
  const Json noise = json("shoal noise laplace --scale 0.5 --count 10000");
  EXPECT_EQ(noise.at("law"), "discrete_laplace");
  EXPECT_EQ(noise.at("scale"), 0.5);
  EXPECT_EQ(noise.at("values").size(), 10000u);
  EXPECT_TRUE(noise.at("values").front().is_number_integer());
  EXPECT_EQ(json("shoal noise gaussian --sigma 3").at("values").size(), 1u);
}

// Fails for no reason with probability 10^-6 for each law.
TEST_F(Tools, VerifyPasses) {
  for (const std::string law : {"laplace --scale 10", "gaussian --sigma 10"}) {
    const Ran ran = shell("shoal noise " + law + " --count 1000000 --verify");
    EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
    for (const char* part : {"mean", "standard deviation", "chi-square", "degrees of freedom",
                             "p-value", "verdict  passes", "1,000,000"}) {
      EXPECT_NE(ran.output.find(part), std::string::npos) << part << " in\n" << ran.output;
    }
  }
  const Json fit = json("shoal noise rounded-gaussian --sigma 1e9 --count 100000 --verify");
  EXPECT_EQ(fit.at("law"), "rounded_gaussian");
  EXPECT_EQ(fit.at("count"), 100000);
  EXPECT_NEAR(fit.at("exact_standard_deviation").get<double>(), 1e9, 1);
  // 10 standard errors.
  EXPECT_NEAR(fit.at("standard_deviation").get<double>(), 1e9, 1e9 * 10 / std::sqrt(2e5));
  EXPECT_NEAR(fit.at("mean").get<double>(), 0, 1e9 * 10 / std::sqrt(1e5));
  EXPECT_GT(fit.at("cells").at("degrees").get<int>(), 100);
  EXPECT_EQ(fit.at("residues").at("degrees"), 7);
  EXPECT_TRUE(fit.at("passed"));
}

TEST_F(Tools, NoiseRefusesWhatMakesNoSense) {
  expect_errors({
      {"shoal noise laplace --scale 10 --count 0", ErrorCode::invalid_argument, "--count is 0"},
      {"shoal noise laplace --scale 10 --count -5", ErrorCode::invalid_argument, "--count is -5"},
      {"shoal noise laplace --scale 10 --count many", ErrorCode::invalid_argument, "--count"},
      {"shoal noise laplace --scale 10 --count 2000000000000", ErrorCode::invalid_argument,
       "from 1 to 1000000000000"},
      {"shoal noise laplace --scale 0", ErrorCode::invalid_argument, "scale is 0"},
      {"shoal noise gaussian --sigma 1e30", ErrorCode::invalid_argument, "sigma is 1e+30"},
      {"shoal noise gaussian --scale 10", ErrorCode::invalid_argument, "with --sigma"},
      {"shoal noise laplace --scale 1 --sigma 1", ErrorCode::invalid_argument, "with --scale"},
      {"shoal noise laplace", ErrorCode::invalid_argument, "--scale is missing"},
      {"shoal noise cauchy --scale 1", ErrorCode::invalid_argument, "cauchy"},
      {"shoal noise laplace --scale 1 --count 999 --verify", ErrorCode::invalid_argument,
       "it needs from 1000"},
      {"shoal noise laplace --scale 1 --count 10 > /dev/full", ErrorCode::io, "standard output"},
  });
}

TEST_F(Tools, AReaderThatLeavesIsNoError) {
  const Ran killed = shell("shoal noise laplace --scale 1 --count 100000000 | head -n 2");
  EXPECT_EQ(lines_of(killed.output).size(), 2u);
  EXPECT_EQ(killed.errors, "");
  const Ran told = shell(
      "trap '' PIPE; { shoal noise laplace --scale 1 --count 100000000; "
      "echo $? > status; } | head -n 2");
  EXPECT_EQ(told.errors, "");
  EXPECT_EQ(read_file(folder_ / "status"), "141\n");
}

// Each of the intervals misses with probability at most 10^-6.
TEST_F(Tools, TallyFindsWhatWasRandomized) {
  write("truths", repeated("yes\nno\nno\nno\nno\nmaybe\nno\nyes\nno\nyes\n", 10000));
  const Ran respond = shell("shoal respond --epsilon 1 --categories yes,no,maybe truths > reports");
  ASSERT_EQ(respond.status, 0) << respond.errors;
  const Json tally =
      json("shoal tally --epsilon 1 --categories yes,no,maybe --confidence 0.999999 < reports");
  EXPECT_EQ(tally.at("reports"), 100000);
  EXPECT_EQ(tally.at("intervals"), "each");
  EXPECT_EQ(tally.at("confidence"), 0.999999);
  const std::vector<std::pair<std::string, double>> truth = {
      {"yes", 0.3}, {"no", 0.6}, {"maybe", 0.1}};
  ASSERT_EQ(tally.at("categories").size(), 3u);
  double sum = 0;
  std::int64_t reports = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& category = tally.at("categories")[i];
    EXPECT_EQ(category.at("name"), truth[i].first);
    EXPECT_LE(category.at("lower").get<double>(), truth[i].second);
    EXPECT_GE(category.at("upper").get<double>(), truth[i].second);
    EXPECT_LT(category.at("upper").get<double>() - category.at("lower").get<double>(), 0.06);
    // From 0.0036 to 0.0041 for epsilon 1, three categories and these frequencies.
    EXPECT_NEAR(category.at("standard_error").get<double>(), 0.0039, 0.0004);
    sum += category.at("consistent").get<double>();
    reports += category.at("reports").get<std::int64_t>();
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(reports, 100000);

  const Json together = json(
      "shoal tally --epsilon 1 --categories yes,no,maybe --confidence 0.999999 --together reports");
  EXPECT_EQ(together.at("intervals"), "together");
  EXPECT_LT(together.at("categories")[0].at("lower"), tally.at("categories")[0].at("lower"));

  const Ran table = shell("shoal tally --epsilon 1 --categories yes,no,maybe reports");
  EXPECT_NE(table.output.find("hold each with 95% confidence"), std::string::npos) << table.output;
  EXPECT_NE(table.output.find("95% interval"), std::string::npos);
  EXPECT_NE(shell("shoal tally --epsilon 1 --categories yes,no,maybe --together reports")
                .output.find("all together"),
            std::string::npos);
}

// At epsilon 60 a report is not the truth with probability e^-60.
TEST_F(Tools, RespondKeepsOrderAndReadsEveryKindOfLineEnd) {
  const std::string respond = "shoal respond --epsilon 60 --categories yes,no";
  EXPECT_EQ(shell("printf 'yes\\r\\nno\\nno\\r\\nyes' | " + respond).output, "yes\nno\nno\nyes\n");
  EXPECT_EQ(shell("printf '' | " + respond).output, "");
  EXPECT_EQ(shell("printf 'no\\n' | " + respond + " -").output, "no\n");
  // Over the ends of batches and buffers.
  write("truths", repeated("yes\nno\nno\n", 100000));
  EXPECT_EQ(shell(respond + " truths").output, read_file(folder_ / "truths"));
  EXPECT_EQ(
      Json::parse(shell("printf 'yes\\nno' | " + respond + " --format json").output).at("reports"),
      Json({"yes", "no"}));
  EXPECT_EQ(
      Json::parse(shell("printf '' | " + respond + " --format json").output).at("reports").size(),
      0u);
}

// At epsilon 0 both reports of 20000 truths come up: all but for 2^-19999.
TEST_F(Tools, RespondHidesTheTruth) {
  write("truths", repeated("yes\n", 20000));
  const std::string reports = shell("shoal respond --epsilon 0 --categories yes,no truths").output;
  EXPECT_NE(reports.find("no"), std::string::npos);
  EXPECT_NE(reports.find("yes"), std::string::npos);
}

TEST_F(Tools, RespondStopsAtABadLineAndSaysWhich) {
  write("truths", repeated("yes\n", 9999) + "perhaps\nyes\n");
  const Ran ran = shell("shoal respond --epsilon 60 --categories yes,no < truths");
  EXPECT_EQ(ran.status, error_door(ErrorCode::parse_error).exit_status);
  EXPECT_EQ(ran.output, repeated("yes\n", 9999));
  EXPECT_EQ(ran.errors.find("shoal: parse_error: line 10000 of standard input is \"perhaps\""), 0u)
      << ran.errors;
}

TEST_F(Tools, RespondAndTallyRefuseWhatMakesNoSense) {
  write("good", "yes\nno\n");
  write("unknown", "yes\nno\nm\x1b" + std::string(100, 'a') + "\n");
  write("gap", "yes\n\nno\n");
  write("endless", std::string(3 << 20, 'a'));
  for (const std::string command : {"shoal respond ", "shoal tally "}) {
    expect_errors({
        {command + "--epsilon 1 --categories yes,no unknown", ErrorCode::parse_error,
         "line 3 of unknown is \"m aaa"},
        {command + "--epsilon 1 --categories yes,no gap", ErrorCode::parse_error,
         "line 2 of gap is empty"},
        {command + "--epsilon 1 --categories yes,no endless", ErrorCode::parse_error,
         "line 1 of endless has more than"},
        {command + "--epsilon 1 --categories yes,no missing", ErrorCode::not_found,
         "there is no file missing"},
        {command + "--epsilon 1 --categories yes,no .", ErrorCode::invalid_argument, "folder"},
        {command + "--epsilon -1 --categories yes,no good", ErrorCode::invalid_argument,
         "epsilon is -1"},
        {command + "--epsilon 1001 --categories yes,no good", ErrorCode::invalid_argument,
         "from 0 to 1000"},
        {command + "--epsilon nan --categories yes,no good", ErrorCode::invalid_argument,
         "epsilon is nan"},
        {command + "--epsilon 1 --categories yes good", ErrorCode::invalid_argument, "only yes"},
        {command + "--epsilon 1 --categories yes,no,yes good", ErrorCode::invalid_argument,
         "names yes twice"},
        {command + "--epsilon 1 --categories yes,,no good", ErrorCode::invalid_argument,
         "an empty name"},
        {command + "--epsilon 1 --categories '' good", ErrorCode::invalid_argument, "categories"},
        {command + "--epsilon 1 --categories 'yes, no' good", ErrorCode::invalid_argument,
         "a space at an end"},
        {command + "--categories yes,no good", ErrorCode::invalid_argument, "--epsilon"},
    });
  }
  expect_errors({
      {"shoal tally --epsilon 1 --categories yes,no < /dev/null", ErrorCode::invalid_argument,
       "no reports"},
      {"shoal tally --epsilon 0 --categories yes,no good", ErrorCode::invalid_argument,
       "epsilon is 0"},
      {"shoal tally --epsilon 1 --confidence 1 --categories yes,no good",
       ErrorCode::invalid_argument, "confidence is 1"},
  });
  const Ran long_line = shell("shoal tally --epsilon 1 --categories yes,no unknown");
  EXPECT_EQ(long_line.errors.find('\x1b'), std::string::npos);
  EXPECT_LT(long_line.errors.size(), 200u);
}

constexpr const char* kPrices = "price,revenue,note\n10,100.5,\n20,-3,\n30,250000.25,best\n40,7,\n";

// The best is 2499 scales of noise ahead at the least: fails with probability below e^-2000.
TEST_F(Tools, ChooseTakesTheOnlySensibleCandidate) {
  write("prices.csv", kPrices);
  for (const std::string options :
       {"", " --method exponential", " --method noisy-max", " --method permute-and-flip",
        " --monotone", " --candidate-column price --score-column revenue"}) {
    const Json choice = json("shoal choose prices.csv --sensitivity 50 --epsilon 1" + options);
    EXPECT_EQ(choice.at("chosen"), Json({"30"})) << options;
    EXPECT_EQ(choice.at("epsilon"), 1.0);
    EXPECT_EQ(choice.at("candidates"), 4);
    EXPECT_TRUE(choice.at("ledger").is_null());
    EXPECT_GT(choice.at("loss_bound").get<double>(), 0);
  }
  EXPECT_EQ(json("shoal choose - --sensitivity 0.5 --epsilon 0.5 < prices.csv").at("method"),
            "permute-and-flip");
  const Json by_note = json(
      "shoal choose prices.csv --sensitivity 50 --epsilon 1 --candidate-column revenue "
      "--score-column price");
  EXPECT_EQ(by_note.at("candidates"), 4);
}

// By the rules of tables: a blank line is no row, and a quote that encloses no field is a
// character.
TEST_F(Tools, ChooseReadsRowsAsTablesAreRead) {
  const Json choice = json(
      "printf 'a,b\\n\\n\"x\"y,1\\nz\"\",2\\r\\n\"w,1000000\\nv,\"3\"\\n' | shoal choose - "
      "--sensitivity 5 --epsilon 1");
  EXPECT_EQ(choice.at("candidates"), 4);
  EXPECT_EQ(choice.at("chosen"), Json({"\"w"}));
}

// Permute-and-flip: scale * ln((n - 1) / (2 * 0.05)) with scale 2 * 500 / epsilon; half with
// --monotone.
TEST_F(Tools, ChooseStatesItsErrorAndItsAssumption) {
  write("prices.csv", kPrices);
  const double loss = 1000 * std::log(3 / 0.1);
  const Json choice = json("shoal choose prices.csv --sensitivity 500 --epsilon 1");
  EXPECT_NEAR(choice.at("loss_bound").get<double>(), loss, 1e-6 * loss);
  const Json monotone = json("shoal choose prices.csv --sensitivity 500 --epsilon 1 --monotone");
  EXPECT_NEAR(monotone.at("loss_bound").get<double>(), loss / 2, 1e-6 * loss);
  EXPECT_EQ(choice.at("event"), Json({{"pure", {{"epsilon", 1.0}}}}));

  const std::string table = shell("shoal choose prices.csv --sensitivity 500 --epsilon 1").output;
  for (const char* part : {"chosen   ", "permute-and-flip", "among 4 candidates", "epsilon 1",
                           "no ledger", "95% confidence", "3,401.2", "moves by more than 500"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << " in\n" << table;
  }
  // Scores are secret, and so is what else is in the file.
  for (const char* secret : {"250000", "100.5", "best,"}) {
    EXPECT_EQ(table.find(secret), std::string::npos) << secret << " in\n" << table;
  }
}

// The scores of neighbours in the order are 10^6 apart, the noise is 2 * 50 / (100 / 50) = 50 wide.
TEST_F(Tools, ChooseTheTopOfManyInOrder) {
  std::string text = "name,score\n";
  for (int i = 0; i < 20000; ++i) {
    text += "c" + std::to_string(i) + "," + std::to_string((i * 7919LL % 20000) * 1000000) + "\n";
  }
  write("many.csv", text);
  std::vector<std::string> best(50);
  for (int i = 0; i < 20000; ++i) {
    const long long rank = 19999 - i * 7919LL % 20000;
    if (rank < 50) best[static_cast<std::size_t>(rank)] = "c" + std::to_string(i);
  }
  const Json choice = json("shoal choose many.csv --sensitivity 50 --epsilon 100 --top 50");
  EXPECT_EQ(choice.at("chosen"), Json(best));
  EXPECT_EQ(choice.at("method"), "exponential");
  EXPECT_EQ(choice.at("event").at("repeat").at("count"), 50);
}

// One step of 10^-9 is 1 at a sensitivity of 1 step and epsilon 1000: 500 times the noise.
TEST_F(Tools, ChooseReadsScoresExactly) {
  write("close.csv",
        "\xEF\xBB\xBFname,score\r\na,123456789012345678.123456788\r\n"
        "\"b, the \"\"second\"\"\nof them\",+123456789012345678.1234567890000\r\n"
        "c,.5\r\nd,-123456789012345679.\r\n\"e\",\"0\"");
  const Json choice = json(
      "shoal choose close.csv --sensitivity 0.000000001 --epsilon 1000 --candidate-column name");
  EXPECT_EQ(choice.at("chosen"), Json({"b, the \"second\"\nof them"}));
  EXPECT_EQ(choice.at("candidates"), 5);
  // In a table the name takes one line.
  EXPECT_NE(shell("shoal choose close.csv --sensitivity 0.000000001 --epsilon 1000")
                .output.find("b, the \"second\" of them"),
            std::string::npos);
}

TEST_F(Tools, ChooseRefusesWhatMakesNoSenseAndNamesNoScore) {
  write("good.csv", kPrices);
  const std::string options = " --sensitivity 5 --epsilon 1";
  const auto choose = [&options](const std::string& text) {
    return "printf '" + text + "' | shoal choose -" + options;
  };
  const std::vector<Case> cases = {
      {choose("a,b\\nx,1\\ny,4711x\\n"), ErrorCode::parse_error,
       "the score on line 3 of standard input is no decimal"},
      {choose("a,b\\nx,4711e3\\n"), ErrorCode::parse_error, "line 2 of standard input"},
      {choose("a,b\\nx,\\n"), ErrorCode::parse_error, "line 2 of standard input"},
      {choose("a,b\\nx,nan\\n"), ErrorCode::parse_error, "line 2 of standard input"},
      {choose("a,b\\nx,1\\ny,4711.1234567891\\n"), ErrorCode::parse_error,
       "line 3 of standard input has more than 9 digits"},
      {choose("a,b\\nx,4711000000000000000\\n"), ErrorCode::parse_error, "too large"},
      {choose("a,b\\nx,1,4711\\n"), ErrorCode::parse_error, "line 2"},
      {choose("a,b\\n,4711\\n"), ErrorCode::parse_error, "line 2 of standard input has no"},
      {choose("x,4711\\ny,2\\n"), ErrorCode::parse_error, "header"},
      {choose("a\\nx\\n"), ErrorCode::parse_error, "one column"},
      {choose(""), ErrorCode::parse_error, "the file is empty"},
      {choose("a,b\\n"), ErrorCode::invalid_argument, "0 candidates"},
      {"shoal choose missing.csv" + options, ErrorCode::not_found, "no file missing.csv"},
      {"shoal choose good.csv" + options + " --top 5", ErrorCode::invalid_argument,
       "4 candidates and 5"},
      {"shoal choose good.csv" + options + " --top 0", ErrorCode::invalid_argument, "--top is 0"},
      {"shoal choose good.csv" + options + " --top 2 --method noisy-max",
       ErrorCode::invalid_argument, "--top is 2"},
      {"shoal choose good.csv" + options + " --score-column nothing", ErrorCode::not_found,
       "no column nothing"},
      {"shoal choose good.csv" + options + " --candidate-column revenue",
       ErrorCode::invalid_argument, "same column"},
      {"shoal choose good.csv" + options + " --confidence 0", ErrorCode::invalid_argument,
       "confidence is 0"},
      {"shoal choose good.csv --sensitivity 0 --epsilon 1", ErrorCode::invalid_argument,
       "--sensitivity is 0"},
      {"shoal choose good.csv --sensitivity -1 --epsilon 1", ErrorCode::invalid_argument,
       "--sensitivity is -1"},
      {"shoal choose good.csv --sensitivity 1e3 --epsilon 1", ErrorCode::invalid_argument,
       "--sensitivity is 1e3"},
      {"shoal choose good.csv --sensitivity 0.1234567891 --epsilon 1", ErrorCode::invalid_argument,
       "at most 9 digits"},
      {"shoal choose good.csv --sensitivity 100000000000000 --epsilon 0.01",
       ErrorCode::invalid_argument, "larger epsilon"},
      {"shoal choose good.csv --sensitivity 5 --epsilon 0", ErrorCode::invalid_argument,
       "--epsilon is 0"},
      {"shoal choose good.csv --sensitivity 5 --epsilon -1", ErrorCode::invalid_argument,
       "epsilon is -1"},
      {"shoal choose good.csv --sensitivity 5 --epsilon 1001", ErrorCode::invalid_argument,
       "epsilon is 1001"},
  };
  expect_errors(cases);
  for (const Case& bad : cases) {
    const Ran ran = shell(bad.line);
    EXPECT_EQ(ran.errors.find("4711"), std::string::npos) << bad.line << "\n" << ran.errors;
    EXPECT_EQ(ran.output, "") << bad.line;
  }
}

// A terminal on standard error, and input that takes its time: longer than two seconds by as much
// as a program may need to start on a busy machine.
TEST_F(Tools, ABarIsShownAfterTwoSecondsAndWiped) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const std::string name = ::ptsname(terminal);
  const int kept_open = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  ASSERT_GE(kept_open, 0);
  const auto shown = [terminal] {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(terminal, buffer.data(), buffer.size());
    return std::string(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  const std::string tally = "shoal tally --epsilon 1 --categories yes,no 2>" + name;
  EXPECT_EQ(shell("{ printf 'yes\\n'; printf 'no\\n'; } | " + tally).status, 0);
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(shell("{ printf 'yes\\n'; sleep 4; printf 'no\\n'; } | " + tally).status, 0);
  EXPECT_EQ(shown(), "\r\x1b[K7 bytes of reports\r\x1b[K");
  ::close(kept_open);
  ::close(terminal);
}

}  // namespace
}  // namespace shoal
