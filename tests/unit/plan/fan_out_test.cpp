// Fan-out: of which side a join leaves rows of a person out, and what is refused because joins
// would make too many rows of one. Where a bound were missing, one person's rows could be
// multiplied until the time of an answer tells of them.
#include <shoal/base/error.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace shoal::plan {
namespace {

// Tables of persons with so many rows of one, or without a limit; one public table.
std::string table(const std::string& name, const std::string& limits, bool unique = false) {
  return fmt::format(
      "[table.{0}]\nsource = \"{0}.csv\"\nformat = \"csv\"\nperson_column = \"id\"\n{1}\n"
      "[table.{0}.column.id]\ntype = \"integer\"\nunique = {2}\n"
      "[table.{0}.column.x]\ntype = \"integer\"\nbounds = [0, 10]\n"
      "[table.{0}.column.kept_back]\ntype = \"text\"\nqueryable = false\n",
      name, limits, unique);
}

catalog::Policy policy() {
  std::string text =
      "[dataset]\nname = \"d\"\nlineage = \"d\"\n[privacy]\nunit = \"person\"\nneighbors = "
      "\"add_remove\"\n[budget]\nepsilon = 1\ndelta = 0\nledger = \"d.ledger\"\n";
  text += table("one", "max_rows_per_person = 1") + table("ten", "max_rows_per_person = 10") +
          table("many", "max_rows_per_person = 20000") + table("unsaid", "") +
          table("groups", "max_groups_per_person = 3\nmax_rows_per_group = 5") +
          table("single", "max_rows_per_person = 10", true);
  text +=
      "[table.places]\nsource = \"places.csv\"\nformat = \"csv\"\npublic = true\n"
      "[table.places.column.x]\ntype = \"integer\"\n[table.places.column.y]\ntype = \"integer\"\n";
  return catalog::parse_policy(text, "/data");
}

Plan planned(const std::string& from) {
  QueryOptions options;
  options.epsilon = 0.1;
  return make_plan(
      "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 10) COUNT(*) FROM " + from,
      policy(), options);
}

std::string rows(const std::string& from) {
  return sql::print(planned(from).rows, sql::Dialect::duckdb);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

struct Cut {
  const char* from;
  const char* table;  // the one that is cut; none if empty
  int most;
};

TEST(FanOut, OneSideOfAJoinIsCut) {
  for (const Cut& cut :
       {Cut{"ten JOIN one USING (id)", "one", 1}, Cut{"one JOIN ten USING (id)", "one", 1},
        Cut{"one FULL JOIN ten USING (id)", "one", 1},
        Cut{"ten a JOIN ten b ON a.id = b.id AND a.x < b.x", "ten", 10},
        Cut{"unsaid JOIN ten USING (id)", "ten", 10},
        Cut{"ten LEFT JOIN unsaid USING (id)", "ten", 10},
        Cut{"unsaid JOIN groups USING (id)", "groups", 15},
        Cut{"many JOIN groups USING (id)", "groups", 15},
        Cut{"unsaid JOIN single USING (id)", "", 0}, Cut{"single JOIN ten USING (id)", "", 0},
        Cut{"ten JOIN (SELECT id, SUM(x) AS s FROM unsaid GROUP BY id) AS t USING "
            "(id)",
            "", 0},
        Cut{"ten JOIN (SELECT DISTINCT id FROM unsaid) AS t USING (id)", "", 0},
        Cut{"ten JOIN places ON ten.x = places.x", "", 0}}) {
    SCOPED_TRACE(cut.from);
    const std::string text = rows(cut.from);
    EXPECT_EQ(count(text, "ROW_NUMBER()"), *cut.table == '\0' ? 0u : 1u) << text;
    if (*cut.table == '\0') continue;
    EXPECT_NE(text.find(fmt::format("\"place\" <= {}", cut.most)), std::string::npos) << text;
    const std::size_t at = text.find("ROW_NUMBER()");
    EXPECT_EQ(text.find(fmt::format("\"place\" FROM \"{}\"", cut.table), at),
              text.find("\"place\" FROM ", at))
        << text;
  }
}

// More than one row of a person and key: the bound is no longer one.
TEST(FanOut, GroupsOfAPersonAreCutAsRowsAre) {
  for (const char* side :
       {"SELECT id, x, COUNT(*) AS n FROM ten GROUP BY id, x", "SELECT DISTINCT id, x FROM ten",
        "SELECT id FROM ten WHERE x > 3", "SELECT id FROM ten a JOIN one b USING (id)"}) {
    const std::string text = rows(fmt::format("many JOIN ({}) AS t USING (id)", side));
    EXPECT_NE(text.find("\"place\" <= 10"), std::string::npos) << text;
  }
}

// The order is of all columns that the question may name, so that rows that tie are the same to it.
// What it does not name is not read.
TEST(FanOut, RowsAreChosenByAllTheyShow) {
  const char* from = "ten JOIN one USING (id) WHERE one.x > 1";
  const std::string text = rows(from);
  EXPECT_NE(text.find("(PARTITION BY \"t2\".\"id\" ORDER BY hash(getvariable('shoal_key'), "
                      "\"t2\".\"x\"), \"t2\".\"x\")"),
            std::string::npos)
      << text;
  const std::string server = sql::print(planned(from).rows, sql::Dialect::postgresql);
  EXPECT_NE(server.find("ORDER BY sha256(CAST($1 AS BYTEA) || convert_to(CAST(ROW('row', "
                        "\"t2\".\"x\") AS TEXT), 'UTF8'))"),
            std::string::npos)
      << server;
  EXPECT_EQ(text.find("kept_back"), std::string::npos);
  EXPECT_EQ(count(rows("ten JOIN one USING (id)"), "\"x\""), 0u);
  EXPECT_EQ(count(rows("ten JOIN one o USING (id) WHERE O.\"x\" > 1"), "\"t2\".\"x\""), 3u);
  for (const char* all : {"(SELECT * FROM ten JOIN one USING (id)) AS t",
                          "(SELECT one.* FROM ten JOIN one ON ten.id = one.id) AS t"}) {
    EXPECT_GT(count(rows(all), "\"t2\".\"x\""), 0u) << rows(all);
    EXPECT_GT(count(rows(all), "\"t2\".\"kept_back\""), 0u) << rows(all);
  }
  // A cut of a cut, of columns that have other names inside.
  const std::string nested = rows(
      "(SELECT a.id, a.x AS inside FROM ten a JOIN ten b ON a.id = b.id) AS t JOIN many USING "
      "(id) WHERE t.inside > 3");
  EXPECT_EQ(count(nested, "ROW_NUMBER()"), 2u) << nested;
}

TEST(FanOut, WhatThePolicySaysIsMultiplied) {
  const auto refused = [](const std::string& from) -> std::string {
    try {
      planned(from);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::unsupported ||
                  error.code() == ErrorCode::refused_by_policy);
      return error.what();
    }
    return "";
  };
  std::string joined = "ten t0";
  for (int i = 1; i <= 4; ++i) joined += fmt::format(" JOIN ten t{0} ON t0.id = t{0}.id", i);
  EXPECT_EQ(refused(joined), "");
  const std::string five = joined + " JOIN ten t5 ON t0.id = t5.id";
  EXPECT_NE(refused(five).find("could make 100000 rows of one"), std::string::npos);
  EXPECT_EQ(refused(joined + " JOIN one t5 ON t0.id = t5.id"), "");
  // Inside of a subquery as well, whatever is made of its rows.
  EXPECT_NE(refused(fmt::format("(SELECT t0.id, COUNT(*) AS n FROM {} GROUP BY t0.id) AS t",
                                five.substr(0)))
                .find("100000"),
            std::string::npos);
  EXPECT_EQ(refused(fmt::format("ten JOIN (SELECT t0.id, COUNT(*) AS n FROM {} GROUP BY t0.id) AS "
                                "t USING (id)",
                                joined)),
            "");
  EXPECT_NE(refused("many a JOIN many b ON a.id = b.id").find("20000"), std::string::npos);
  EXPECT_NE(refused("unsaid a JOIN unsaid b ON a.id = b.id").find("max_rows_per_person"),
            std::string::npos);
}

// What public tables multiply is counted where they are.
TEST(FanOut, PublicTablesAreCounted) {
  const auto counted = [](const std::string& from) {
    std::string text;
    for (const FanOut& one : planned(from).fan_outs) {
      text += fmt::format("{}", one.rows);
      for (const PublicCount& count : one.counts)
        text += "|" + sql::print(count.query, sql::Dialect::shoal);
      text += "\n";
    }
    return text;
  };
  EXPECT_EQ(counted("ten JOIN one USING (id)"), "");
  EXPECT_EQ(counted("ten, places"), "1|SELECT COUNT(*) AS \"k0\" FROM \"places\" AS \"t2\"\n");
  const std::string groups =
      "SELECT MAX(\"groups\".\"n\") AS \"k0\" FROM (SELECT COUNT(*) AS \"n\" FROM \"places\" AS "
      "\"t2\" WHERE \"t2\".\"x\" IS NOT NULL GROUP BY \"t2\".\"x\") AS \"groups\"";
  EXPECT_EQ(counted("ten JOIN places p ON ten.x = p.x AND p.y > ten.x"), "1|" + groups + "\n");
  EXPECT_EQ(counted("ten JOIN places p ON p.x = 3"), "1|" + groups + "\n");
  // Equal to itself, or one of two: no bound.
  for (const char* on : {"p.x = p.x", "p.x = p.y", "p.x = ten.x OR p.y = ten.x", "p.x + 1 = ten.x"})
    EXPECT_EQ(counted(fmt::format("ten JOIN places p ON {}", on)),
              "1|SELECT COUNT(*) AS \"k0\" FROM \"places\" AS \"t2\"\n");
  const FanOut two = planned("ten JOIN ten b USING (id) JOIN places p ON p.x = b.x").fan_outs.at(0);
  EXPECT_EQ(two.rows, 10);
  EXPECT_NO_THROW(require_fan_out(two, {1000}));
  EXPECT_NO_THROW(require_fan_out(two, {0}));
  EXPECT_THROW(require_fan_out(two, {1001}), Error);
  EXPECT_THROW(require_fan_out(two, {std::numeric_limits<long long>::max()}), Error);
}

}  // namespace
}  // namespace shoal::plan
