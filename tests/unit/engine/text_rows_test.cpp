#include "support/code_of.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/engine/text_rows.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace shoal::engine {
namespace {

using Row = std::vector<std::string>;

struct Read {
  std::vector<Row> rows;
  std::vector<std::string> places;
};

Read read_all(TextRows rows) {
  Read read;
  while (rows.next()) {
    read.rows.emplace_back(rows.fields().begin(), rows.fields().end());
    read.places.push_back(rows.place());
  }
  EXPECT_FALSE(rows.next());
  return read;
}

class TextRowsTest : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = (folder_.path() / "t.csv").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  test::TemporaryFolder folder_;
};

TEST_F(TextRowsTest, GivesEachRowAsItIs) {
  const std::string path = write(
      "\xEF\xBB\xBF"
      "a,\"b\"\"\"\n1,x\n\n2,\"y\n,z\",3\r\n4\n\"open,5\n\xFF,\"\"\"\"");
  TextRows rows(path, FirstRow::header);
  EXPECT_EQ(rows.header(), (Row{"a", "b\""}));
  EXPECT_GT(rows.bytes(), 0u);
  const Read read = read_all(std::move(rows));
  // The third row has three fields, so it is not a row of several lines.
  EXPECT_EQ(read.rows,
            (std::vector<Row>{
                {"1", "x"}, {"2", "\"y"}, {"", "z\"", "3"}, {"4"}, {"\"open", "5"}, {"", "\""}}));
  EXPECT_EQ(read.places[0], "line 2 of " + path);
  EXPECT_EQ(read.places[1], "line 4 of " + path);
  EXPECT_EQ(read.places[3], "line 6 of " + path);
}

TEST_F(TextRowsTest, RowsOfSeveralLinesAndWithoutAHeader) {
  const std::string path = write("1,\"x\ny\"\n2,z\n");
  TextRows rows(path, FirstRow::data);
  EXPECT_TRUE(rows.header().empty());
  const Read read = read_all(std::move(rows));
  EXPECT_EQ(read.rows, (std::vector<Row>{{"1", "x\ny"}, {"2", "z"}}));
  EXPECT_EQ(read.places[1], "line 3 of " + path);
  EXPECT_TRUE(read_all(TextRows(write(""), FirstRow::header)).rows.empty());
}

TEST_F(TextRowsTest, APipeIsReadLikeAFile) {
  std::string text = "a,b\n0,\"open\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ",\"some, \"\"text\"\"\"\n";
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
  TextRows rows(pipe, FirstRow::header);
  EXPECT_EQ(rows.bytes(), 0u);
  const Read piped = read_all(std::move(rows));
  writer.join();
  EXPECT_EQ(piped.rows, read_all(TextRows(write(text), FirstRow::header)).rows);
  EXPECT_EQ(piped.rows.size(), 100'001u);
  EXPECT_EQ(piped.rows.back(), (Row{"99999", "some, \"text\""}));
}

TEST_F(TextRowsTest, AFileThatIsNoneIsRefused) {
  const auto open = [&](const std::string& path) {
    return test::code_of([&] { const TextRows rows(path, FirstRow::header); });
  };
  EXPECT_EQ(open((folder_.path() / "missing").string()), ErrorCode::not_found);
  EXPECT_EQ(open(folder_.path().string()), ErrorCode::invalid_argument);
}

TEST(LineFieldsTest, ALineIsARow) {
  LineFields split;
  const auto fields = [&](const std::string& line) {
    const auto found = split.split(line);
    return Row(found.begin(), found.end());
  };
  EXPECT_EQ(fields("a,\"b,\"\"c\"\"\",d"), (Row{"a", "b,\"c\"", "d"}));
  const std::string longer(100, 'x');
  const std::string field = "\"\"\"" + longer + "\"";
  EXPECT_EQ(fields(field + "," + field + "," + field),
            (Row{"\"" + longer, "\"" + longer, "\"" + longer}));
  EXPECT_EQ(fields("\"a,b"), (Row{"\"a", "b"}));
  EXPECT_EQ(fields(""), (Row{""}));
  EXPECT_EQ(fields(","), (Row{"", ""}));
}

}  // namespace
}  // namespace shoal::engine
