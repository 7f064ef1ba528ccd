// Keys that come from a public table are named as the groups of private rows are, whatever their
// type: otherwise a group would be shown as empty that is not.
#include "session/question.hpp"
#include "support/open_grouped_aggregate.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/duckdb_engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shoal::session {
namespace {

constexpr const char* kPolicy = R"([dataset]
name = "stays"
lineage = "stays"
[privacy]
unit = "person"
neighbors = "add_remove"
[budget]
epsilon = 10
delta = 1e-5
ledger = "stays.ledger"
[table.stays]
source = "stays.csv"
format = "csv"
person_column = "person"
max_rows_per_person = 10
max_groups_per_person = 10
[table.stays.column.person]
type = "integer"
[table.stays.column.house]
type = "integer"
[table.houses]
source = "houses.csv"
format = "csv"
public = true
[table.houses.column.id]
type = "integer"
[table.houses.column.rate]
type = "real"
[table.houses.column.open]
type = "boolean"
[table.houses.column.built]
type = "date"
[table.houses.column.seen]
type = "timestamp"
[table.houses.column.name]
type = "text"
)";

TEST(PublicKeys, AreNamedAsGroupsAre) {
  const test::TemporaryFolder folder;
  std::string stays = "person,house\n";
  for (int i = 0; i < 10; ++i) stays += std::to_string(i) + "," + std::to_string(i % 6) + "\n";
  write_file_durably(folder / "stays.csv", stays, IfExists::refuse);
  write_file_durably(folder / "houses.csv",
                     "id,rate,open,built,seen,name\n"
                     "0,1,true,1999-01-31,2024-03-01 08:30:00,a b\n"
                     "1,0.5,false,0099-12-31,2024-03-01 08:30:00.25,\"x,y\"\n"
                     "2,-0.0,true,2024-02-29,1969-12-31 23:59:59.999999,\n"
                     "3,0,true,2024-02-29,2024-03-01 00:00:00,z\n"
                     "4,1e20,,2024-02-29,,Z\n"
                     "5,1e-7,true,,2024-03-01 08:30:00,z \n"
                     "6,-123456789.25,true,1970-01-01,2024-03-01 08:30:00,z\n",
                     IfExists::refuse);
  const catalog::Policy policy = catalog::parse_policy(kPolicy, folder.path().string());
  std::vector<const catalog::Table*> tables = {&policy.tables[0], &policy.tables[1]};
  engine::DuckdbEngine engine = test::settled_engine(policy, tables);
  for (const std::string key : {"h.id", "h.rate", "h.open", "h.built", "h.seen", "h.name",
                                "h.rate, h.seen", "h.id * 2", "h.rate * 3"}) {
    SCOPED_TRACE(key);
    plan::QueryOptions options;
    options.epsilon = 1;
    const plan::Plan plan = plan::make_plan(
        "SELECT COUNT(s.person) FROM houses h LEFT JOIN stays s ON s.house = h.id "
        "GROUP BY " +
            key,
        policy, options);
    const plan::PlannedGrouping& grouping = plan.groupings.at(0);
    if (!grouping.key_query) {
      EXPECT_EQ(key, "h.open");  // true and false are a list by themselves
      continue;
    }
    const std::vector<catalog::Key> keys = engine.public_keys(*grouping.key_query);
    std::vector<catalog::Key> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "a key twice";
    const auto exact =
        engine.aggregate_groups(engine_request(plan, {1, 2}), OwnerLog(folder / "owner.log"));
    for (const auto& [name, group] : test::open(exact.at(0))) {
      const bool whole =
          std::all_of(name.begin(), name.end(), [](const auto& one) { return one.has_value(); });
      EXPECT_EQ(std::binary_search(sorted.begin(), sorted.end(), name), whole)
          << name.front().value_or("NULL");
    }
  }
}

}  // namespace
}  // namespace shoal::session
