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

}  // namespace
}  // namespace shoal::synth
