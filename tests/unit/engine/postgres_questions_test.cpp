// Whole questions, planned as a session plans them, put to both engines: about the same rows, once
// in files and once on the server, the exact sums are the same. Bounds are wide enough that no hash
// decides.
#include "query/query_fixtures.hpp"
#include "query/server_fixture.hpp"
#include "support/open_grouped_aggregate.hpp"
#include "support/postgres_server.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"
#include "unit/engine/planned_request.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/plan/plan.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shoal::engine {
namespace {

using test::roomy_request;

class PostgresQuestions : public testing::Test {
 protected:
  struct Answer {
    std::vector<test::OpenGroups> groups;
    std::vector<catalog::Key> public_keys;
  };

  void use(const test::QueryFixture& fixture) {
    for (const auto& [name, text] : fixture.files)
      write_file_durably(folder_ / name, text, IfExists::replace);
    test::fill_server(fixture);
    in_files_ = catalog::parse_policy(fixture.policy, folder_.path());
    on_server_ = catalog::parse_policy(test::server_policy(fixture.policy), folder_.path());
  }

  Answer ask(const catalog::Policy& policy, const std::string& question) {
    plan::QueryOptions options;
    options.epsilon = 1;
    options.delta = 1e-6;
    const plan::Plan plan = plan::make_plan(question, policy, options);
    std::vector<const catalog::Table*> tables;
    for (const std::string& name : plan.tables) tables.push_back(policy.find_table(name, true));
    const std::unique_ptr<Engine> engine = open_engine(policy, tables, test::no_budget);
    Answer answer;
    for (const plan::UniqueCheck& check : plan.unique)
      EXPECT_TRUE(engine->is_unique(check.table, check.column));
    for (const plan::PlannedGrouping& grouping : plan.groupings) {
      if (!grouping.key_query) continue;
      for (catalog::Key& key : engine->public_keys(*grouping.key_query))
        answer.public_keys.push_back(std::move(key));
    }
    for (const auto& one : engine->aggregate_groups(roomy_request(plan), log_))
      answer.groups.push_back(test::open(one));
    return answer;
  }

  void expect_same(const std::string& question) {
    SCOPED_TRACE(question);
    try {
      const Answer files = ask(in_files_, question);
      const Answer server = ask(on_server_, question);
      EXPECT_EQ(files.public_keys, server.public_keys);
      ASSERT_EQ(files.groups.size(), server.groups.size());
      for (std::size_t set = 0; set < files.groups.size(); ++set) {
        EXPECT_FALSE(files.groups[set].empty());
        EXPECT_TRUE(files.groups[set] == server.groups[set]) << difference(files, server, set);
      }
    } catch (const Error& error) {
      std::error_code ignored;
      ADD_FAILURE() << error.what() << "\n"
                    << (std::filesystem::exists(log_.path(), ignored) ? read_file(log_.path())
                                                                      : "");
      std::filesystem::remove(log_.path(), ignored);
    }
  }

  static std::string difference(const Answer& files, const Answer& server, std::size_t set) {
    std::string text;
    for (const auto* one : {&files.groups[set], &server.groups[set]}) {
      text += "\n";
      for (const auto& [key, group] : *one) {
        for (const auto& part : key) text += part.value_or("NULL") + "/";
        text += fmt::format(" {}:", group.units);
        for (const long long sum : group.sums) text += fmt::format(" {}", sum);
        text += "; ";
        if (text.size() > 2000) break;
      }
    }
    return text;
  }

  test::TemporaryFolder folder_{test::Place::memory};
  OwnerLog log_{folder_ / "log"};
  catalog::Policy in_files_;
  catalog::Policy on_server_;
};

TEST_F(PostgresQuestions, AboutRows) {
  use(test::people_fixture());
  for (const char* question : {
           "SELECT COUNT(*), COUNT(age), SUM(age), AVG(age), VAR_POP(age) FROM people",
           "SELECT SUM(height), AVG(height), STDDEV(height) FROM people WHERE NOT age > 50",
           "SELECT state, COUNT(*), VAR_SAMP(age) FROM people GROUP BY state",
           "SELECT COUNT(DISTINCT secret2) FROM (SELECT id, UPPER(state) AS secret2 FROM people) t",
           "SELECT COUNT(DISTINCT wage), COUNT(DISTINCT seen), COUNT(DISTINCT active) FROM people",
           "SELECT id, active, COUNT(*) FROM people GROUP BY id, active",
           "SELECT id, active, COUNT(*), SUM(age) FROM people GROUP BY ROLLUP (id, active)",
           "SELECT born, COUNT(*) FROM people GROUP BY born",
           "SELECT seen, COUNT(*) FROM people GROUP BY seen",
           "SELECT height, COUNT(*) FROM people GROUP BY height",
           "SELECT wage / 250 AS w, COUNT(*) FROM people WHERE wage < 40 GROUP BY w",
           "SELECT DATE_TRUNC('year', born) AS y, COUNT(*) FROM people GROUP BY y",
           "SELECT DATE_TRUNC('month', seen) AS y, COUNT(*) FROM people GROUP BY y",
           "SELECT EXTRACT(YEAR FROM born) AS y, DAYOFWEEK(seen) AS d, COUNT(*) FROM people GROUP "
           "BY y, d",
           "SELECT SUM(DATE_DIFF('day', born, DATE '2024-01-01'), contribution_bounds_per_row => "
           "(0, 50000)) FROM people",
           "SELECT CASE WHEN age IS NULL THEN 'none' WHEN age < 30 THEN 'young' END AS a, COUNT(*) "
           "FROM people GROUP BY a",
           "SELECT SUM(CASE WHEN age > 40 THEN 1 ELSE 0 END), SUM(CASE WHEN active THEN age END) "
           "FROM people",
           "SELECT CAST(wage AS BIGINT) AS w, CAST(age AS DOUBLE) AS a, COUNT(*) FROM people WHERE "
           "wage < 30 GROUP BY w, a",
           "SELECT CONCAT(state, '-', LEFT(state, 1)) AS c, LENGTH(state) AS n, COUNT(*) FROM "
           "people GROUP BY c, n",
           "SELECT SUM(SQRT(age) * 2 + ABS(age - 50), contribution_bounds_per_row => (0, 100)) "
           "FROM "
           "people",
           "SELECT SUM(POWER(height, 2), contribution_bounds_per_row => (0, 10)) FROM people",
           "SELECT COUNT(*) FROM people WHERE state LIKE 'T%' OR REGEXP_MATCHES(state, '^C')",
           "SELECT COUNT(*) FROM people WHERE seen >= TIMESTAMP '2024-03-10 00:00:00' AND born < "
           "DATE '1950-01-01'",
           "SELECT COUNT(*) FROM people WHERE id IN (1, 3) AND wage BETWEEN 10 AND 500.5",
           "SELECT NULLIF(id, 3) AS i, COALESCE(age, -1) AS a, COUNT(*) FROM people WHERE id < 5 "
           "GROUP BY i, a",
           "SELECT age > 50 AS old, COUNT(*) FROM people GROUP BY old",
           "SELECT GREATEST(id, 5) AS g, MOD(id, 3) AS m, COUNT(*) FROM people GROUP BY g, m",
       })
    expect_same(question);
}

TEST_F(PostgresQuestions, AboutPeople) {
  use(test::hospital_fixture());
  for (const char* question : {
           "SELECT ward, COUNT(*), COUNT(DISTINCT person_id), SUM(cost), AVG(cost) FROM visits "
           "GROUP BY ward",
           "SELECT ward, STDDEV_POP(cost), VAR_POP(cost) FROM visits GROUP BY ward",
           "SELECT COUNT(DISTINCT day), COUNT(DISTINCT ward) FROM visits",
           "SELECT p.region, COUNT(*), SUM(v.cost) FROM visits v JOIN patients p ON v.person_id = "
           "p.person_id GROUP BY p.region",
           "SELECT p.region, COUNT(v.cost) FROM patients p LEFT JOIN visits v ON v.person_id = "
           "p.person_id GROUP BY p.region",
           "SELECT r.country, COUNT(*) FROM patients p JOIN regions r ON p.region = r.region GROUP "
           "BY r.country",
           "SELECT r.region, COUNT(*) FROM regions r LEFT JOIN patients p ON p.region = r.region "
           "GROUP BY r.region",
           "SELECT SUM(nights), COUNT(*) FROM beds",
           "SELECT AVG(total, contribution_bounds_per_row => (0, 1000)) FROM (SELECT person_id, "
           "SUM(cost) AS total FROM visits GROUP BY person_id) AS t",
           "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY "
           "person_id) AS t GROUP BY n",
           "SELECT ward, day, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), (ward, day), "
           "())",
           "WITH dear AS (SELECT person_id, ward FROM visits WHERE cost > 100) SELECT ward, "
           "COUNT(*) "
           "FROM dear GROUP BY ward",
           "SELECT SUM(m, contribution_bounds_per_row => (0, 200)) FROM (SELECT person_id, "
           "MAX(cost) "
           "AS m, AVG(cost) AS a FROM visits GROUP BY person_id) AS t",
       })
    expect_same(question);
}

}  // namespace
}  // namespace shoal::engine
