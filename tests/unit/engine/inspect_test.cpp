// What the owner's first look makes of a CSV: a line of names, or a row that must not become names.
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/inspect.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::engine {
namespace {

using Names = std::vector<std::string>;

class InspectTest : public testing::Test {
 protected:
  catalog::Table inspect(const std::string& text, const Names& header = {}) {
    write_file_durably(folder_ / "t.csv", text, IfExists::replace);
    return inspect_file(folder_ / "t.csv", header);
  }

  std::string refusal(const std::string& text, const Names& header = {}) {
    try {
      inspect(text, header);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    ADD_FAILURE() << "was taken: " << text;
    return "";
  }

  static Names names(const catalog::Table& table) {
    Names all;
    for (const catalog::Column& column : table.columns) all.push_back(column.name);
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(InspectTest, ARowIsNoLineOfNames) {
  for (const char* text :
       {"39, State-gov, 77516\n50, Private, 83311\n", "2024-01-31;4.5\n2024-02-29;5\n",
        "true,a\nfalse,b\n", "2024-01-31 10:00:00\tx\n2024-01-31 11:00:00\ty\n"}) {
    const std::string why = refusal(text);
    EXPECT_NE(why.find("reads as a row"), std::string::npos) << why;
    EXPECT_NE(why.find("--header"), std::string::npos) << why;
    // The owner sees the file itself; a message may travel further.
    EXPECT_EQ(why.find("State-gov"), std::string::npos) << why;
  }
  EXPECT_NE(refusal("a,\n1,2\n").find("--header"), std::string::npos);
  EXPECT_NE(refusal("x,x\na,b\n").find("--header"), std::string::npos);
}

TEST_F(InspectTest, NamesAreNamesBesideWhateverStandsBelow) {
  EXPECT_EQ(names(inspect("name,town\na,b\n")), (Names{"name", "town"}));
  EXPECT_EQ(names(inspect("1,2\n")), (Names{"1", "2"}));
  // Years above numbers may be either: what could be a row is not taken for names.
  EXPECT_NE(refusal("id,2024\n1,5\n2,6\n").find("year_2024"), std::string::npos);
}

TEST_F(InspectTest, TheOwnerCanNameTheColumns) {
  const catalog::Table table = inspect("39,a\n50,b\n", {"age", "work"});
  EXPECT_EQ(names(table), (Names{"age", "work"}));
  EXPECT_EQ(table.csv.header, (Names{"age", "work"}));
  EXPECT_EQ(table.columns[0].type, catalog::ColumnType::integer);
  EXPECT_NE(refusal("39,a\n50,b\n", {"age"}).find("1 names"), std::string::npos);
  EXPECT_NE(refusal("39,a\n50,b\n", {"age", "Age"}).find("two columns"), std::string::npos);
}

}  // namespace
}  // namespace shoal::engine
