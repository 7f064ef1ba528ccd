// Rows as codes: values by the public rules, one row a unit, and neighbours that stay neighbours
// under padding and cutting.
#include "release/marginal_tables_key.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/file.hpp>
#include <shoal/data/marginal_tables.hpp>
#include <shoal/engine/duckdb_engine.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

namespace shoal::engine {
namespace {

using catalog::ColumnType;
using Counts = std::vector<std::int64_t>;

class CodedRowsTest : public testing::Test {
 protected:
  // The counts of all columns together, in the order of the request.
  Counts count(const std::string& text, const CodeRequest& request) {
    write_file_durably(folder_.path() / "t.csv", text, IfExists::replace);
    catalog::Table table;
    table.name = "t";
    table.source = "t.csv";
    table.columns = {{"who", ColumnType::text, {}, {}},
                     {"x", ColumnType::real, {}, {}},
                     {"c", ColumnType::text, {}, {}},
                     {"k", ColumnType::integer, {}, {}},
                     {"b", ColumnType::boolean, {}, {}}};
    policy_.folder = folder_.path();
    DuckdbEngine engine = test::settled_engine(policy_, table);
    const data::CodedTable coded = engine.coded_rows(request, OwnerLog(folder_.path() / "log"));
    data::AttributeSet all;
    for (std::size_t j = 0; j < request.columns.size(); ++j)
      all = all | data::AttributeSet::single(j);
    const data::MarginalTables tables = count_marginals(coded, {&all, 1}, 2);
    return release::MarginalTablesKey::counts(tables, 0);
  }

  static data::CodedColumn number(const std::string& name, ColumnType type, double upper,
                                  std::uint32_t bins, bool nulls) {
    return {name, type, {}, {0, upper}, bins, nulls};
  }

  test::TemporaryFolder folder_;
  catalog::Policy policy_;
};

TEST_F(CodedRowsTest, ValuesFollowThePublicRules) {
  const std::string text =
      "who,x,c,k,b\na,1.5,blue,7,true\nb,nan,green,8,false\nc,abc,,9,\nd,inf,red,x,true\n"
      "e,-inf,red,-4,1\n";
  CodeRequest request;
  request.columns = {number("x", ColumnType::real, 4, 4, true)};
  EXPECT_EQ(count(text, request), (Counts{1, 1, 0, 1, 2}));  // NaN and what is no number are NULL
  request.columns = {number("x", ColumnType::real, 4, 4, false)};
  EXPECT_EQ(count(text, request), (Counts{1, 1, 2, 1}));  // the middle stands in
  request.columns = {{"c", ColumnType::text, {"red", "blue"}, {0, 1}, 0, true}};
  EXPECT_EQ(count(text, request), (Counts{2, 1, 2}));
  request.columns = {{"c", ColumnType::text, {"red", "blue"}, {0, 1}, 0, false}};
  EXPECT_EQ(count(text, request), (Counts{4, 1}));
  request.columns = {number("k", ColumnType::integer, 10, 5, true)};
  EXPECT_EQ(count(text, request), (Counts{1, 0, 0, 1, 2, 1}));
  request.columns = {{"b", ColumnType::boolean, {"false", "true"}, {0, 1}, 0, true}};
  EXPECT_EQ(count(text, request), (Counts{1, 3, 1}));
}

TEST_F(CodedRowsTest, ManyRowsComeChunkByChunk) {
  std::string text = "who,x,c,k,b\n";
  for (int i = 0; i < 10'000; ++i) text += fmt::format("p,{},red,{},true\n", i % 4, i % 3);
  CodeRequest request;
  request.columns = {number("x", ColumnType::real, 4, 4, false),
                     number("k", ColumnType::integer, 3, 3, false)};
  const Counts counts = count(text, request);
  ASSERT_EQ(counts.size(), 12u);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 10'000);
  for (const std::int64_t one : counts) EXPECT_NEAR(static_cast<double>(one), 10'000 / 12.0, 1);
}

// How far two multisets of rows are apart: as many rows out as in.
std::int64_t exchanged(const Counts& a, const Counts& b) {
  std::int64_t more = 0;
  std::int64_t less = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    more += std::max<std::int64_t>(0, a[i] - b[i]);
    less += std::max<std::int64_t>(0, b[i] - a[i]);
  }
  EXPECT_EQ(more, less);
  return more;
}

// Whoever comes, goes or is exchanged: at most one row of the padded or cut table is another.
TEST_F(CodedRowsTest, NeighboursOfAPublicSizeExchangeOneRowAtMost) {
  const auto table = [](const std::vector<std::string>& people) {
    std::string text = "who,x,c,k,b\n";
    for (std::size_t i = 0; i < people.size(); ++i) {
      if (people[i] == "-") continue;
      for (const char value : people[i]) text += fmt::format("p{},{},red,1,true\n", i, value);
    }
    return text;
  };
  CodeRequest request;
  request.columns = {number("x", ColumnType::real, 8, 8, true)};
  request.hash_key = {17, 23};
  for (const char* unit : {"", "who"}) {
    request.person_column = unit;
    // A person has several rows only where persons are the unit.
    const std::vector<std::string> people = *unit == '\0'
                                                ? std::vector<std::string>{"1", "2", "3", "4"}
                                                : std::vector<std::string>{"12", "3", "345", "6"};
    for (const std::size_t rows : {3u, 6u}) {
      request.rows = rows;
      const Counts before = count(table(people), request);
      EXPECT_EQ(std::accumulate(before.begin(), before.end(), std::int64_t{0}),
                static_cast<std::int64_t>(rows));
      for (std::size_t i = 0; i <= people.size(); ++i) {
        for (const char* other : {"-", "7"}) {
          std::vector<std::string> changed = people;
          if (i == people.size()) {
            changed.emplace_back(other);
          } else {
            changed[i] = other;
          }
          EXPECT_LE(exchanged(before, count(table(changed), request)), 1) << rows << " " << i;
        }
      }
    }
  }
}

// The engine reads with several threads and keeps no order: which rows are cut off is a function of
// the rows.
TEST_F(CodedRowsTest, WhichRowsAreCutOffIsNotAMatterOfTheirOrder) {
  std::string text = "who,x,c,k,b\n";
  std::string reversed = text;
  constexpr int kRows = 50'000;
  for (int i = 0; i < kRows; ++i) {
    text += fmt::format("p,{},red,{},true\n", i % 997, i % 8);
    reversed += fmt::format("p,{},red,{},true\n", (kRows - 1 - i) % 997, (kRows - 1 - i) % 8);
  }
  CodeRequest request;
  request.columns = {number("x", ColumnType::real, 1000, 1000, false),
                     number("k", ColumnType::integer, 8, 8, false)};
  request.hash_key = {3, 4};
  request.rows = 2000;
  const Counts before = count(text, request);
  EXPECT_EQ(count(reversed, request), before);
  text.insert(text.find('\n') + 1, "q,998,red,7,true\n");
  EXPECT_LE(exchanged(before, count(text, request)), 1);
}

// Which row of a person counts depends on her rows alone.
TEST_F(CodedRowsTest, OneRowAPersonWhoeverElseIsThere) {
  CodeRequest request;
  request.columns = {number("x", ColumnType::real, 64, 64, true)};
  request.person_column = "who";
  request.hash_key = {5, 6};
  std::vector<std::string> lines;
  for (int person = 0; person < 15; ++person) {
    for (int i = 0; i < 4; ++i)
      lines.push_back(fmt::format("p{},{},red,1,true\n", person, person * 4 + i));
  }
  std::string all = "who,x,c,k,b\n,63,red,1,true\n";
  for (const std::string& line : lines) all += line;
  const Counts before = count(all, request);
  EXPECT_EQ(before[63], 0);  // nobody's row
  for (int person = 0; person < 15; ++person) {
    EXPECT_EQ(std::accumulate(before.begin() + person * 4, before.begin() + person * 4 + 4,
                              std::int64_t{0}),
              1);
  }
  std::string less = "who,x,c,k,b\n";
  for (std::size_t i = lines.size(); i-- > 4;) less += lines[i];
  Counts after = count(less, request);
  for (std::size_t cell = 0; cell < 4; ++cell) after[cell] += before[cell];
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace shoal::engine
