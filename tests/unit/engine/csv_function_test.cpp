#include "engine/csv_function.hpp"

#include "engine/duckdb_connection.hpp"
#include "engine/source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/file.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {
namespace {

using Rows = std::vector<std::vector<std::string>>;

class CsvFunction : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const std::filesystem::path path = folder_.path() / "it's a table.csv";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string source(const std::filesystem::path& path,
                            const std::vector<std::string>& columns,
                            const CsvSourceOptions& options = {}) {
    return csv_source(path, {}, columns, options);
  }

  test::TemporaryFolder folder_;
  DuckdbConnection connection_{InsertionOrder::kept};
};

TEST_F(CsvFunction, GivesTheColumnsThatAreAskedFor) {
  const auto path = write("a,b,c\n1,short,a text of more than twelve bytes\n2,\"x,\"\"y\"\"\",\n");
  const std::string table = source(path, {"a", "b", "c"});
  EXPECT_EQ(connection_.rows("SELECT c, a FROM " + table),
            (Rows{{"a text of more than twelve bytes", "1"}, {"", "2"}}));
  EXPECT_EQ(connection_.rows("SELECT b FROM " + table + " WHERE a = '2'"), (Rows{{"x,\"y\""}}));
  EXPECT_EQ(connection_.rows("SELECT COUNT(*), COUNT(c) FROM " + table), (Rows{{"2", "1"}}));
  EXPECT_EQ(connection_.rows("SELECT COUNT(*) FROM " + table), (Rows{{"2"}}));
  EXPECT_EQ(connection_.rows("SELECT x.a, y.a FROM " + table + " x JOIN " + table +
                             " y ON x.a = y.a ORDER BY 1"),
            (Rows{{"1", "1"}, {"2", "2"}}));
}

// Chunks are written over and over: nothing of an earlier row may stay.
TEST_F(CsvFunction, ARowKeepsNothingOfAnEarlierOne) {
  std::string text = "n,a,b\n";
  for (int i = 0; i < 20'000; ++i) {
    constexpr const char* kRows[] = {"twelve bytes,x", "a", "ab,", "a rather long text,yy"};
    text += fmt::format("{},{}\n", i, kRows[i / 3000 % 4]);
  }
  const std::string table = source(write(text), {"n", "a", "b"});
  EXPECT_EQ(connection_.rows("SELECT a, b, COUNT(*), COUNT(b) FROM " + table +
                             " GROUP BY ALL ORDER BY a"),
            (Rows{{"a", "", "6000", "0"},
                  {"a rather long text", "yy", "3000", "3000"},
                  {"ab", "", "5000", "0"},
                  {"twelve bytes", "x", "6000", "6000"}}));
}

TEST_F(CsvFunction, NamesRowsByTheirPlaceInTheFile) {
  const auto path = write("x\ny\n\nz\n");
  EXPECT_EQ(connection_.rows("SELECT shoal_row, a FROM " + source(path, {"a"}, {false, true})),
            (Rows{{"0", "x"}, {"1", "y"}, {"2", "z"}}));
  EXPECT_EQ(connection_.rows("SELECT MAX(shoal_row) FROM " + source(path, {"a"}, {true, true})),
            (Rows{{"1"}}));
}

TEST_F(CsvFunction, KeepsTheOrderOfTheFile) {
  constexpr int kRows = 600'000;
  std::string text = "n,t\n";
  for (int i = 0; i < kRows; ++i) text += fmt::format("{},some text of row {}\n", i, i);
  const auto path = write(text);
  const auto output = (folder_.path() / "t.parquet").string();
  connection_.run("SET threads = 4");
  connection_.run(
      fmt::format("COPY (SELECT TRY_CAST(n AS BIGINT) AS n, t FROM {}) TO {} (FORMAT "
                  "parquet)",
                  source(path, {"n", "t"}), quoted(output)));
  EXPECT_EQ(connection_.rows(fmt::format("SELECT COUNT(*), COUNT(*) FILTER (WHERE n <> "
                                         "file_row_number OR t <> 'some text of row ' || n) FROM "
                                         "read_parquet({}, file_row_number = true)",
                                         quoted(output))),
            (Rows{{std::to_string(kRows), "0"}}));
  // Threads that take blocks as they come still read each row once.
  DuckdbConnection any;
  any.run("SET threads = 4");
  EXPECT_EQ(any.rows("SELECT COUNT(*), COUNT(DISTINCT n), SUM(shoal_row), SUM(n::BIGINT) FROM " +
                     source(path, {"n", "t"}, {true, true})),
            (Rows{{std::to_string(kRows), std::to_string(kRows), "179999700000", "179999700000"}}));
}

TEST_F(CsvFunction, CountsWhatItDid) {
  const auto path = write("a,b\n1\n2,x,y\n3,\"p\nq\"\n4,\"open\n5,\xFF\n\n");
  connection_.run("SELECT COUNT(COLUMNS(*)) FROM " + source(path, {"a", "b"}));
  CsvCounts expected;
  expected.rows = 5;
  expected.blank_lines = 1;
  expected.multi_line_rows = 1;
  expected.most_lines = 2;
  expected.unclosed_quotes = 1;
  expected.padded_rows = 1;
  expected.cut_rows = 1;
  expected.not_text_rows = 1;
  EXPECT_EQ(connection_.csv_reads().counts(path), expected);
  EXPECT_EQ(connection_.csv_reads().counts("another"), CsvCounts{});
  EXPECT_EQ(connection_.csv_reads().progress(), 1);
}

TEST_F(CsvFunction, OpensNoFileButThoseAllowed) {
  const auto path = write("a\n1\n");
  std::ofstream(folder_.path() / "other") << "a\n1\n";
  connection_.csv_reads().allow_only(std::vector{path});
  EXPECT_EQ(connection_.rows("SELECT a FROM " + source(path, {"a"})), (Rows{{"1"}}));
  EXPECT_THROW(connection_.rows("SELECT a FROM " + source(folder_.path() / "other", {"a"})),
               DuckdbFailure);
}

TEST_F(CsvFunction, AFileThatIsGoneIsAFailure) {
  const auto path = write("a\n1\n");
  connection_.run("CREATE VIEW t AS SELECT a FROM " + source(path, {"a"}));
  std::filesystem::remove(path);
  EXPECT_THROW(connection_.rows("SELECT a FROM t"), DuckdbFailure);
}

TEST_F(CsvFunction, AStatementMayStopEarly) {
  std::string text = "a\n";
  for (int i = 0; i < 500'000; ++i) text += "some text of a row\n";
  const auto path = write(text);
  EXPECT_EQ(connection_.rows("SELECT COUNT(*) FROM (FROM " + source(path, {"a"}) + " LIMIT 10)"),
            (Rows{{"10"}}));
  EXPECT_LT(connection_.csv_reads().progress().value(), 1);
}

// A quoted line break: read_csv of DuckDB with null_padding fails on most of these.
TEST_F(CsvFunction, AQuotedLineBreakFailsNoQuestion) {
  for (int size = 0; size < 40; ++size) {
    const std::string field = std::string(static_cast<std::size_t>(size), 'x') + "\ny\r\nz";
    const auto path = write("id,note\n1,a\n2,\"" + field + "\"\n3,b\n");
    const std::string table = source(path, {"id", "note"});
    EXPECT_EQ(connection_.rows("SELECT id, note FROM " + table),
              (Rows{{"1", "a"}, {"2", field}, {"3", "b"}}));
    EXPECT_EQ(connection_.rows("SELECT COUNT(*) FROM " + table), (Rows{{"3"}}));
  }
}

// A field of many lines, wherever a buffer ends in it: read_csv of DuckDB reads its lines as rows,
// with ids that the field's author chose.
TEST_F(CsvFunction, LinesOfAFieldAreNoRows) {
  std::string field;
  for (int i = 0; i < 300'000; ++i) field += fmt::format("\n{},1000000", 7'000'000 + i);
  for (const std::size_t before :
       {std::size_t{1}, std::size_t{2'000'000}, std::size_t{4'190'000}}) {
    const auto path =
        write("id,note\n1," + std::string(before, 'x') + "\n2,\"" + field + "\"\n3,b\n");
    DuckdbConnection any;
    EXPECT_EQ(
        any.rows("SELECT id, length(note) FROM " + source(path, {"id", "note"}) + " ORDER BY id"),
        (Rows{{"1", std::to_string(before)}, {"2", std::to_string(field.size())}, {"3", "1"}}));
  }
}

// Where a file is as it should be, DuckDB's own reader in one thread reads the same rows.
TEST_F(CsvFunction, AgreesWithDuckdbOnWellFormedFiles) {
  std::mt19937 random(99);
  constexpr std::string_view kLetters = "ab ,\"\n'\t;";
  std::string text = "a,b,c\n";
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(i);
    for (int column = 0; column < 2; ++column) {
      std::string field;
      for (auto size = random() % 20; size > 0; --size) {
        const char c = kLetters[random() % kLetters.size()];
        field += c == '"' ? "\"\"" : std::string(1, c);
      }
      text += ",\"" + field + "\"";
    }
    text += "\n";
  }
  const auto path = write(text);
  const std::string ours = "SELECT * FROM " + source(path, {"a", "b", "c"});
  const std::string theirs = fmt::format(
      "SELECT * FROM read_csv({}, header = true, auto_detect = false, delim = ',', quote "
      "= '\"', escape = '\"', new_line = '\\n', parallel = false, columns = {{'a': "
      "'VARCHAR', 'b': 'VARCHAR', 'c': 'VARCHAR'}})",
      quoted(path.string()));
  EXPECT_EQ(connection_.rows("SELECT COUNT(*) FROM (" + ours + ")"), (Rows{{"20000"}}));
  EXPECT_EQ(connection_.rows(ours + " EXCEPT ALL " + theirs), Rows{});
  EXPECT_EQ(connection_.rows(theirs + " EXCEPT ALL " + ours), Rows{});
}

}  // namespace
}  // namespace shoal::engine
