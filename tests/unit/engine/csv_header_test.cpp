#include "engine/csv_header.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace shoal::engine {
namespace {

class CsvHeader : public testing::Test {
 protected:
  std::string problem(const std::string& text) {
    const std::filesystem::path path = folder_.path() / "t.csv";
    std::ofstream(path, std::ios::binary) << text;
    const auto found = header_problem(path, {});
    return found ? found->why : "";
  }
  test::TemporaryFolder folder_;
};

TEST_F(CsvHeader, NamesAreNoProblem) {
  EXPECT_EQ(problem("id,age,sex,day\n1,39,Male,2024-01-31\n2,50,Female,2024-02-29\n"), "");
  EXPECT_EQ(problem("name,city\nAlice,Paris\nBob,Rome\n"), "");
  EXPECT_EQ(problem("x\n"), "");
  EXPECT_EQ(problem(""), "");
  // A number above texts, an empty field, a text above itself once.
  EXPECT_EQ(problem("2019,b\nx,1\n7,2\ny,3\n"), "");
  EXPECT_EQ(problem("2019,,other\na,1,other\nb,2,none\nc,3,none\n"), "");
  // The header of each of the files that were put together.
  EXPECT_EQ(problem("id,sex\n1,m\nid,sex\n2,f\nid,sex\n3,f\n"), "");
}

TEST_F(CsvHeader, DataIsAProblemAndNotQuoted) {
  EXPECT_EQ(problem("39, State-gov, 77516\n50, Private, 83311\n38, Private, 215646\n"),
            "field 1 of its first row is a number, as the values below it are");
  EXPECT_EQ(problem("Alice,2024-01-31\nBob,\nCarol,2024-02-29 10:00:00\n"),
            "field 2 of its first row is a date, as the values below it are");
  EXPECT_EQ(problem("Alice,TRUE\nBob,false\n"),
            "field 2 of its first row is true or false, as the values below it are");
  EXPECT_EQ(problem("Alice,Paris\nBob,Rome\nCarol,Paris\nDan,\"Paris\"\n"),
            "field 2 of its first row stands below it 2 more times");
  EXPECT_EQ(problem("a,-1.5e3\nb,2\nc,3\nd,4\ne,5\nf,unknown\n"),
            "field 2 of its first row is a number, as the values below it are");
}

TEST_F(CsvHeader, FieldsAreCounted) {
  const std::vector<std::string> first{"1", "x"};
  const std::vector<std::vector<std::string>> below{{"2", "y"}};
  ASSERT_TRUE(header_problem(first, below).has_value());
  EXPECT_EQ(header_problem(first, below)->fields, 2u);
}

}  // namespace
}  // namespace shoal::engine
