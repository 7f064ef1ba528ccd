// Rows for learning: values by the public rules, one row a unit.
#include "support/code_of.hpp"
#include "support/open_table_rows.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/file.hpp>
#include <shoal/engine/duckdb_engine.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

class TableRowsTest : public testing::Test {
 protected:
  std::vector<data::Cell> read(const std::string& text, const RowRequest& request) {
    write_file_durably(folder_.path() / "t.csv", text, IfExists::replace);
    catalog::Table table;
    table.name = "t";
    table.source = "t.csv";
    table.columns = {{"who", ColumnType::text, {}, {}},
                     {"x", ColumnType::real, {}, {}},
                     {"c", ColumnType::text, {}, {}},
                     {"k", ColumnType::integer, {}, {}}};
    policy_.folder = folder_.path();
    DuckdbEngine engine = test::settled_engine(policy_, table);
    return test::open(engine.table_rows(request, OwnerLog(folder_.path() / "log")));
  }

  test::TemporaryFolder folder_;
  catalog::Policy policy_;
};

TEST_F(TableRowsTest, ValuesFollowThePublicRules) {
  RowRequest request;
  request.columns = {{"x", {}}, {"c", {"red", "blue"}}, {"k", {"7", "8"}}};
  const auto cells =
      read("who,x,c,k\na,1.5,blue,7\nb,nan,green,8\nc,abc,,9\nd,inf,red,x\n", request);
  ASSERT_EQ(cells.size(), 12);
  EXPECT_EQ(cells[0].number, 1.5);
  EXPECT_EQ(cells[1].category, 1);
  EXPECT_EQ(cells[2].category, 0);
  EXPECT_TRUE(std::isnan(cells[3].number));
  EXPECT_EQ(cells[4].category, data::kNoCategory);
  EXPECT_EQ(cells[5].category, 1);
  EXPECT_TRUE(std::isnan(cells[6].number));
  EXPECT_EQ(cells[7].category, data::kNoCategory);
  EXPECT_EQ(cells[8].category, data::kNoCategory);
  EXPECT_TRUE(std::isinf(cells[9].number));
  EXPECT_EQ(cells[11].category, data::kNoCategory);
}

TEST_F(TableRowsTest, RowsKeepTheirOrder) {
  std::string text = "who,x,c,k\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("p,{},red,1\n", i);
  RowRequest request;
  request.columns = {{"x", {}}};
  const auto cells = read(text, request);
  ASSERT_EQ(cells.size(), 5000);
  for (std::size_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells[i].number, static_cast<double>(i));
}

// On several threads too: whoever brings a value for each row relies on it.
TEST_F(TableRowsTest, RowsInFileOrderComeInIt) {
  std::string text = "who,x,c,k\n";
  for (int i = 0; i < 300000; ++i) text += fmt::format("p,{},red,1\n", i);
  policy_.engine.threads = 4;
  RowRequest request;
  request.columns = {{"x", {}}};
  request.in_file_order = true;
  const auto cells = read(text, request);
  ASSERT_EQ(cells.size(), 300000);
  for (std::size_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells[i].number, static_cast<double>(i));
}

TEST_F(TableRowsTest, TheNumberOfRowsIsToldWhereItIsPublic) {
  write_file_durably(folder_.path() / "t.csv", "x\n1\n2\n3\n", IfExists::replace);
  catalog::Table table;
  table.name = "t";
  table.source = "t.csv";
  table.columns = {{"x", ColumnType::real, {}, {}}};
  policy_.folder = folder_.path();
  policy_.unit = catalog::PrivacyUnit::row;
  const OwnerLog log(folder_.path() / "log");
  policy_.neighbors = Neighbors::replace_one;
  EXPECT_EQ(test::settled_engine(policy_, table).row_count(log), 3);
  policy_.neighbors = Neighbors::add_remove;
  EXPECT_EQ(test::code_of([&] { test::settled_engine(policy_, table).row_count(log); }),
            ErrorCode::unsupported);
}

// Which row of a person counts depends on her rows alone, so one person more is one row more.
TEST_F(TableRowsTest, OneRowAPersonWhoeverElseIsThere) {
  std::vector<std::string> lines;
  for (int person = 0; person < 30; ++person) {
    for (int i = 0; i <= person % 4; ++i)
      lines.push_back(fmt::format("p{},{}.{},red,1\n", person, person, i + 1));
  }
  lines.push_back(",99,red,1\n");  // nobody's
  RowRequest request;
  request.columns = {{"x", {}}};
  request.person_column = "who";
  const auto values = [&](const std::string& without, bool reversed, std::uint64_t key) {
    request.hash_key = {key, 17};
    std::string text;
    for (const std::string& line : lines) {
      if (!line.starts_with(without)) text = reversed ? line + text : text + line;
    }
    std::map<int, double> found;
    for (const data::Cell& cell : read("who,x,c,k\n" + text, request))
      EXPECT_TRUE(found.emplace(static_cast<int>(cell.number), cell.number).second);
    return found;
  };
  const std::map<int, double> all = values("nobody", false, 5);
  EXPECT_EQ(all.size(), 30);
  EXPECT_EQ(values("nobody", true, 5), all);
  EXPECT_NE(values("nobody", false, 6), all);  // another key chooses others
  std::map<int, double> without = values("p7,", false, 5);
  EXPECT_EQ(without.size(), 29);
  for (const auto& [person, value] : without) EXPECT_EQ(all.at(person), value);
}

}  // namespace
}  // namespace shoal::engine
