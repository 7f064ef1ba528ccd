// shoal shell, as a script and on a terminal; answers as files; intervals as pictures.
#include "support/shell.hpp"

#include "support/temporary_folder.hpp"
#include "support/terminal.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <duckdb.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace shoal {
namespace {

constexpr const char* kPolicy = R"([dataset]
name = "people"
lineage = "people-shell"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 100
delta = 1e-6
ledger = "people.ledger"
[query]
time_steps = 0
[table.people]
source = "people.csv"
format = "csv"
[table.people.column.state]
type = "text"
categories = ["TX", "CA"]
[table.people.column.age]
type = "integer"
bounds = [0, 100]
[table.people.column.seen]
type = "date"
[table.people.column.secret]
type = "text"
queryable = false
)";

class Shell : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = "state,age,seen,secret\n";
    for (int i = 0; i < 400; ++i) {
      text += (i % 4 == 0 ? "TX," : "CA,") + std::to_string(20 + i % 50) +
              (i % 2 == 0 ? ",2024-01-31,x\n" : ",2024-02-29,x\n");
    }
    write("people.csv", text);
    write("people.toml", kPolicy);
  }

  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }

  test::Ran script(const std::string& text, const std::string& options = "--epsilon 2") {
    write("script.sql", text);
    return test::run_shell(folder_.path(), "shoal shell people.toml " + options + " <script.sql");
  }

  test::Ran line(const std::string& text) { return test::run_shell(folder_.path(), text); }

  std::size_t spends() {
    const auto ran = line("shoal budget people.toml --format json");
    return nlohmann::json::parse(ran.output).at("spends").size();
  }

  test::TemporaryFolder folder_;
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The file's rows as DuckDB prints them, in the form of our CSV.
std::string parquet_as_csv(const std::filesystem::path& path) {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_result result{};
  EXPECT_EQ(duckdb_open(nullptr, &database), DuckDBSuccess);
  EXPECT_EQ(duckdb_connect(database, &connection), DuckDBSuccess);
  const std::string sql = "SELECT * FROM '" + path.string() + "'";
  EXPECT_EQ(duckdb_query(connection, sql.c_str(), &result), DuckDBSuccess);
  std::string text;
  for (idx_t c = 0; c < duckdb_column_count(&result); ++c) {
    text += (c == 0 ? "" : ",") + std::string(duckdb_column_name(&result, c));
  }
  for (idx_t r = 0; r < duckdb_row_count(&result); ++r) {
    for (idx_t c = 0; c < duckdb_column_count(&result); ++c) {
      char* value = duckdb_value_varchar(&result, c, r);
      std::string cell = value == nullptr ? "" : value;
      duckdb_free(value);
      if (cell.ends_with(".0")) cell.resize(cell.size() - 2);
      text += (c == 0 ? "\n" : ",") + cell;
    }
  }
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  return text + "\n";
}

TEST_F(Shell, StatementsEndAtSemicolonsOutsideOfQuotesAndComments) {
  const auto ran = script(
      "-- nothing; here\n"
      "SELECT COUNT(*) AS \"a;b\" -- one; two\n"
      "/* three; /* four; */ five; */ FROM people WHERE state LIKE 'T;''X';;\n"
      "SELECT COUNT(*) AS c FROM people; SELECT COUNT(age)\nFROM people");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(count_of(ran.output, "95% interval"), 3u) << ran.output;
  EXPECT_NE(ran.output.find("a;b "), std::string::npos);
  EXPECT_EQ(spends(), 3u);
}

TEST_F(Shell, AnErrorDoesNotEndItAndItsStatusIsTheFirstOnes) {
  const auto ran =
      script("SELECT FROM;\n\\nonsense\nSELECT COUNT(*) FROM people;\nSELECT COUNT(*) FROM dogs\n");
  EXPECT_EQ(ran.status, error_door(ErrorCode::parse_error).exit_status);
  EXPECT_EQ(count_of(ran.output, "95% interval"), 1u) << ran.output;
  EXPECT_TRUE(ran.errors.starts_with("shoal: parse_error: line 1, column 8")) << ran.errors;
  EXPECT_NE(ran.errors.find("there is no command \\nonsense"), std::string::npos) << ran.errors;
  EXPECT_EQ(count_of(ran.errors, "shoal: "), 3u) << ran.errors;
  EXPECT_EQ(spends(), 1u);
}

TEST_F(Shell, CommandsAnswerWithoutSpending) {
  const auto ran = script(
      "\\cost SELECT COUNT(*) FROM people;\n\\epsilon 4\n\\cost SELECT COUNT(*) FROM people\n"
      "\\epsilon\n\\schema\n\\schema people;\n\\budget\n\\help\n\\epsilon -1\n\\schema dogs\n"
      "\\cost\n\\quit\nSELECT COUNT(*) FROM people;\n");
  for (const char* text :
       {"cost    epsilon 2\n", "cost    epsilon 4\n", "each question may cost epsilon 4\n",
        "each row protected", "0 to 100", "TX, CA", "not queryable", "left    one question of",
        "\\cost <question>"}) {
    EXPECT_NE(ran.output.find(text), std::string::npos) << text << "\n" << ran.output;
  }
  for (const char* text : {"epsilon is -1; it must be", "the policy has no table dogs; it has",
                           "\\cost needs a question"}) {
    EXPECT_NE(ran.errors.find(text), std::string::npos) << text << "\n" << ran.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "people.ledger"));
}

TEST_F(Shell, EpsilonHoldsForWhatFollowsAndTheSameQuestionIsFree) {
  const auto ran = script(
      "SELECT COUNT(*) FROM people;\n\\epsilon 3\nSELECT COUNT(*) FROM people;\n"
      "SELECT COUNT(*) FROM people;\n",
      "--epsilon 2 --format json");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(count_of(ran.output, "\"epsilon_left\": 98.0"), 1u) << ran.output;
  EXPECT_EQ(count_of(ran.output, "\"epsilon_left\": 95.0"), 2u) << ran.output;
  EXPECT_EQ(count_of(ran.output, "\"repeated\": false"), 2u) << ran.output;
  EXPECT_EQ(count_of(ran.output, "\"repeated\": true"), 1u) << ran.output;
  const auto again = script("SELECT COUNT(*) FROM people;\n", "--epsilon 2");
  EXPECT_NE(again.output.find("cost    nothing: the answer was known, and was paid with epsilon 2"),
            std::string::npos)
      << again.output;
}

// A quantile is chosen from a histogram, by a mechanism that explain shows as it does the others.
TEST_F(Shell, TheCostOfAQuantileShowsItsMechanism) {
  const auto ran = script("\\cost SELECT MEDIAN(age) AS m FROM people;\n", "--epsilon 2");
  for (const char* text : {"ranks off", "histogram", "by the exponential mechanism, scale "}) {
    EXPECT_NE(ran.output.find(text), std::string::npos) << text << "\n" << ran.output;
  }
  EXPECT_EQ(ran.output.find("depends on the answer"), std::string::npos) << ran.output;
}

TEST_F(Shell, ATerminalHasPromptCompletionHistoryAndCancel) {
  {
    test::Terminal terminal(folder_.path(), {"shell", "people.toml", "--epsilon", "2"});
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    terminal.type("SELECT begun,\r");
    ASSERT_TRUE(terminal.shows("     > ")) << terminal.output();
    terminal.type("gone FROM\x03");
    ASSERT_TRUE(terminal.shows("^C")) << terminal.output();
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    terminal.type("sel\tCOUNT(*) AS every\r");
    ASSERT_TRUE(terminal.shows("     > ")) << terminal.output();
    terminal.type("FROM peo\t;\r");
    ASSERT_TRUE(terminal.shows("95% interval")) << terminal.output();
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    // A table, though there is PERCENTILE_CONT as well.
    terminal.type("\\schema pe\t\r");
    ASSERT_TRUE(terminal.shows("0 to 100")) << terminal.output();
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    terminal.type("\\bu\t\r");
    ASSERT_TRUE(terminal.shows("SELECT COUNT(*) AS every FROM people")) << terminal.output();
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    terminal.type("SELECT no;\r");
    ASSERT_TRUE(terminal.shows("shoal: ")) << terminal.output();
    ASSERT_TRUE(terminal.shows("shoal> ")) << terminal.output();
    terminal.type("\x04");
    EXPECT_EQ(terminal.wait_for_end(), 0) << terminal.output();
  }
  const auto history = folder_ / "state/shoal/history";
  ASSERT_TRUE(std::filesystem::exists(history));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(history).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(read_file(history).find("gone"), std::string::npos);
  test::Terminal again(folder_.path(), {"shell", "people.toml", "--epsilon", "2"});
  ASSERT_TRUE(again.shows("shoal> "));
  again.type("\x1b[A\x1b[A");  // the line before the last
  ASSERT_TRUE(again.shows("\\budget")) << again.output();
  again.type("\x03\\quit\r");
  EXPECT_EQ(again.wait_for_end(), 0);
  EXPECT_EQ(spends(), 1u);
}

constexpr const char* kGrouped =
    "SELECT state, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY state";

TEST_F(Shell, IntervalsAreDrawnOnTerminalsThatCanShowThem) {
  const auto drawn = [&](std::vector<std::string> more, unsigned short columns,
                         const char* locale) {
    std::vector<std::string> words{"query", "people.toml", kGrouped, "--epsilon", "2"};
    words.insert(words.end(), more.begin(), more.end());
    test::Terminal terminal(folder_.path(), words, columns, locale);
    EXPECT_EQ(terminal.wait_for_end(), 0) << terminal.output();
    return count_of(terminal.output(), "●");
  };
  EXPECT_EQ(drawn({}, 150, "C.UTF-8"), 4u);
  EXPECT_EQ(drawn({}, 150, "C"), 0u);
  EXPECT_EQ(drawn({}, 40, "C.UTF-8"), 0u);  // no room
  EXPECT_EQ(drawn({"--no-bars"}, 150, "C.UTF-8"), 0u);
  const auto piped =
      line(std::string("LC_ALL=C.UTF-8 shoal query people.toml \"") + kGrouped + "\" --epsilon 2");
  EXPECT_EQ(count_of(piped.output, "●"), 0u);
  EXPECT_EQ(spends(), 1u);
}

TEST_F(Shell, ParquetHoldsRowsTypesAndTheAnswer) {
  const std::string question =
      "shoal query people.toml \"SELECT state, seen, COUNT(*) AS n, AVG(age) AS mean FROM people "
      "GROUP BY state, seen ORDER BY n DESC\" --epsilon 50 ";
  const auto ran = line(question + "--format parquet --output answer.parquet");
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(ran.output, "wrote answer.parquet\n");
  EXPECT_EQ(line(question + "--format parquet -o answer.parquet").status,
            error_door(ErrorCode::conflict).exit_status);
  const auto csv = line(question + "--format csv");
  EXPECT_EQ(spends(), 1u);
  // The owner's tool reads the file: its types and its rows.
  ASSERT_EQ(line("shoal init answer.parquet").status, 0);
  const std::string policy = read_file(folder_ / "answer.toml");
  for (const char* text :
       {"[table.answer.column.state]\ntype = \"text\"", "column.seen]\ntype = \"date\"",
        "column.n]\ntype = \"integer\"", "column.n_lower]\ntype = \"integer\"",
        "column.mean_upper]\ntype = \"real\""}) {
    EXPECT_NE(policy.find(text), std::string::npos) << text << policy;
  }
  EXPECT_EQ(count_of(csv.output, "\n"), 4u) << csv.output;
  EXPECT_EQ(parquet_as_csv(folder_ / "answer.parquet"), csv.output);
  const std::string bytes = read_file(folder_ / "answer.parquet");
  EXPECT_NE(bytes.find("\"statement\":\"(50"), std::string::npos);
}

TEST_F(Shell, WhatIsWrongWithAFileIsSaidBeforeAnythingIsSpent) {
  write("there.csv", "x");
  for (const char* options : {"--format parquet", "--format csv -o there.csv",
                              "--format parquet -o no/folder/x.parquet"}) {
    const auto ran = line(std::string("shoal query people.toml 'SELECT COUNT(*) FROM people' "
                                      "--epsilon 1 ") +
                          options);
    EXPECT_NE(ran.status, 0) << options;
    EXPECT_TRUE(ran.output.empty()) << ran.output;
  }
  EXPECT_EQ(read_file(folder_ / "there.csv"), "x");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "people.ledger"));
  EXPECT_EQ(line("shoal query people.toml 'SELECT COUNT(*) FROM people' --epsilon 1 --format json "
                 "-o new.json")
                .status,
            0);
  EXPECT_TRUE(nlohmann::json::accept(read_file(folder_ / "new.json")));
}

}  // namespace
}  // namespace shoal
