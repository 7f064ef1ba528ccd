// The command line from outside: the documented code and message for every kind of bad input, and
// that none of them spends anything; the three formats; retries.
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace shoal {
namespace {

struct Outcome {
  int status = -1;
  std::string output;
  std::string errors;
};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = "id,state,age,hours\n";
    for (int i = 0; i < 300; ++i) {
      text += std::to_string(i) + (i % 3 == 0 ? ",TX," : ",CA,") + std::to_string(20 + i % 50) +
              ",40\n";
    }
    write("people.csv", text);
    ASSERT_EQ(shoal({"init", "people.csv"}).status, 0);
    replace("people.toml", "[table.people.column.age]\ntype = \"integer\"\n# bounds = [0, 100]",
            "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 100]");
  }

  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }

  void replace(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = read_file(folder_ / name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << text;
    write(name, text.replace(at, from.size(), to));
  }

  Outcome shoal(const std::vector<std::string>& words) {
    std::string command =
        "cd " + quoted(folder_.path().string()) + " && " + quoted(test::program());
    for (const std::string& word : words) command += " " + quoted(word);
    command += " 2>errors.txt";
    Outcome outcome;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      outcome.output.append(buffer.data(), size);
    }
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.errors = read_file(folder_ / "errors.txt");
    return outcome;
  }

  std::vector<std::string> query(const std::string& sql, const std::string& epsilon = "0.1") {
    return {"query", "people.toml", sql, "--epsilon", epsilon};
  }

  std::size_t ledger_entries() {
    if (!std::filesystem::exists(folder_ / "people.ledger")) return 0;
    const auto report =
        nlohmann::json::parse(shoal({"budget", "people.toml", "--format", "json"}).output);
    return report.at("spends").size();
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kCount = "SELECT COUNT(*) FROM people";

TEST_F(CommandLine, SaysWhatIsToBeFoundAndWhatWas) {
  const std::string sql = "SELECT AVG(hours, bounds => AUTO) AS mean FROM people";
  const Outcome plan = shoal({"explain", "people.toml", sql, "--epsilon", "0.8"});
  EXPECT_NE(plan.output.find("search  bounds of hours: first, for epsilon 0.1 of the cost"),
            std::string::npos)
      << plan.output;
  EXPECT_EQ(ledger_entries(), 0u);
  // The bounds themselves are noisy: one time in twenty they are wider than the values.
  const Outcome answer = shoal(query(sql, "0.8"));
  EXPECT_NE(answer.output.find("found   bounds of hours: "), std::string::npos) << answer.output;
  EXPECT_NE(answer.output.find("for epsilon 0.1 of the cost"), std::string::npos) << answer.errors;
  EXPECT_EQ(ledger_entries(), 2u);
  // The same again, and it says that nothing was spent.
  std::string expected = answer.output;
  const std::string cost = "cost    epsilon 0.8";
  ASSERT_NE(expected.find(cost), std::string::npos) << expected;
  expected.replace(expected.find(cost), cost.size(),
                   "cost    nothing: the answer was known, and was paid with epsilon 0.8");
  EXPECT_EQ(shoal(query(sql, "0.8")).output, expected);
  EXPECT_EQ(ledger_entries(), 2u);
}

// A LIMIT leaves one row of many groups, and no key column need be there to tell.
TEST_F(CommandLine, AGroupedAnswerOfOneRowIsShownAsOne) {
  const std::string sql = "SELECT COUNT(*) AS n FROM people GROUP BY state ORDER BY n DESC LIMIT 1";
  const Outcome table = shoal(query(sql, "0.3"));
  EXPECT_NE(table.output.find("hidden  groups of few are not shown"), std::string::npos)
      << table.output << table.errors;
  std::vector<std::string> words = query(sql, "0.3");
  words.insert(words.end(), {"--format", "csv"});
  const Outcome csv = shoal(words);
  EXPECT_TRUE(csv.output.starts_with("n,n_lower,n_upper\n")) << csv.output;
  const Outcome alone = shoal(query(kCount));
  EXPECT_EQ(alone.output.find("hidden"), std::string::npos) << alone.output;
  // Groups that are all public show in the same form.
  std::vector<std::string> listed =
      query("SELECT COUNT(*) AS n FROM people GROUP BY age > 30 ORDER BY n LIMIT 1");
  listed.insert(listed.end(), {"--format", "csv"});
  const Outcome public_keys = shoal(listed);
  EXPECT_TRUE(public_keys.output.starts_with("n,n_lower,n_upper\n")) << public_keys.errors;
}

TEST_F(CommandLine, WritesArrowToAFile) {
  std::vector<std::string> words = query("SELECT state, COUNT(*) AS n FROM people GROUP BY state");
  words.insert(words.end(), {"--format", "arrow"});
  EXPECT_EQ(shoal(words).status, error_door(ErrorCode::invalid_argument).exit_status);
  words.insert(words.end(), {"--output", "answer.arrow"});
  const Outcome outcome = shoal(words);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const std::string bytes = read_file(folder_ / "answer.arrow");
  EXPECT_TRUE(bytes.starts_with("ARROW1"));
  EXPECT_TRUE(bytes.ends_with("ARROW1"));
  EXPECT_NE(bytes.find("n_lower"), std::string::npos);
}

TEST_F(CommandLine, EveryBadInputHasItsCodeAndSpendsNothing) {
  ASSERT_EQ(shoal(query(kCount)).status, 0);
  write("picture.png", std::string("\x89PNG\r\n\x1A\n\0\0", 10));
  write("cut.parquet", "PAR1 and nothing");
  write("notes.json", "{\"a\": 1}\n");
  write("bad.toml", "[dataset\n");
  struct Case {
    std::vector<std::string> words;
    ErrorCode code;
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {{"init", "missing.csv"}, ErrorCode::not_found, "there is no file missing.csv"},
      {{"init", "."}, ErrorCode::invalid_argument, "is a folder"},
      {{"init", "picture.png"},
       ErrorCode::invalid_argument,
       "neither a CSV nor a Parquet file: it holds binary data"},
      {{"init", "notes.json"}, ErrorCode::invalid_argument, "looks like JSON"},
      {{"init", "cut.parquet"}, ErrorCode::invalid_argument, "cut.parquet cannot be read"},
      {{"init", "people.csv"}, ErrorCode::conflict, "people.toml exists already; add --replace"},
      {{"init", "people.csv", "-o", "x.toml", "--unit", "nobody"},
       ErrorCode::not_found,
       "has no column nobody"},
      {{"init", "people.csv", "-o", "x.toml", "--neighbors", "both"},
       ErrorCode::invalid_argument,
       "replace_one"},
      {{"init", "people.csv", "-o", "x.toml", "--epsilon", "0"},
       ErrorCode::invalid_argument,
       "must be above 0"},
      {{"init", "people.csv", "-o", "x.toml", "--delta", "2"},
       ErrorCode::invalid_argument,
       "delta is 2"},
      {{"init", "people.csv", "-o", "no/such/x.toml"}, ErrorCode::io, "cannot write"},
      {{"query", "missing.toml", kCount, "--epsilon", "1"},
       ErrorCode::not_found,
       "there is no file missing.toml"},
      {{"query", "bad.toml", kCount, "--epsilon", "1"}, ErrorCode::parse_error, "policy line"},
      {{"query", "people.toml", kCount}, ErrorCode::invalid_argument, "--epsilon"},
      {{"query", "people.toml", kCount, "--epsilon", "lots"},
       ErrorCode::invalid_argument,
       "epsilon"},
      {{"query", "people.toml", kCount, "--epsilon", "1", "--format", "xml"},
       ErrorCode::invalid_argument,
       "format"},
      {{"query", "people.toml", kCount, "--epsilon", "1", "--frobnicate"},
       ErrorCode::invalid_argument,
       "frobnicate"},
      {query("SELECT AVG(height) FROM people"), ErrorCode::not_found,
       "table people has no column height"},
      {query("SELECT AVG(hours) FROM people"), ErrorCode::refused_by_policy,
       "needs public bounds of hours"},
      {query("SELECT age FROM people"), ErrorCode::unsupported, "no aggregate"},
      {query("SELECT COUNT(*) FROM people WHERE RANDOM() > 0"), ErrorCode::unsupported, "RANDOM"},
      {query("SELECT"), ErrorCode::parse_error, "line 1, column 7"},
      {query(kCount, "0"), ErrorCode::invalid_argument, "epsilon is 0; it must be above 0"},
      {query(kCount, "-1"), ErrorCode::invalid_argument, "epsilon is -1"},
      {query(kCount, "nan"), ErrorCode::invalid_argument, "epsilon"},
      {query(kCount, "1e30"), ErrorCode::invalid_argument, "from 0 to 1000"},
      {query(kCount, "inf"), ErrorCode::invalid_argument, "from 0 to 1000"},
      {query(kCount, "5"), ErrorCode::budget_exceeded,
       "one of epsilon 0.9 without delta still fits"},
      {{"explain", "people.toml", "SELECT SUM(hours) FROM people", "--epsilon", "1"},
       ErrorCode::refused_by_policy,
       "bounds"},
      {{"import", "people.toml", "-o", "people.csv"}, ErrorCode::conflict, "exists already"},
      {{"import", "people.toml", "--table", "dogs", "-o", "x.parquet"},
       ErrorCode::not_found,
       "no table dogs"},
      {{"import", "people.csv"}, ErrorCode::invalid_argument, "people.csv is data; add --policy"},
      {{"import", "dogs.csv", "--policy", "people.toml"},
       ErrorCode::not_found,
       "no table of the policy reads dogs.csv"},
      {{"budget", "missing.toml"}, ErrorCode::not_found, "missing.toml"},
      {{"quarry"}, ErrorCode::invalid_argument, "there is no command quarry; did you mean query?"},
      {{}, ErrorCode::invalid_argument, "subcommand"},
  };
  for (const Case& one : cases) {
    const Outcome outcome = shoal(one.words);
    std::string shown;
    for (const std::string& word : one.words) shown += word + " ";
    EXPECT_EQ(outcome.status, error_door(one.code).exit_status) << shown << "\n" << outcome.errors;
    EXPECT_NE(outcome.errors.find(one.fragment), std::string::npos)
        << shown << "\ngave: " << outcome.errors;
    EXPECT_TRUE(
        outcome.errors.starts_with("shoal: " + std::string(error_door(one.code).name) + ": "))
        << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << shown << "\n" << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x.toml")) << shown;
  }
  EXPECT_EQ(ledger_entries(), 1u);
}

// Everything that would have to be paid: stored answers and reports need no write.
TEST_F(CommandLine, ALedgerThatCannotBeWrittenStopsEveryNewQuestion) {
  ASSERT_EQ(shoal(query(kCount)).status, 0);
  std::filesystem::permissions(folder_ / "people.ledger", std::filesystem::perms::owner_read);
  std::vector<std::string> another = query(kCount);
  another.insert(another.end(), {"--key", "another"});
  const Outcome outcome = shoal(another);
  EXPECT_EQ(outcome.status, error_door(ErrorCode::io).exit_status) << outcome.errors;
  EXPECT_NE(outcome.errors.find("is read-only"), std::string::npos) << outcome.errors;
  EXPECT_EQ(shoal(query(kCount)).status, 0);
  EXPECT_EQ(shoal({"budget", "people.toml"}).status, 0);
  std::filesystem::permissions(folder_ / "people.ledger", std::filesystem::perms::owner_all);
  EXPECT_EQ(ledger_entries(), 1u);
}

TEST_F(CommandLine, AFullDiskStopsEveryNewQuestion) {
  ASSERT_EQ(shoal(query(kCount)).status, 0);
  // A limit on file size is what a full disk looks like to one process: the next write of the
  // ledger fails.
  std::string command = "cd " + quoted(folder_.path().string()) +
                        " && (ulimit -f 1; trap '' XFSZ; " + quoted(test::program()) +
                        " query people.toml " + quoted(kCount) +
                        " --epsilon 0.1 --key another) >out.txt 2>errors.txt";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), error_door(ErrorCode::io).exit_status)
      << read_file(folder_ / "errors.txt");
  EXPECT_TRUE(read_file(folder_ / "out.txt").empty());
  EXPECT_EQ(ledger_entries(), 1u);
}

TEST_F(CommandLine, BudgetCopiesCertifiesAndListsOnRequest) {
  for (int i = 0; i < 22; ++i) {
    std::vector<std::string> words = query(kCount, "0.01");
    words.insert(words.end(), {"--key", "key-" + std::to_string(i)});
    ASSERT_EQ(shoal(words).status, 0);
  }
  const std::string short_list = shoal({"budget", "people.toml"}).output;
  EXPECT_NE(short_list.find("the last 20 of 22 (--all lists them)"), std::string::npos);
  EXPECT_EQ(short_list.find("as one"), std::string::npos);
  EXPECT_NE(short_list.find("in 22 questions"), std::string::npos);
  const auto json = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"budget", "people.toml", "--format", "json"};
    words.insert(words.end(), flags.begin(), flags.end());
    return nlohmann::json::parse(shoal(words).output);
  };
  EXPECT_EQ(json({})["spends"].size(), 20u);
  EXPECT_EQ(json({})["spend_count"], 22);
  EXPECT_TRUE(json({})["certified_if_fixed_in_advance"].is_null());
  EXPECT_EQ(json({"--all"})["spends"].size(), 22u);
  EXPECT_FALSE(json({"--certify"})["certified_if_fixed_in_advance"].is_null());
  EXPECT_NE(shoal({"budget", "people.toml", "--verify"}).output.find("every entry verified"),
            std::string::npos);
  EXPECT_EQ(shoal({"budget", "people.toml", "--backup", "copy.ledger"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "copy.ledger"));
  EXPECT_EQ(shoal({"budget", "people.toml", "--backup", "copy.ledger"}).status,
            error_door(ErrorCode::conflict).exit_status);
}

TEST_F(CommandLine, TamperingShows) {
  ASSERT_EQ(shoal(query(kCount)).status, 0);
  ASSERT_EQ(shoal(query(kCount)).status, 0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "people.ledger").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(
          database,
          "DROP TRIGGER entry_no_update; UPDATE entry SET epsilon_units = 1 WHERE kind = 'reserve'",
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  for (const auto& words : {query(kCount), std::vector<std::string>{"budget", "people.toml"}}) {
    const Outcome outcome = shoal(words);
    EXPECT_EQ(outcome.status, error_door(ErrorCode::corrupt).exit_status);
    EXPECT_NE(outcome.errors.find("was changed after it was written"), std::string::npos)
        << outcome.errors;
  }
}

TEST_F(CommandLine, AnswersInThreeFormatsWithIntervalCostAndRest) {
  const std::string sql = "SELECT COUNT(*) AS n, AVG(age) FROM people WHERE state = 'TX'";
  std::vector<std::string> words = query(sql, "0.5");
  words.insert(words.end(), {"--key", "same"});
  const Outcome table = shoal(words);
  ASSERT_EQ(table.status, 0) << table.errors;
  for (const char* text :
       {"95% interval", "n ", "avg_age", "cost    epsilon 0.5",
        "left    one question of epsilon 0.5", "0.5-differentially private for one row"}) {
    EXPECT_NE(table.output.find(text), std::string::npos) << text << "\n" << table.output;
  }
  words.insert(words.end(), {"--format", "json"});
  const auto json = nlohmann::json::parse(shoal(words).output);
  EXPECT_EQ(json.at("columns").at(0).at("name"), "n");
  EXPECT_TRUE(json["columns"][0]["value"].is_number_integer());
  EXPECT_LE(json["columns"][0]["lower"], json["columns"][0]["value"]);
  EXPECT_EQ(json["columns"][1]["bounds"], (nlohmann::json{0.0, 100.0}));
  EXPECT_EQ(json["columns"][0]["noise"][0]["mechanism"], "discrete_laplace");
  EXPECT_EQ(json["budget"]["epsilon_left"], 0.5);
  EXPECT_EQ(json["key"], "same");
  words.back() = "csv";
  const Outcome csv = shoal(words);
  EXPECT_TRUE(csv.output.starts_with("name,value,lower,upper,confidence,epsilon,delta\nn,"))
      << csv.output;
  EXPECT_NE(csv.output.find("n," + std::to_string(json["columns"][0]["value"].get<int>()) + ","),
            std::string::npos);
  EXPECT_EQ(ledger_entries(), 1u);  // one key, one spend
}

// A scale is in the unit of the column, in its square, or in ranks.
TEST_F(CommandLine, TheNoiseScaleIsInTheUnitOfWhatItIsAddedTo) {
  const Outcome median = shoal(query("SELECT MEDIAN(age) AS m FROM people", "0.25"));
  ASSERT_EQ(median.status, 0) << median.errors;
  EXPECT_NE(median.output.find("quantile_choice "), std::string::npos) << median.output;
  EXPECT_NE(median.output.find(" ranks"), std::string::npos) << median.output;
  EXPECT_EQ(median.output.find("gaussian"), std::string::npos) << median.output;
  std::vector<std::string> words =
      query("SELECT VAR_POP(age, bounds => (0, 10)) AS v FROM people", "0.5");
  words.insert(words.end(), {"--format", "json"});
  const auto json = nlohmann::json::parse(shoal(words).output);
  double squares = 0;
  for (const auto& noise : json.at("columns").at(0).at("noise")) {
    const bool of_squares = noise.at("statistic").get<std::string>().starts_with("centred squares");
    if (of_squares) squares = noise.at("scale").get<double>() * noise.at("step").get<double>();
  }
  // A centred square is about 25 at most, and half of it is taken off: 12.5 at a third of epsilon.
  EXPECT_GE(squares, 12.5 / 0.5);
  EXPECT_LE(squares, 12.5 * 4 / 0.5);
}

TEST_F(CommandLine, ExplainIsFreeAndNeedsNoData) {
  std::filesystem::remove(folder_ / "people.csv");
  const Outcome outcome = shoal(
      {"explain", "people.toml", "SELECT COUNT(*), SUM(age) FROM people", "--epsilon", "0.5"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("expected error"), std::string::npos);
  EXPECT_NE(outcome.output.find("nothing was read and nothing was spent"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "people.ledger"));
}

TEST_F(CommandLine, InitTellsTheOwnerAboutRowsThatDoNotFit) {
  std::string text = "age\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "\n";
  write("odd.csv", text + "many\n");
  const Outcome outcome = shoal({"init", "odd.csv"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("in 1 row, age cannot be read as integer: NULL in queries"),
            std::string::npos)
      << outcome.output;
  // A query says nothing of it.
  const Outcome answer =
      shoal({"query", "odd.toml", "SELECT COUNT(age) FROM odd", "--epsilon", "1"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_TRUE(answer.errors.empty()) << answer.errors;
}

TEST_F(CommandLine, ImportsTheFileOfATable) {
  Outcome outcome = shoal({"import", "people.csv", "--policy", "people.toml"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("wrote people.parquet\nto query it, set in the policy: source = "
                                "\"people.parquet\", format = \"parquet\""),
            std::string::npos)
      << outcome.output;
  outcome = shoal({"import", "people.toml", "-o", "again.parquet", "--update-policy"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("people.toml names it now"), std::string::npos) << outcome.output;
  EXPECT_NE(read_file(folder_ / "people.toml").find("source = \"again.parquet\""),
            std::string::npos);
  EXPECT_EQ(shoal({"query", "people.toml", kCount, "--epsilon", "0.1"}).status, 0);
}

TEST_F(CommandLine, InitTakesNoRowForNames) {
  write("bare.csv", "39, Male\n50, Female\n38, Male\n");
  const Outcome refused = shoal({"init", "bare.csv"});
  EXPECT_EQ(refused.status, error_door(ErrorCode::invalid_argument).exit_status);
  EXPECT_EQ(refused.errors.find("Male"), std::string::npos) << refused.errors;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bare.toml"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bare.csv.shoal"));
  const Outcome made = shoal({"init", "bare.csv", "--header", "age,sex", "--epsilon", "100"});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_NE(made.output.find("bare: 3 rows\n  in 3 rows, sex begins or ends with a blank"),
            std::string::npos)
      << made.output;
  std::string policy = read_file(folder_ / "bare.toml");
  EXPECT_NE(policy.find("header = [\"age\", \"sex\"]"), std::string::npos) << policy;
  const std::vector<std::string> men = {
      "query",     "bare.toml", "SELECT COUNT(*) AS n FROM bare WHERE sex = 'Male'",
      "--epsilon", "40",        "--format",
      "csv",       "--key"};
  const auto ask = [&](const char* key) {
    std::vector<std::string> words = men;
    words.emplace_back(key);
    const Outcome outcome = shoal(words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output.substr(outcome.output.find("\nn,") + 3, 1);
  };
  EXPECT_EQ(ask("blanks"), "0");
  policy.insert(policy.find("header = "), "trim = true\n");
  write("bare.toml", policy);
  EXPECT_EQ(ask("trimmed"), "2");
}

// Nothing is left of an init that finds a file unreadable.
TEST_F(CommandLine, InitRefusesParquetThatOneRowMakesUnreadable) {
  EXPECT_EQ(shoal({"import", "people.csv", "--policy", "people.toml", "-o", "p.parquet"}).status,
            0);
  std::filesystem::remove(folder_ / "p.parquet.shoal");
  std::filesystem::remove_all(folder_ / "p.parquet.rows");
  std::string bytes = read_file(folder_ / "p.parquet");
  std::fill(bytes.begin() + 4, bytes.begin() + 20, '\x55');
  write("p.parquet", bytes);
  const Outcome outcome = shoal({"init", "p.parquet"});
  EXPECT_EQ(outcome.status, error_door(ErrorCode::invalid_argument).exit_status) << outcome.output;
  EXPECT_NE(outcome.errors.find("column "), std::string::npos) << outcome.errors;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "p.toml"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "p.parquet.shoal"));
}

TEST_F(CommandLine, ImportSettlesChangedDataAnew) {
  const std::vector<std::string> question = {"query", "people.toml", kCount, "--epsilon", "0.1"};
  EXPECT_EQ(shoal(question).status, 0);
  write("people.csv", read_file(folder_ / "people.csv") + "1\n");
  // What was answered needs no data.
  EXPECT_EQ(shoal(question).status, 0);
  std::vector<std::string> another = question;
  another.insert(another.end(), {"--key", "another"});
  const Outcome refused = shoal(another);
  EXPECT_EQ(refused.status, error_door(ErrorCode::conflict).exit_status);
  EXPECT_NE(refused.errors.find("must run shoal import POLICY"), std::string::npos)
      << refused.errors;
  const Outcome settled = shoal({"import", "people.toml"});
  EXPECT_TRUE(settled.output.starts_with("people: ")) << settled.output;
  EXPECT_NE(settled.output.find(" rows\n"), std::string::npos) << settled.output;
  EXPECT_EQ(shoal({"import", "people.toml"}).output,
            "people: settled already; its file has not changed since\n");
  EXPECT_EQ(shoal(another).status, 0);
}

TEST_F(CommandLine, HelpShowsAnExampleForEveryCommand) {
  for (const char* command : {"init", "import", "query", "explain", "budget"}) {
    const Outcome outcome = shoal({command, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("Example: shoal " + std::string(command)), std::string::npos)
        << outcome.output;
  }
  EXPECT_EQ(shoal({"--version"}).output, "shoal 0.1.0\n");
}

}  // namespace
}  // namespace shoal
