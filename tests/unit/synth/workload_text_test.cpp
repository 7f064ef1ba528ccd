// Workloads as text.
#include "support/ledger_requests.hpp"

#include <shoal/synth/workload_text.hpp>

#include <gtest/gtest.h>

namespace shoal::synth {
namespace {

using data::AttributeSet;

const std::vector<std::string> kNames = {"age", "sex", "income", "city"};

TEST(WorkloadTextTest, AllOfSoManyColumns) {
  EXPECT_EQ(parse_workload("all-3way", kNames), all_marginals(4, 3));
  EXPECT_EQ(parse_workload("all-1way", kNames), all_marginals(4, 1));
  EXPECT_EQ(parse_workload("all-2way:income", kNames), all_marginals(4, 2, 2));
}

TEST(WorkloadTextTest, Lists) {
  EXPECT_EQ(parse_workload("age*sex,city=5,income*age*city", kNames),
            (Workload{{AttributeSet(3), 1}, {AttributeSet(8), 5}, {AttributeSet(13), 1}}));
}

TEST(WorkloadTextTest, SpacesDoNotCount) {
  EXPECT_EQ(parse_workload(" age * sex , city = 5,income*age *city ", kNames),
            parse_workload("age*sex,city=5,income*age*city", kNames));
  EXPECT_EQ(parse_workload(" all-2way : income ", kNames), all_marginals(4, 2, 2));
}

TEST(WorkloadTextTest, RangesAreListedBesideMarginals) {
  const WorkloadRequest request = parse_request("age*sex, prefix:income,ranges: age", kNames);
  EXPECT_EQ(request.marginals, (Workload{{AttributeSet(3), 1}}));
  EXPECT_EQ(request.ranges, (std::vector<RangeFamily>{{2, true}, {0, false}}));
  EXPECT_TRUE(parse_request("prefix:age", kNames).marginals.empty());
  for (const char* text : {"prefix:age,prefix:age", "prefix:age=2", "ranges:"})
    EXPECT_TRUE(test::code_of([&] { parse_request(text, kNames); })) << text;
  EXPECT_EQ(test::code_of([] { parse_workload("prefix:age", kNames); }),
            ErrorCode::invalid_argument);
}

TEST(WorkloadTextTest, MoreWaysThanColumnsAreNamed) {
  try {
    parse_workload("all-5way", kNames);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the workload asks for marginals of 5 columns each, and 4 are synthesised: give "
                 "from 1 way to as many as there are");
  }
}

TEST(WorkloadTextTest, RefusesTheRest) {
  for (const char* text : {"all-5way", "age*sex,", "", "age=x", "age=", "*"})
    EXPECT_EQ(test::code_of([&] { parse_workload(text, kNames); }), ErrorCode::invalid_argument)
        << text;
  try {
    parse_workload("age*incom", kNames);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(std::string(error.what()).find("did you mean income?"), std::string::npos);
  }
  EXPECT_EQ(test::code_of([] { parse_workload("all-2way:x", kNames); }), ErrorCode::not_found);
  EXPECT_EQ(test::code_of([] { parse_workload("all-0way", kNames); }), ErrorCode::not_found);
}

}  // namespace
}  // namespace shoal::synth
