// Frequencies from randomized responses: golden variances, exact coverage (summed over all counts,
// nothing is sampled), and the edges where textbook bounds would miss.
#include "mechanism/mean_chance.hpp"
#include "support/golden.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/frequency.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

namespace shoal::mechanism {
namespace {

struct Chances {
  explicit Chances(const RandomizedResponse& spec)
      : keep(1 / (1 + static_cast<double>(spec.categories - 1) * std::exp(-spec.epsilon))),
        other(keep * std::exp(-spec.epsilon)) {}
  double keep;
  double other;
};

// How likely each count of reports of a category is if `members` of n people are in it.
std::vector<double> count_law(int n, int members, const Chances& chances) {
  std::vector<double> law = {1};
  for (int i = 0; i < n; ++i) {
    const double p = i < members ? chances.keep : chances.other;
    law.push_back(0);
    for (std::size_t c = law.size() - 1; c > 0; --c) law[c] = law[c] * (1 - p) + law[c - 1] * p;
    law[0] *= 1 - p;
  }
  return law;
}

std::vector<double> binomial_law(int n, double p) {
  return count_law(n, 0, [p] {
    Chances chances(RandomizedResponse{1, 2});
    chances.other = p;
    return chances;
  }());
}

// The chance that the frequency lies below the interval, and above it.
struct Misses {
  double below = 0;
  double above = 0;
};

Misses misses(const std::vector<double>& law, const std::vector<Estimate>& intervals,
              double frequency) {
  Misses sum;
  for (std::size_t c = 0; c < law.size(); ++c) {
    if (frequency < intervals[c].lower) sum.below += law[c];
    if (frequency > intervals[c].upper) sum.above += law[c];
  }
  return sum;
}

TEST(Frequency, VarianceMatchesIndependentValues) {
  for (const auto& row : test::read_golden("local")) {
    const RandomizedResponse spec{row[0], static_cast<std::uint64_t>(row[1])};
    EXPECT_NEAR(frequency_variance(spec, row[2], 1), row[3], 1e-12 * row[3]);
    EXPECT_NEAR(frequency_variance(spec, row[2], 1000), row[3] / 1000, 1e-15 * row[3]);
  }
}

TEST(Frequency, EstimateIsUnbiasedWithTheStatedVariance) {
  constexpr int kPeople = 12;
  for (const RandomizedResponse& spec : {RandomizedResponse{1, 2}, RandomizedResponse{0.3, 6}}) {
    for (int members = 0; members <= kPeople; ++members) {
      const std::vector<double> law = count_law(kPeople, members, Chances(spec));
      double mean = 0;
      double square = 0;
      for (std::size_t c = 0; c < law.size(); ++c) {
        const double value = unbiased_frequency(spec, static_cast<std::int64_t>(c), kPeople);
        mean += law[c] * value;
        square += law[c] * value * value;
      }
      const double frequency = static_cast<double>(members) / kPeople;
      EXPECT_NEAR(mean, frequency, 1e-11);
      EXPECT_NEAR(square - mean * mean, frequency_variance(spec, frequency, kPeople), 1e-10);
    }
  }
}

class Coverage : public testing::TestWithParam<RandomizedResponse> {};

TEST_P(Coverage, NeverBelowTheConfidence) {
  const RandomizedResponse spec = GetParam();
  const Chances chances(spec);
  for (const int n : {1, 2, 3, 7, 40}) {
    for (const double confidence : {0.5, 0.8, 0.899, 0.95, 0.99}) {
      std::vector<Estimate> intervals;
      for (int c = 0; c <= n; ++c) {
        intervals.push_back(frequency_interval(spec, c, n, Confidence(confidence)));
      }
      const double allowed = (1 - confidence) / 2 + 1e-12;
      for (int members = 0; members <= n; ++members) {
        const Misses sample =
            misses(count_law(n, members, chances), intervals, static_cast<double>(members) / n);
        EXPECT_LE(sample.below, allowed) << n << " " << members << " " << confidence;
        EXPECT_LE(sample.above, allowed) << n << " " << members << " " << confidence;
      }
      for (int i = 0; i <= 50; ++i) {
        const double frequency = i / 50.0;
        const double p = chances.other + frequency * (chances.keep - chances.other);
        const Misses population = misses(binomial_law(n, p), intervals, frequency);
        EXPECT_LE(population.below, allowed) << n << " " << frequency << " " << confidence;
        EXPECT_LE(population.above, allowed) << n << " " << frequency << " " << confidence;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, Coverage,
                         testing::Values(RandomizedResponse{0.1, 2}, RandomizedResponse{1, 2},
                                         RandomizedResponse{4, 2}, RandomizedResponse{1, 10},
                                         RandomizedResponse{4, 1000}, RandomizedResponse{6, 100000},
                                         RandomizedResponse{12, 3}));

TEST(Frequency, OneReportOfARareCategoryNeedsItsOwnBound) {
  // Two people, one of them in the category. Clopper and Pearson's bound for equal chances would
  // miss more often than it may, if only by a little; ours does not.
  const RandomizedResponse spec{4, 1000};
  const Chances chances(spec);
  const double mean = (chances.keep + chances.other) / 2;
  const std::vector<double> law = count_law(2, 1, chances);
  const double some = law[1] + law[2];
  const double miss = (some + 1 - (1 - mean) * (1 - mean)) / 2;  // between the two laws
  ASSERT_LT(miss, some);
  EXPECT_GT(numeric::chance_lower_bound(1, 2, miss), mean);  // so it misses with `some` > `miss`
  const Estimate ours = frequency_interval(spec, 1, 2, Confidence(1 - 2 * miss));
  EXPECT_LE(ours.lower, 0.5);
}

TEST(Frequency, IntervalIsAboutAsWideAsTheNormalOne) {
  const RandomizedResponse spec{1, 10};
  constexpr std::int64_t kReports = 1'000'000;
  const Chances chances(spec);
  const double share = chances.other + 0.2 * (chances.keep - chances.other);
  const auto count = static_cast<std::int64_t>(share * kReports);
  const Estimate interval = frequency_interval(spec, count, kReports, Confidence(0.95));
  EXPECT_NEAR(interval.value, 0.2, 1e-5);
  // The interval also has to cover a population, whose law is a little wider.
  const double gap = chances.keep - chances.other;
  const double expected = 2 * 1.959964 * std::sqrt(share * (1 - share) / kReports) / gap;
  EXPECT_NEAR((interval.upper - interval.lower) / expected, 1, 0.01);
}

TEST(MeanChance, BoundForVeryManyTrialsIsBelowTheExactOneAndNear) {
  for (const std::int64_t trials : {10'000, 1'000'000, 10'000'000}) {
    for (const double share : {0.01, 0.3, 0.999}) {
      for (const double miss : {0.25, 0.025, 1e-9}) {
        const auto successes = static_cast<std::int64_t>(share * static_cast<double>(trials));
        const double exact = numeric::chance_lower_bound(successes, trials, miss);
        const double bound = normal_chance_down(successes, trials, miss);
        EXPECT_LE(bound, exact) << trials << " " << share << " " << miss;
        EXPECT_LE(exact - bound, 2.0 / static_cast<double>(trials));  // about one success
      }
    }
  }
}

TEST(MeanChance, BoundsMeetWithoutAJumpWhereTheMethodChanges) {
  for (const std::int64_t trials : {10'000'000, 10'000'001}) {
    EXPECT_NEAR(mean_chance_down(2'000'000, trials, 0.025), 0.199752, 1e-6);
    EXPECT_NEAR(mean_chance_up(2'000'000, trials, 0.025), 0.200248, 1e-6);
  }
  EXPECT_EQ(mean_chance_down(0, INT64_MAX, 0.025), 0);
  EXPECT_EQ(mean_chance_up(INT64_MAX, INT64_MAX, 0.025), 1);
  EXPECT_GT(mean_chance_down(INT64_MAX, INT64_MAX, 0.025), 1 - 1e-15);
  EXPECT_NEAR(mean_chance_down(INT64_MAX / 2, INT64_MAX, 0.025), 0.5, 1e-9);
}

TEST(Frequency, IntervalsStayInsideAndInOrder) {
  EXPECT_TRUE(rc::check([] {
    const double epsilon = std::exp(static_cast<double>(*rc::gen::inRange(-3000, 690)) / 100.0);
    const RandomizedResponse spec{epsilon, *rc::gen::inRange<std::uint64_t>(2, kMaxCategories + 1)};
    const auto reports = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
    const auto count = *rc::gen::inRange<std::int64_t>(0, reports + 1);
    const Estimate interval = frequency_interval(spec, count, reports, Confidence(0.95));
    RC_ASSERT(0 <= interval.lower && interval.lower <= interval.upper && interval.upper <= 1);
    RC_ASSERT(std::isfinite(interval.value));
    if (interval.value >= 0 && interval.value <= 1 && reports > 10) {
      RC_ASSERT(interval.lower <= interval.value && interval.value <= interval.upper);
    }
  }));
}

TEST(Frequency, TheMapRoundsOutwards) {
  // One of four reports, and three of four, at confidence a half: the mean chance is bounded by
  // 1/16 and 15/16, and at epsilon 40 reports are all but truths.
  const RandomizedResponse spec{40, 2};
  EXPECT_LE(frequency_interval(spec, 1, 4, Confidence(0.5)).lower, 0.0625);
  EXPECT_GE(frequency_interval(spec, 3, 4, Confidence(0.5)).upper, 0.9375);
  // A single report at epsilon 3: 1/4 and 3/4, mapped in long double for comparison.
  const RandomizedResponse single{3, 2};
  const long double a = std::exp(-3.0L);
  const Estimate yes = frequency_interval(single, 1, 1, Confidence(0.5));
  const Estimate no = frequency_interval(single, 0, 1, Confidence(0.5));
  EXPECT_LE(static_cast<long double>(yes.lower), (0.25L * (1 + a) - a) / (1 - a));
  EXPECT_GE(static_cast<long double>(no.upper), (0.75L * (1 + a) - a) / (1 - a));
  EXPECT_NEAR(yes.lower + no.upper, 1, 1e-14);
}

TEST(Frequency, SimultaneousOnesAreBonferroniOnes) {
  const RandomizedResponse spec{1, 4};
  const std::vector<std::int64_t> counts = {40, 30, 20, 10};
  const std::vector<Estimate> all = frequency_intervals(spec, counts, Confidence(0.9));
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(all[i], frequency_interval(spec, counts[i], 100, simultaneous(Confidence(0.9), 4)));
    EXPECT_LT(all[i].lower, frequency_interval(spec, counts[i], 100, Confidence(0.9)).lower + 1e-9);
  }
}

TEST(Frequency, ConsistentOnesAreFrequencies) {
  EXPECT_TRUE(rc::check([] {
    const auto categories = *rc::gen::inRange<std::uint64_t>(2, 20);
    const RandomizedResponse spec{static_cast<double>(*rc::gen::inRange(1, 500)) / 100, categories};
    std::vector<std::int64_t> counts;
    for (std::uint64_t i = 0; i < categories; ++i) {
      counts.push_back(*rc::gen::inRange<std::int64_t>(i == 0 ? 1 : 0, 1000));
    }
    const std::vector<double> frequencies = consistent_frequencies(spec, counts);
    double sum = 0;
    for (const double frequency : frequencies) {
      RC_ASSERT(frequency >= 0);
      sum += frequency;
    }
    RC_ASSERT(std::fabs(sum - 1) < 1e-9);
  }));
}

TEST(Frequency, RefusesWhatCannotBeEstimated) {
  const RandomizedResponse spec{1, 3};
  const std::vector<std::int64_t> none = {0, 0, 0};
  const std::vector<std::int64_t> few = {1, 2};
  const std::vector<std::int64_t> negative = {1, -2, 3};
  const std::vector<std::int64_t> many = {INT64_MAX, 1, 1};
  EXPECT_THROW(frequency_intervals(spec, none, Confidence(0.95)), Error);
  EXPECT_THROW(frequency_intervals(spec, few, Confidence(0.95)), Error);
  EXPECT_THROW(frequency_intervals(spec, negative, Confidence(0.95)), Error);
  EXPECT_THROW(consistent_frequencies(spec, many), Error);
  EXPECT_THROW(frequency_interval(spec, 4, 3, Confidence(0.95)), Error);
  EXPECT_THROW(frequency_interval(spec, 1, 3, Confidence(0.4)), Error);
  EXPECT_THROW(frequency_variance(spec, 1.5, 3), Error);
  EXPECT_THROW(unbiased_frequency(spec, 1, 0), Error);
  try {
    unbiased_frequency(RandomizedResponse{0, 3}, 1, 3);
    FAIL() << "accepted epsilon 0";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("epsilon is 0"), std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::mechanism
