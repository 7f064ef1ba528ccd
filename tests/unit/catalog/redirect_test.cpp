// A table of a policy is pointed at another file without touching what else the owner wrote.
#include <shoal/base/error.hpp>
#include <shoal/catalog/redirect.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shoal::catalog {
namespace {

TEST(Redirect, ChangesThreeKeysOfOneTableAndNothingElse) {
  const std::string before = R"(# source = "a comment"
[table.other]
source = "other.csv"
format = "csv"
[table."Besuche in Köln"]   # the one
  source   =   "besuche_köln.csv"   # of May
person_column = "id"
format = "csv"	# read by hand
delimiter = ","
[table."Besuche in Köln".column.source]
type = "text")";
  EXPECT_EQ(redirect_table(before, "Besuche in Köln", "neu \"ä\".parquet", true),
            R"(# source = "a comment"
[table.other]
source = "other.csv"
format = "csv"
[table."Besuche in Köln"]   # the one
  source   =   "neu \"ä\".parquet"   # of May
person_column = "id"
format = "parquet"	# read by hand
clustered = true
delimiter = ","
[table."Besuche in Köln".column.source]
type = "text")");
}

TEST(Redirect, SaysWhetherRowsAreOrderedWhereThePolicyDoes) {
  const std::string before = "[table.t]\nclustered = false\nsource = \"a\"\nformat = \"csv\"\r\n";
  EXPECT_EQ(redirect_table(before, "t", "b", true),
            "[table.t]\nclustered = true\nsource = \"b\"\nformat = \"parquet\"\r\n");
  EXPECT_EQ(redirect_table("[table.t]\nclustered = true\nsource = \"a\"\nformat = \"csv\"", "t",
                           "b", false),
            "[table.t]\nclustered = false\nsource = \"b\"\nformat = \"parquet\"");
  EXPECT_EQ(redirect_table("[table.t]\nsource = \"a\"\nformat = \"csv\"", "t", "b", false),
            "[table.t]\nsource = \"b\"\nformat = \"parquet\"");
  EXPECT_EQ(redirect_table("[table.t]\nsource = \"a\"\nformat = \"csv\"", "t", "b", true),
            "[table.t]\nsource = \"b\"\nformat = \"parquet\"\nclustered = true\n");
}

TEST(Redirect, RefusesWhatItCannotChangeAlone) {
  for (const char* text : {"table.t = {source = \"a\", format = \"csv\"}",
                           "[table]\nt = {source = \"a\", format = \"csv\"}",
                           "[table.t]\nsource = \"\"\"\na\"\"\"\nformat = \"csv\"",
                           "[table]\nt.source = \"a\"\nt.format = \"csv\""}) {
    try {
      redirect_table(text, "t", "b", true);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find("source of table t"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace shoal::catalog
