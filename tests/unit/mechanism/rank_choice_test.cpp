// Choices by rank: errors against counting, chances against the definition on every first word, and
// the path that is otherwise all but never taken.
#include "mechanism/rank_choice.hpp"

#include "support/rank_laws.hpp"
#include "support/scripted_source.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>

namespace shoal::mechanism {
namespace {

using test::Histogram;

constexpr std::int64_t kLower = -3;

StepRange range_of(const Histogram& histogram) {
  return {kLower, kLower + static_cast<std::int64_t>(histogram.size()) - 1};
}

std::vector<double> errors_by_step(const Histogram& histogram, const TargetRank& target) {
  std::vector<double> errors;
  for (const RankRun& run :
       rank_runs(test::leaves_of(histogram, kLower), range_of(histogram), target).near) {
    EXPECT_EQ(run.first, kLower + static_cast<std::int64_t>(errors.size()));
    for (std::int64_t i = 0; i < run.length; ++i) {
      errors.push_back(static_cast<double>(run.error) / static_cast<double>(target.denominator));
    }
  }
  EXPECT_EQ(errors.size(), histogram.size());
  return errors;
}

std::vector<Histogram> histograms() {
  std::vector<Histogram> list = {{0}, {5}, {0, 0, 0}, {0, 0, 7, 0, 0}, {1, 1, 1, 1}, {9, 0, 0, 1}};
  test::SeededSource bits(300);
  for (int i = 0; i < 60; ++i) {
    Histogram& histogram = list.emplace_back(1 + bits.next_bits(4));
    for (std::int64_t& count : histogram) {
      if (bits.next_bit()) count = static_cast<std::int64_t>(bits.next_bits(3));
    }
  }
  return list;
}

TEST(RankRuns, HaveTheErrorsThatCountingGives) {
  for (const Histogram& histogram : histograms()) {
    const std::int64_t total = test::total_of(histogram);
    for (const auto& [low, high] : {std::pair(0, 0), {4, 0}, {0, 3}, {2, 5}}) {
      Histogram with_more = histogram;
      with_more.front() += low;
      with_more.back() += high;
      for (const std::int64_t numerator : {0, 1, 3, 7}) {
        const TargetRank target{static_cast<Int128>(numerator) * (total + low + high), 7, low,
                                high};
        const std::vector<double> errors = errors_by_step(histogram, target);
        const double rank = static_cast<double>(numerator * (total + low + high)) / 7;
        for (std::size_t step = 0; step < errors.size(); ++step) {
          ASSERT_NEAR(errors[step], test::rank_error_of(with_more, step, rank), 1e-9);
        }
        ASSERT_EQ(*std::min_element(errors.begin(), errors.end()), 0);
      }
    }
  }
}

// Sums of chances over the steps of each run.
std::vector<double> run_law(const RankRuns& runs, std::int64_t denominator, double scale) {
  std::vector<double> errors;
  for (const RankRun& run : runs.near) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      errors.push_back(static_cast<double>(run.error) / static_cast<double>(denominator));
    }
  }
  const std::vector<double> steps = test::choice_law(errors, scale);
  std::vector<double> law;
  std::size_t next = 0;
  for (const RankRun& run : runs.near) {
    double sum = 0;
    for (std::int64_t i = 0; i < run.length; ++i) sum += steps[next++];
    law.push_back(sum);
  }
  return law;
}

std::size_t index_of(const RankRuns& runs, const RankRun& run) {
  std::size_t index = 0;
  while (runs.near[index].first != run.first) ++index;
  return index;
}

std::vector<bool> word_bits(std::uint64_t word, int width) {
  std::vector<bool> bits;
  for (int i = width - 1; i >= 0; --i) bits.push_back(((word >> i) & 1) != 0);
  return bits;
}

// Every word of 10 bits: no run gets more than its chance from those that decide, and none is out
// of reach of it. No sampling error.
TEST(RankChoice, DecidesOnEveryWordAsTheChancesSay) {
  constexpr int kWidth = 10;
  for (const Histogram& histogram : histograms()) {
    const TargetRank target{static_cast<Int128>(test::total_of(histogram)) * 2, 5};
    const auto runs = rank_runs(test::leaves_of(histogram, kLower), range_of(histogram), target);
    for (const double scale : {0.25, 1.7, 40.0}) {
      std::vector<double> decided(runs.near.size(), 0.0);
      double undecided = 0;
      for (std::uint64_t word = 0; word < 1u << kWidth; ++word) {
        test::ScriptedSource source(word_bits(word, kWidth));
        try {
          decided[index_of(runs, choose_run(runs, 5, scale, source, kWidth))] +=
              1.0 / (1 << kWidth);
        } catch (const test::ScriptExhausted&) {
          undecided += 1.0 / (1 << kWidth);
        }
      }
      const std::vector<double> law = run_law(runs, 5, scale);
      for (std::size_t i = 0; i < law.size(); ++i) {
        ASSERT_LE(decided[i], law[i] + 1e-12);
        ASSERT_GE(decided[i] + undecided, law[i] - 1e-12);
      }
      ASSERT_LE(undecided, static_cast<double>(runs.near.size()) / (1 << kWidth));
    }
  }
}

// 3 widths, each with false-alarm probability 1e-6.
TEST(RankChoice, HasTheSameLawWhateverTheFirstLookDecides) {
  const Histogram histogram = {0, 2, 0, 0, 3, 1, 0, 0, 0, 4, 0};
  const TargetRank target{static_cast<Int128>(test::total_of(histogram)), 3};
  const auto runs = rank_runs(test::leaves_of(histogram, kLower), range_of(histogram), target);
  const std::vector<double> law = run_law(runs, 3, 1.5);
  for (const int width : {1, 3, 64}) {
    test::SeededSource bits(310 + static_cast<std::uint64_t>(width));
    const int draws = width == 64 ? 20000 : 2000;
    std::vector<double> counts(runs.near.size(), 0.0);
    for (int i = 0; i < draws; ++i)
      counts[index_of(runs, choose_run(runs, 3, 1.5, bits, width))] += 1;
    double statistic = 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
      statistic += (counts[i] - draws * law[i]) * (counts[i] - draws * law[i]) / (draws * law[i]);
    }
    EXPECT_GT(numeric::chi_square_tail(statistic, static_cast<int>(law.size()) - 1), 1e-6) << width;
  }
}

// Scripted words: the first step that is near, the last, and words so low or high that they point
// beyond, where all steps are looked at.
TEST(RankChoice, FarStepsAreLookedAtIfTheWordPointsThere) {
  Histogram histogram(41, 10);
  const auto leaves = test::leaves_of(histogram, kLower);
  const TargetRank target{205, 1};
  const RankRuns near = rank_runs(leaves, range_of(histogram), target, 60);
  EXPECT_EQ(near.before, 14);
  EXPECT_EQ(near.after, 14);
  EXPECT_EQ(near.near.size(), 13u);
  EXPECT_EQ(near.near.front().first, kLower + 14);
  const auto chosen = [&](std::uint64_t word, std::uint64_t more) {
    std::vector<bool> script = word_bits(word, 64);
    const std::vector<bool> rest = word_bits(more, 64);
    for (int i = 0; i < 8; ++i) script.insert(script.end(), rest.begin(), rest.end());
    test::ScriptedSource source(script);
    return choose_step(leaves, range_of(histogram), target, 0.5, source) - kLower;
  };
  // 10 values a step, scale 1/2: each step further has e^-20 of the chance.
  EXPECT_EQ(chosen(std::uint64_t{1} << 63, 0), 20);
  EXPECT_EQ(chosen(~std::uint64_t{0}, ~std::uint64_t{0}), 40);
  EXPECT_EQ(chosen(0, 0), 0);
  EXPECT_EQ(chosen(0, ~std::uint64_t{0}), 18);  // 2^-64 is e^-44.4, between two and three steps
}

// 12 values on one step; all others are off by 6 scales, and together likelier. False-alarm
// probability 2e-6.
TEST(RankChoice, ChoosesFarStepsAsOftenAsItShould) {
  const std::vector<LeafCount> leaves = {{1000, 12}};
  test::SeededSource bits(315);
  constexpr int kDraws = 5000;
  int hits = 0;
  for (int i = 0; i < kDraws; ++i) {
    hits += choose_step(leaves, {0, 1999}, {6, 1}, 1, bits) == 1000 ? 1 : 0;
  }
  const double chance = 1 / (1 + 1999 * std::exp(-6.0));
  EXPECT_LE(numeric::chance_lower_bound(hits, kDraws, 1e-6), chance);
  EXPECT_GE(numeric::chance_upper_bound(hits, kDraws, 1e-6), chance);
}

// False-alarm probability 1e-6.
TEST(RankChoice, IsUniformWithinARun) {
  const Histogram histogram(16, 0);
  ASSERT_EQ(rank_runs({}, range_of(histogram), {0, 2}).near.size(), 1u);
  test::SeededSource bits(320);
  std::vector<double> counts(16, 0.0);
  for (int i = 0; i < 16000; ++i) {
    counts[static_cast<std::size_t>(choose_step({}, range_of(histogram), {0, 2}, 1, bits) -
                                    kLower)] += 1;
  }
  double statistic = 0;
  for (const double count : counts) statistic += (count - 1000) * (count - 1000) / 1000;
  EXPECT_GT(numeric::chi_square_tail(statistic, 15), 1e-6);
}

TEST(RankChoice, TakesTheLargestNumbers) {
  const std::int64_t half = (std::int64_t{1} << 61) - 1;
  const std::vector<LeafCount> leaves = {{0, half}, {65535, half}};
  const StepRange range{0, 65536};
  const TargetRank target{static_cast<Int128>(half) * 2 * 499999, 1000000, 1 << 20, 0};
  const auto runs = rank_runs(leaves, range, target);
  test::SeededSource bits(330);
  for (const double scale : {0x1p-10, 1.0, 0x1p50}) {
    const std::int64_t step = choose_step(leaves, range, target, scale, bits);
    if (scale > 1) continue;  // 2^50 values: any step may come
    EXPECT_EQ(step, 0);       // the ranks of all others are off by 2^42
    EXPECT_EQ(choose_run(runs, 1000000, scale, bits, 2).first, 0);
  }
}

TEST(RankChoice, RefusesMalformedHistograms) {
  const StepRange range{0, 10};
  for (const std::vector<LeafCount>& leaves : std::vector<std::vector<LeafCount>>{
           {{3, 1}, {3, 1}},
           {{4, 1}, {3, 1}},
           {{-1, 1}},
           {{11, 1}},
           {{3, 0}},
           {{3, -1}},
           {{3, std::int64_t{1} << 61}, {4, std::int64_t{1} << 61}}}) {
    EXPECT_THROW(checked_total(leaves, range), Error);
  }
  EXPECT_EQ(checked_total(std::vector<LeafCount>{{0, 2}, {10, 3}}, range), 5);
  EXPECT_THROW(leaf_count({1, 0}), Error);
  EXPECT_THROW(leaf_count({0, 65537}), Error);
  EXPECT_THROW(leaf_count({INT64_MIN, INT64_MAX}), Error);
  EXPECT_EQ(leaf_count({0, 65536}), 65537);
}

}  // namespace
}  // namespace shoal::mechanism
