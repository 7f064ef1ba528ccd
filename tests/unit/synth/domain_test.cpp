// Domains: sizes from the policy, every value has a code, and a code gives back a value of its own.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"

#include <shoal/synth/domain.hpp>

#include <gtest/gtest.h>

#include <cmath>

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

// Digits that say nothing are not written: a bin of width 3.125 has three decimals, one of 31250
// tens. All values of a bin come out, and every text is that of a number of the bin.
TEST(DomainTest, RealsHaveAsFewDigitsAsTheirBinsNeed) {
  test::SeededSource bits(2);
  const auto column = [](double lower, double upper) {
    return DomainColumn{"x", catalog::ColumnType::real, {}, {lower, upper}, 32, false};
  };
  for (int draw = 0; draw < 2000; ++draw) {
    const auto code = static_cast<std::uint16_t>(draw % 32);
    const std::string small = *value_of_code(column(0, 100), code, bits);
    EXPECT_EQ(code_of_number(column(0, 100), std::stod(small)), code) << small;
    EXPECT_LE(small.size(), 6u) << small;
    const std::string large = *value_of_code(column(-5e5, 5e5), code, bits);
    EXPECT_EQ(code_of_number(column(-5e5, 5e5), std::stod(large)), code) << large;
    EXPECT_EQ(std::fmod(std::stod(large), 10), 0) << large;
  }
  // Where doubles are as coarse as the bins, or the bins have no width, values stay as drawn.
  for (const auto& narrow : {column(1e15, 1e15 + 1), column(-1e308, 1e308), column(1e-300, 2e-300)})
    for (std::uint16_t code = 0; code < 32; ++code)
      EXPECT_TRUE(std::isfinite(std::stod(*value_of_code(narrow, code, bits))));
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
