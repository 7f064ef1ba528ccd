// Domains: sizes from the policy, every value has a code, and a code gives back a value of its own.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"

#include <shoal/synth/domain.hpp>

#include <gtest/gtest.h>

namespace shoal::synth {
namespace {

using catalog::ColumnType;
using test::code_of;

catalog::Table table() {
  catalog::Table made;
  made.name = "people";
  catalog::Column city{"city", ColumnType::text, std::nullopt, {"Rome", "Oslo"}};
  catalog::Column age{"age", ColumnType::integer, catalog::Bounds{0, 99}, {}};
  age.nulls = false;
  catalog::Column children{"children", ColumnType::integer, catalog::Bounds{0, 9}, {}};
  catalog::Column income{"income", ColumnType::real, catalog::Bounds{-100, 100}, {}};
  catalog::Column married{"married", ColumnType::boolean, std::nullopt, {}};
  catalog::Column secret{"secret", ColumnType::text, std::nullopt, {}};
  secret.queryable = false;
  made.columns = {city, age, children, income, married, secret};
  return made;
}

TEST(DomainTest, SizesComeFromListsAndBounds) {
  const Domain domain = make_domain(table(), {}, 32);
  EXPECT_EQ(sizes_of(domain), (std::vector<std::uint32_t>{3, 32, 11, 33, 3}));
  EXPECT_EQ(domain[3].name, "income");
  const std::vector<std::string> two = {"married", "city"};
  EXPECT_EQ(sizes_of(make_domain(table(), two, 32)), (std::vector<std::uint32_t>{3, 3}));
}

TEST(DomainTest, RefusesWhatThePolicyDoesNotBound) {
  const std::vector<std::string> unknown = {"cty"};
  try {
    make_domain(table(), unknown, 32);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("did you mean city?"), std::string::npos);
  }
  const std::vector<std::string> hidden = {"secret"};
  EXPECT_EQ(code_of([&] { make_domain(table(), hidden, 32); }), ErrorCode::not_found);
  catalog::Table open = table();
  open.columns.back().queryable = true;
  EXPECT_EQ(code_of([&] { make_domain(open, {}, 32); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { make_domain(table(), {}, 0); }), ErrorCode::invalid_argument);
}

TEST(DomainTest, CodesGiveBackValuesOfTheirOwn) {
  test::SeededSource bits(1);
  for (const DomainColumn& column : make_domain(table(), {}, 32)) {
    for (std::uint32_t code = 0; code < column.size(); ++code) {
      for (int draw = 0; draw < 20; ++draw) {
        const auto value = value_of_code(column, static_cast<std::uint16_t>(code), bits);
        const std::uint16_t again =
            column.categories.empty()
                ? code_of_number(column, value ? std::optional(std::stod(*value)) : std::nullopt)
                : data::CategoryCodes(column).of(value);
        EXPECT_EQ(again, code) << column.name;
      }
    }
  }
}

TEST(DomainTest, EveryIntegerHasABinAndOutliersFallInTheOutermost) {
  const Domain domain = make_domain(table(), {}, 32);
  std::uint16_t before = 0;
  for (int age = 0; age < 100; ++age) {
    const std::uint16_t code = code_of_number(domain[1], age);
    EXPECT_TRUE(code == before || code == before + 1) << age;
    before = code;
  }
  EXPECT_EQ(before, 31);
  EXPECT_EQ(code_of_number(domain[1], -5), 0);
  EXPECT_EQ(code_of_number(domain[1], 1e300), 31);
  EXPECT_EQ(code_of_number(domain[1], std::nullopt), 16);
  EXPECT_EQ(code_of_number(domain[3], std::nullopt), 32);
  EXPECT_EQ(data::CategoryCodes(domain[0]).of("Paris"), 2);
}

}  // namespace
}  // namespace shoal::synth
