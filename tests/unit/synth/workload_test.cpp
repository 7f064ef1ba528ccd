// Workloads and what may be measured for them.
#include "support/ledger_requests.hpp"

#include <shoal/synth/workload.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal::synth {
namespace {

using data::AttributeSet;
using test::code_of;

TEST(WorkloadTest, AllMarginalsOfSoManyWays) {
  EXPECT_EQ(all_marginals(15, 3).size(), 455u);
  EXPECT_EQ(all_marginals(3, 3), (Workload{{AttributeSet(7), 1}}));
  const Workload with_target = all_marginals(5, 3, 2);
  EXPECT_EQ(with_target.size(), 6u);
  for (const WorkloadMarginal& one : with_target) EXPECT_TRUE(one.set.contains(2));
}

TEST(WorkloadTest, RefusesWhatCannotBe) {
  EXPECT_EQ(code_of([] { all_marginals(3, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { all_marginals(3, 4); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { all_marginals(3, 2, 3); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { all_marginals(64, 5); }), ErrorCode::invalid_argument);
  const std::vector<std::uint32_t> sizes = {2, 2};
  EXPECT_EQ(code_of([&] { validate({}, sizes); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { validate({{AttributeSet(), 1}}, sizes); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { validate({{AttributeSet(4), 1}}, sizes); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { validate({{AttributeSet(1), 0}}, sizes); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              validate({{AttributeSet(1), 1}, {AttributeSet(1), 2}}, sizes);
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              validate({{AttributeSet(3), 1}, {AttributeSet(1), 2}}, sizes);
            }),
            std::nullopt);
}

TEST(WorkloadTest, ClosureWeighsWhatASetSharesWithTheWorkload) {
  const Workload workload = {{AttributeSet::of({0, 1, 2}), 2}, {AttributeSet::of({2, 3}), 5}};
  const std::vector<Candidate> candidates = downward_closure(workload);
  EXPECT_EQ(candidates.size(), 7u + 2u);
  const auto weight = [&](AttributeSet set) {
    return std::find_if(candidates.begin(), candidates.end(),
                        [&](const Candidate& one) { return one.set == set; })
        ->weight;
  };
  EXPECT_EQ(weight(AttributeSet::of({2})), 2 + 5);
  EXPECT_EQ(weight(AttributeSet::of({0, 1, 2})), 3 * 2 + 5);
  EXPECT_EQ(weight(AttributeSet::of({2, 3})), 2 + 2 * 5);
}

// 2^40 marginals within one: refused at once, with how many there are.
TEST(WorkloadTest, AClosureThatIsTooLargeIsNotBuilt) {
  try {
    downward_closure(all_marginals(40, 40));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("1099511627775"), std::string::npos) << error.what();
  }
  EXPECT_EQ(code_of([] { downward_closure(all_marginals(64, 64)); }), ErrorCode::invalid_argument);
}

// Comparing every set with all of the workload would be ten billion steps here.
TEST(WorkloadTest, AClosureOfManyMarginalsIsWeighedColumnByColumn) {
  const Workload workload = all_marginals(40, 4);
  const std::vector<Candidate> candidates = downward_closure(workload);
  EXPECT_EQ(candidates.size(), 40u + 780 + 9880 + 91390);
  EXPECT_TRUE(std::is_sorted(candidates.begin(), candidates.end(),
                             [](const auto& a, const auto& b) { return a.set < b.set; }));
  for (std::size_t i = 0; i < candidates.size(); i += 9999) {
    std::int64_t weight = 0;
    for (const WorkloadMarginal& one : workload)
      weight += static_cast<std::int64_t>((one.set & candidates[i].set).size());
    EXPECT_EQ(candidates[i].weight, weight);
  }
}

}  // namespace
}  // namespace shoal::synth
