// Where the unit is a row, a join may not make two rows of one: whatever the planner accepts is
// run against the tables, and leaves at most as many rows as there were.
#include "session/question.hpp"
#include "support/open_grouped_aggregate.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/duckdb_engine.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace shoal::session {
namespace {

constexpr const char* kPolicy = R"([dataset]
name = "notes"
lineage = "notes"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "notes.ledger"
[table.notes]
source = "notes.csv"
format = "csv"
[table.notes.column.code]
type = "integer"
[table.notes.column.region]
type = "text"
[table.regions]
source = "regions.csv"
format = "csv"
public = true
[table.regions.column.region]
type = "text"
unique = true
[table.regions.column.capital]
type = "text"
[table.regions.column.code]
type = "integer"
unique = true
)";

class RowJoinTest : public testing::Test {
 protected:
  void SetUp() override {
    write("notes.csv", "code,region\n1,a\n2,a\n3,b\n");
    write("regions.csv", "region,capital,code\na,a,1\nb,b,2\nc,c,3\nd,x,4\n");
    policy_ = catalog::parse_policy(kPolicy, folder_.path().string());
  }

  // How many rows the question counts; none if it is refused.
  std::optional<long long> counted(const std::string& from) {
    plan::QueryOptions options;
    options.epsilon = 1;
    std::optional<plan::Plan> plan;
    try {
      plan = plan::make_plan("SELECT COUNT(*) FROM " + from, *policy_, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      return std::nullopt;
    }
    std::vector<const catalog::Table*> tables;
    for (const std::string& name : plan->tables) tables.push_back(policy_->find_table(name, true));
    engine::DuckdbEngine engine = test::settled_engine(*policy_, tables);
    const auto exact =
        engine.aggregate_groups(engine_request(*plan, {1, 2}), OwnerLog(folder_ / "owner.log"));
    return test::open(exact.at(0)).at({}).sums.at(0);
  }

  void write(const char* name, const std::string& text) const {
    write_file_durably(folder_ / name, text, IfExists::refuse);
  }

  test::TemporaryFolder folder_;
  std::optional<catalog::Policy> policy_;
};

TEST_F(RowJoinTest, UniqueColumnsMatchOneRowAtMost) {
  EXPECT_EQ(counted("notes n JOIN regions r ON n.region = r.region"), 3);
  EXPECT_EQ(counted("notes n LEFT JOIN regions r ON r.code = n.code AND r.capital <> 'x'"), 3);
  EXPECT_EQ(counted("regions r RIGHT JOIN notes n ON LOWER(n.region) = r.region"), 3);
  EXPECT_EQ(counted("notes n JOIN regions r ON r.region = 'a'"), 3);
  EXPECT_EQ(counted("notes JOIN regions USING (region)"), 3);
}

// The unique column compared with its own row says nothing about the private one: each private row
// would meet every public one.
TEST_F(RowJoinTest, ConditionsOnThePublicSideAloneAreRefused) {
  for (const char* from :
       {"notes n JOIN regions r ON r.region = r.region",
        "notes n JOIN regions r ON r.region = r.capital",
        "notes n JOIN regions r ON r.capital = r.region AND n.code = 1",
        "regions r JOIN notes n ON r.region = LOWER(r.capital)",
        "notes n LEFT JOIN regions r ON r.code = CASE WHEN n.code = 1 THEN r.code ELSE 2 END",
        "notes n, regions r", "notes n JOIN regions r ON n.code = r.code OR n.region = r.region"}) {
    EXPECT_EQ(counted(from), std::nullopt) << from;
  }
}

}  // namespace
}  // namespace shoal::session
