// The empirical bound: valid for a known pair, close to it with enough draws, and silent when it
// knows nothing.
#include "support/seeded_source.hpp"

#include <shoal/audit/empirical.hpp>
#include <shoal/base/error.hpp>
#include <shoal/random/bernoulli.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::audit {
namespace {

// Randomised response: keeps the bit with probability 3/4, so epsilon is exactly log 3.
std::vector<Int128> responses(bool truth, int count, random::BitSource& bits) {
  std::vector<Int128> values;
  for (int i = 0; i < count; ++i) values.push_back(random::bernoulli(3, 4, bits) == truth ? 1 : 0);
  return values;
}

TEST(Empirical, BoundsRandomisedResponseFromBelowAndClosely) {
  test::SeededSource bits(50);
  const auto first = responses(false, 100000, bits);
  const auto second = responses(true, 100000, bits);
  const EmpiricalBound bound = empirical_epsilon(first, second, Delta(0), Confidence(0.999));
  EXPECT_LE(bound.epsilon, std::log(3.0));
  EXPECT_GE(bound.epsilon, std::log(3.0) - 0.06);
  EXPECT_EQ(bound.confidence, 0.999);
}

TEST(Empirical, MissesNoMoreOftenThanItsConfidenceSays) {
  // 2000 bounds at confidence 0.9: 200 misses are allowed on average; above 290 (6.7 standard
  // deviations) with a chance below 1e-10. Seeded.
  test::SeededSource bits(51);
  int misses = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto first = responses(false, 200, bits);
    const auto second = responses(true, 200, bits);
    const EmpiricalBound bound = empirical_epsilon(first, second, Delta(0), Confidence(0.9));
    misses += bound.epsilon > std::log(3.0) ? 1 : 0;
  }
  EXPECT_LE(misses, 290);
}

TEST(Empirical, DeltaIsTakenOff) {
  test::SeededSource bits(52);
  const auto first = responses(false, 100000, bits);
  const auto second = responses(true, 100000, bits);
  // 3/4 <= e^epsilon / 4 + 1/2 has epsilon 0.
  const EmpiricalBound bound = empirical_epsilon(first, second, Delta(0.5), Confidence(0.999));
  EXPECT_EQ(bound.epsilon, 0);
}

TEST(Empirical, EqualSamplesSayNothing) {
  const std::vector<Int128> same(1000, 7);
  EXPECT_EQ(empirical_epsilon(same, same, Delta(0), Confidence(0.99)).epsilon, 0);
}

TEST(Empirical, SeparateSamplesSayMuchAndNameTheEvent) {
  const std::vector<Int128> low(10000, -3);
  const std::vector<Int128> high(10000, 5);
  const EmpiricalBound bound = empirical_epsilon(low, high, Delta(0), Confidence(0.99));
  EXPECT_GT(bound.epsilon, 6);
  EXPECT_NE(describe(bound).find("at confidence 0.99, from x"), std::string::npos);
}

TEST(Empirical, RefusesTooFewDraws) {
  const std::vector<Int128> few(3, 0);
  EXPECT_THROW(empirical_epsilon(few, few, Delta(0), Confidence(0.9)), Error);
}

}  // namespace
}  // namespace shoal::audit
