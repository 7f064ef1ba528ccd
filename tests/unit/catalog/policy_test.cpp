// Policies: what is read, and what is refused with its line, key and remedy.
#include <shoal/base/error.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/catalog/policy.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shoal::catalog {
namespace {

constexpr const char* kGood = R"(
[dataset]
name = "people"
lineage = "people-1"
[privacy]
unit = "person"
neighbors = "replace_one"
[budget]
epsilon = 2.5
delta = 1e-7
max_epsilon_per_query = 0.5
ledger = "people.ledger"
[table.people]
source = "people.csv"
format = "csv"
delimiter = ";"
person_column = "id"
max_rows_per_person = 3
[table.people.column.id]
type = "integer"
[table.people.column."full name"]
type = "text"
queryable = false
[table.people.column.age]
type = "integer"
bounds = [0, 120]
nulls = false
[table.people.column.state]
type = "text"
categories = ["TX", "CA"]
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Policy, ReadsEverything) {
  const Policy policy = parse_policy(kGood, "/data");
  EXPECT_EQ(policy.name, "people");
  EXPECT_EQ(policy.unit, PrivacyUnit::person);
  EXPECT_EQ(policy.neighbors, Neighbors::replace_one);
  EXPECT_EQ(policy.epsilon.value(), 2.5);
  EXPECT_EQ(policy.max_epsilon_per_query->value(), 0.5);
  EXPECT_EQ(policy.resolve(policy.ledger), "/data/people.ledger");
  const Table* table = policy.find_table("PEOPLE", false);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(policy.find_table("PEOPLE", true), nullptr);
  EXPECT_EQ(table->csv.delimiter, ';');
  EXPECT_EQ(table->max_rows_per_person, 3);
  EXPECT_FALSE(table->find_column("full name", true)->queryable);
  EXPECT_FALSE(table->find_column("age", true)->nulls);
  EXPECT_EQ(table->find_column("Age", false)->bounds, (Bounds{0, 120}));
  EXPECT_EQ(table->find_column("state", true)->categories.size(), 2u);
}

TEST(Policy, SaysHowTextOfAFileIsRead) {
  const auto columns = [](const Policy& policy) {
    std::string trimmed;
    for (const Column& column : policy.tables[0].columns)
      if (column.trim) trimmed += column.name + " ";
    return trimmed;
  };
  const std::string format = "format = \"csv\"\n";
  EXPECT_EQ(columns(parse_policy(kGood, "/data")), "");
  EXPECT_EQ(columns(parse_policy(with(format, format + "trim = true\n"), "/data")),
            "full name state ");
  EXPECT_EQ(columns(parse_policy(with("queryable = false", "trim = true"), "/data")), "full name ");
  const Policy named =
      parse_policy(with(format, format + "header = [\"id\", \"full name\", \"age\"]\n"), "/data");
  EXPECT_EQ(named.tables[0].csv.header, (std::vector<std::string>{"id", "full name", "age"}));
  for (const auto& [from, to] :
       {std::pair{std::string("nulls = false"), std::string("trim = true")},
        std::pair{format, format + "header = []\n"},
        std::pair{format, format + "header = [\"a\", \"a\"]\n"},
        std::pair{format, format + "header = [\"\"]\n"},
        std::pair{format, std::string("format = \"parquet\"\nheader = [\"a\"]\n")},
        std::pair{format, std::string("format = \"postgresql\"\ntrim = true\n")}}) {
    EXPECT_THROW(parse_policy(with(from, to), "/data"), Error) << to;
  }
}

// Columns are as the file has them, however they are written, and not by their names.
TEST(Policy, ColumnsKeepTheirOrder) {
  const auto names = [](const std::string& text) {
    const Policy policy = parse_policy(text, "/data");
    std::vector<std::string> all;
    for (const Column& column : policy.find_table("people", true)->columns) {
      all.push_back(column.name);
    }
    return all;
  };
  EXPECT_EQ(names(kGood), (std::vector<std::string>{"id", "full name", "age", "state"}));
  std::string dotted = kGood;
  dotted.resize(dotted.find("[table.people.column.id]"));
  EXPECT_EQ(names(dotted + "column.id.type = \"integer\"\ncolumn.z = {type = \"text\"}\n"
                           "column.a.type = \"text\"\n"),
            (std::vector<std::string>{"id", "z", "a"}));
  EXPECT_EQ(names(dotted + "column = {id = {type = \"integer\"}, z = {type = \"text\"}, a = {type "
                           "= \"text\"}}\n"),
            (std::vector<std::string>{"id", "z", "a"}));
}

struct Refusal {
  std::string text;
  ErrorCode code;
  const char* fragment;
};

TEST(Policy, RefusesWithKeyAndRemedy) {
  const Refusal refusals[] = {
      {"", ErrorCode::invalid_argument, "the policy has no section [dataset]"},
      {"x = [", ErrorCode::parse_error, "policy line 1"},
      {with("epsilon = 2.5", "epsilon = 0"), ErrorCode::invalid_argument,
       "budget.epsilon is 0; it must be above 0"},
      {with("epsilon = 2.5", "epsilon = -1"), ErrorCode::invalid_argument, "must be above 0"},
      {with("epsilon = 2.5", "epsilon = nan"), ErrorCode::invalid_argument, "must be above 0"},
      {with("epsilon = 2.5", "epsilon = 1e9"), ErrorCode::invalid_argument, "from 0 to 1000"},
      {with("epsilon = 2.5", "epsilon = \"2\""), ErrorCode::invalid_argument,
       "budget.epsilon must be a number"},
      {with("epsilon = 2.5\n", ""), ErrorCode::invalid_argument,
       "the policy has no budget.epsilon; add for example"},
      {with("delta = 1e-7", "delta = 1"), ErrorCode::invalid_argument, "delta is 1"},
      {with("delta = 1e-7", "dleta = 1e-7"), ErrorCode::invalid_argument, "did you mean delta?"},
      {with("bounds = [0, 120]", "bound = [0, 120]"), ErrorCode::invalid_argument,
       "did you mean bounds?"},
      {with("bounds = [0, 120]", "bounds = [120, 0]"), ErrorCode::invalid_argument,
       "the lower below the upper"},
      {with("bounds = [0, 120]", "bounds = [0, inf]"), ErrorCode::invalid_argument,
       "must be finite"},
      {with("bounds = [0, 120]", "bounds = [0, nan]"), ErrorCode::invalid_argument,
       "must be finite"},
      {with("bounds = [0, 120]", "bounds = 120"), ErrorCode::invalid_argument,
       "must be two numbers"},
      {with("bounds = [0, 120]", "bounds = [-1e200, 120]"), ErrorCode::invalid_argument,
       "between -1e100 and 1e100"},
      {with("categories = [\"TX\", \"CA\"]", "bounds = [0, 1]"), ErrorCode::invalid_argument,
       "column of type text"},
      {with("categories = [\"TX\", \"CA\"]", "categories = [\"TX\", \"TX\"]"),
       ErrorCode::invalid_argument, "twice"},
      {with("type = \"text\"", "type = \"string\""), ErrorCode::invalid_argument,
       "must be integer, real, text"},
      {with("unit = \"person\"", "unit = \"household\""), ErrorCode::invalid_argument,
       "must be \"row\" or \"person\""},
      {with("unit = \"person\"", "unit = \"row\""), ErrorCode::invalid_argument,
       "privacy.unit is \"row\""},
      {with("neighbors = \"replace_one\"", "neighbors = \"any\""), ErrorCode::invalid_argument,
       "add_remove"},
      {with("person_column = \"id\"", "person_column = \"pid\""), ErrorCode::invalid_argument,
       "no column of the table"},
      {with("column.id]\ntype = \"integer\"", "column.id]\ntype = \"real\""),
       ErrorCode::invalid_argument, "cannot identify a person"},
      {with("[table.people]",
            "[table.beds]\nsource = \"b\"\nformat = \"csv\"\nvia = {column = "
            "\"k\", references = \"people.id\"}\n[table.beds.column.k]\ntype = "
            "\"text\"\n[table.people]"),
       ErrorCode::invalid_argument, "which has another type"},
      {with("person_column = \"id\"\n", ""), ErrorCode::invalid_argument,
       "the policy has no table.people.person_column"},
      {with("max_rows_per_person = 3", "max_rows_per_person = 0"), ErrorCode::invalid_argument,
       "from 1 to 1000000"},
      {with("max_rows_per_person = 3", "max_rows_per_person = 2.5"), ErrorCode::invalid_argument,
       "whole number"},
      {with("format = \"csv\"", "format = \"xls\""), ErrorCode::invalid_argument,
       "\"csv\", \"parquet\" or \"postgresql\""},
      {with("delimiter = \";\"", "delimiter = \";;\""), ErrorCode::invalid_argument,
       "one character"},
      {with("[table.people.column.age]", "[table.people.column.ID]"), ErrorCode::invalid_argument,
       "upper and lower case"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      parse_policy(refusal.text, "/data");
      ADD_FAILURE() << "accepted; expected: " << refusal.fragment;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), refusal.code) << error.what();
      EXPECT_NE(std::string(error.what()).find(refusal.fragment), std::string::npos)
          << "expected: " << refusal.fragment << "\ngave: " << error.what();
    }
  }
}

TEST(Policy, TheUnitNamesTheColumnsThatTellPeopleApart) {
  EXPECT_EQ(parse_policy(kGood, "/data").unit_in_words(), "one person (id)");
  const std::string column = "[table.t.column.k]\ntype = \"integer\"\n";
  const std::string head = "[table.t]\nsource = \"t.csv\"\nformat = \"csv\"\n";
  EXPECT_EQ(parse_policy(kGood + head + "public = true\n" + column, "/data").unit_in_words(),
            "one person (id)");
  EXPECT_EQ(
      parse_policy(kGood + head + "via = {column = \"k\", references = \"people.id\"}\n" + column,
                   "/data")
          .unit_in_words(),
      "one person (id)");
  EXPECT_EQ(
      parse_policy(kGood + head + "person_column = \"k\"\n" + column, "/data").unit_in_words(),
      "one person (id and k)");
}

// The engine would read other files through a pattern, whatever the file of that very name holds.
TEST(Policy, ASourceIsOneFile) {
  for (const std::string name :
       {"peopl?.csv", "*.csv", "people[1].csv", "p].csv", "{a,b}.csv", "a}.csv", "**/people.csv"}) {
    SCOPED_TRACE(name);
    try {
      parse_policy(with("\"people.csv\"", '"' + name + '"'), "/data");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("table.people.source"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("rename the file"), std::string::npos);
    }
  }
  EXPECT_THROW(parse_policy(kGood, "/data[1]"), Error);
  EXPECT_NO_THROW(parse_policy(kGood, "/data (1), it's new"));
}

TEST(Policy, MessagesNameTheLine) {
  try {
    parse_policy(with("delta = 1e-7", "delta = 7"), "/data");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("policy line 10: budget.delta"), std::string::npos)
        << error.what();
  }
}

TEST(Draft, ReadsBackWithOddNames) {
  Policy policy;
  policy.name = "odd \"set\"";
  policy.lineage = "l";
  policy.epsilon = Epsilon(1);
  policy.delta = Delta(1e-6);
  policy.ledger = "a\\b.ledger";
  Table table;
  table.name = "my table";
  table.source = "it's.csv";
  table.csv = {'\t', '\''};
  for (const char* name :
       {"plain", "with space", "quote\"d", "dotted.name", "naïve", "back\\slash"}) {
    table.columns.push_back({name, ColumnType::real, {}, {}, true, true});
  }
  policy.tables.push_back(table);
  const Policy back = parse_policy(draft_policy(policy), "/data");
  ASSERT_EQ(back.tables.size(), 1u);
  EXPECT_EQ(back.name, policy.name);
  EXPECT_EQ(back.ledger, policy.ledger);
  EXPECT_EQ(back.tables[0].source, table.source);
  EXPECT_EQ(back.tables[0].csv, table.csv);
  for (const Column& column : table.columns) {
    EXPECT_NE(back.tables[0].find_column(column.name, true), nullptr) << column.name;
  }
}

TEST(Draft, LeavesBoundsToTheOwner) {
  Policy policy;
  policy.name = policy.lineage = "p";
  policy.epsilon = Epsilon(1);
  policy.ledger = "p.ledger";
  Table table;
  table.name = "t";
  table.source = "t.csv";
  table.columns.push_back({"age", ColumnType::integer, {}, {}, true, true});
  policy.tables.push_back(table);
  const std::string text = draft_policy(policy);
  EXPECT_NE(text.find("# bounds = "), std::string::npos);
  EXPECT_FALSE(parse_policy(text, "/").tables[0].columns[0].bounds.has_value());
}

}  // namespace
}  // namespace shoal::catalog
