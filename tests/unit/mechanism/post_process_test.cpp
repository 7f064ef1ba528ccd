// Post-processing: truths that satisfy the assumption stay covered, values satisfy it, and known
// answers of the projections.
#include <shoal/base/error.hpp>
#include <shoal/mechanism/post_process.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace shoal::mechanism {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool covers(const Estimate& estimate, double truth) {
  return estimate.lower <= truth && truth <= estimate.upper;
}

// Numbers such as a double holds exactly, so that sums of truths are what they are said to be.
double any_number() { return static_cast<double>(*rc::gen::inRange(-4000, 4000)) / 64; }

double any_width() {
  return *rc::gen::inRange(0, 10) == 0 ? kInfinity
                                       : static_cast<double>(*rc::gen::inRange(0, 3000)) / 64;
}

// An interval that covers the truth, around a value that need not.
Estimate any_around(double truth) {
  const double below = any_width();
  const double above = any_width();
  return {any_number(), truth - below, truth + above};
}

std::vector<double> any_weights(std::size_t count) {
  std::vector<double> weights;
  if (*rc::gen::inRange(0, 3) == 0) return weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(static_cast<double>(*rc::gen::inRange(1, 1000)) / 100);
  }
  return weights;
}

struct Case {
  std::vector<double> truths;
  std::vector<Estimate> estimates;
  std::vector<double> weights;
};

Case any_case(double (*truth)()) {
  Case result;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) result.truths.push_back(truth());
  result.weights = any_weights(result.truths.size());
  return result;
}

void surround(Case& one) {
  for (const double truth : one.truths) one.estimates.push_back(any_around(truth));
}

void assert_covered_and_no_wider(const Case& given, const std::vector<Estimate>& result) {
  RC_ASSERT(result.size() == given.truths.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    RC_ASSERT(covers(result[i], given.truths[i]));
    RC_ASSERT(result[i].lower >= given.estimates[i].lower);
    RC_ASSERT(result[i].upper <= given.estimates[i].upper);
  }
}

double sum_of_values(const std::vector<Estimate>& estimates) {
  double sum = 0;
  for (const Estimate& estimate : estimates) sum += estimate.value;
  return sum;
}

TEST(PostProcess, SimultaneousDividesTheMisses) {
  EXPECT_EQ(simultaneous(Confidence(0.95), 1), Confidence(0.95));
  EXPECT_NEAR(simultaneous(Confidence(0.95), 10).value(), 0.995, 1e-15);
  EXPECT_TRUE(rc::check([] {
    const double confidence = static_cast<double>(*rc::gen::inRange(1, 1000)) / 1000;
    const auto count = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
    const long double each = simultaneous(Confidence(confidence), count).value();
    RC_ASSERT((1 - each) * static_cast<long double>(count) <=
              1 - static_cast<long double>(confidence));
  }));
  EXPECT_THROW(simultaneous(Confidence(0.95), 0), Error);
  EXPECT_THROW(simultaneous(Confidence(0.95), std::int64_t{1} << 62), Error);
}

TEST(PostProcess, ClampKeepsTruthsInsideTheBounds) {
  EXPECT_TRUE(rc::check([] {
    const double truth = any_number();
    const double low = truth - any_width();
    const double high = truth + any_width();
    const Estimate given = any_around(truth);
    const Estimate result = clamp(given, low, high);
    RC_ASSERT(covers(result, truth));
    RC_ASSERT(result.value >= low && result.value <= high);
    RC_ASSERT(result.lower >= given.lower && result.upper <= given.upper);
  }));
  EXPECT_EQ(clamp({12, 8, 15}, 0, 10), (Estimate{10, 8, 10}));
  EXPECT_EQ(non_negative({-3, -5, 1}), (Estimate{0, 0, 1}));
}

TEST(PostProcess, ContradictionsGiveTheIntervalBack) {
  EXPECT_EQ(clamp({12, 11, 15}, 0, 10), (Estimate{10, 11, 15}));
  EXPECT_EQ(non_negative({-3, -5, -1}), (Estimate{0, -5, -1}));
  EXPECT_EQ(round_to_multiple({2.4, 2.2, 2.8}, 1), (Estimate{2, 2.2, 2.8}));
  const std::vector<Estimate> falling = {{5, 4, 6}, {1, 0, 2}, {9, 8, 10}};
  const std::vector<Estimate> result = monotone(falling);
  for (std::size_t i = 0; i < falling.size(); ++i) {
    EXPECT_EQ(result[i].lower, falling[i].lower);
    EXPECT_EQ(result[i].upper, falling[i].upper);
  }
  EXPECT_EQ(result[0].value, 3);
  EXPECT_EQ(result[1].value, 3);
  const std::vector<Estimate> small = {{1, 0, 2}, {1, 0, 2}};
  EXPECT_EQ(with_total(small, 100)[0], (Estimate{50, 0, 2}));
}

TEST(PostProcess, RoundingKeepsMultiples) {
  EXPECT_TRUE(rc::check([] {
    const double step = *rc::gen::element(1.0, 0.25, 10.0, 3.0, 0x1p-30);
    const double truth = static_cast<double>(*rc::gen::inRange(-100000, 100000)) * step;
    const Estimate given = any_around(truth);
    const Estimate result = round_to_multiple(given, step);
    RC_ASSERT(covers(result, truth));
    RC_ASSERT(std::fabs(result.value - given.value) <= step / 2);
    RC_ASSERT(result.value / step == std::round(result.value / step));
  }));
  EXPECT_EQ(round_to_multiple({2.6, 1.2, 4.9}, 1), (Estimate{3, 2, 4}));
  EXPECT_EQ(round_to_multiple({-0.2, -0.9, kInfinity}, 1), (Estimate{0, 0, kInfinity}));
}

TEST(PostProcess, RoundingToATenthKeepsTheTenthsOfTheDouble) {
  EXPECT_TRUE(rc::check([] {
    // 0.1 is no tenth; its multiples lie between doubles, which the ends have to respect.
    const long double truth = static_cast<long double>(*rc::gen::inRange(1, 1000000)) * 0.1;
    const auto near = static_cast<double>(truth);
    const Estimate given{near, std::nextafter(near, -kInfinity), std::nextafter(near, kInfinity)};
    const Estimate result = round_to_multiple(given, 0.1);
    RC_ASSERT(static_cast<long double>(result.lower) <= truth);
    RC_ASSERT(truth <= static_cast<long double>(result.upper));
  }));
}

TEST(PostProcess, MonotoneKeepsSortedTruths) {
  EXPECT_TRUE(rc::check([] {
    Case one = any_case(any_number);
    std::sort(one.truths.begin(), one.truths.end());
    surround(one);
    const std::vector<Estimate> result = monotone(one.estimates, one.weights);
    assert_covered_and_no_wider(one, result);
    for (std::size_t i = 1; i < result.size(); ++i) {
      RC_ASSERT(result[i - 1].value <= result[i].value);
      RC_ASSERT(result[i - 1].lower <= result[i].lower);
      RC_ASSERT(result[i - 1].upper <= result[i].upper);
    }
  }));
}

TEST(PostProcess, MonotoneKnownAnswers) {
  const std::vector<Estimate> estimates = {{1, 0, 2}, {4, 3, 5}, {2, 1, 6}, {8, 7, 9}};
  const std::vector<Estimate> result = monotone(estimates);
  EXPECT_EQ(result[0], (Estimate{1, 0, 2}));
  EXPECT_EQ(result[1], (Estimate{3, 3, 5}));
  EXPECT_EQ(result[2], (Estimate{3, 3, 6}));
  EXPECT_EQ(result[3], (Estimate{8, 7, 9}));
  const std::vector<double> weights = {1, 3, 1, 1};
  EXPECT_EQ(monotone(estimates, weights)[1].value, 3.5);
}

TEST(PostProcess, MonotoneIsTheNearestSequence) {
  // No step along a move of one pool's part lowers the distance: compared with sequences drawn.
  EXPECT_TRUE(rc::check([] {
    Case one = any_case(any_number);
    std::sort(one.truths.begin(), one.truths.end());
    surround(one);
    if (one.weights.empty()) one.weights.assign(one.truths.size(), 1);
    const std::vector<Estimate> result = monotone(one.estimates, one.weights);
    double ours = 0;
    double theirs = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      ours += one.weights[i] * std::pow(result[i].value - one.estimates[i].value, 2);
      theirs += one.weights[i] * std::pow(one.truths[i] - one.estimates[i].value, 2);
    }
    RC_ASSERT(ours <= theirs * (1 + 1e-9) + 1e-9);
  }));
}

TEST(PostProcess, TotalKeepsTruthsThatSumToIt) {
  EXPECT_TRUE(rc::check([] {
    Case one = any_case(any_number);
    surround(one);
    const double total = std::accumulate(one.truths.begin(), one.truths.end(), 0.0);
    const std::vector<Estimate> result = with_total(one.estimates, total, one.weights);
    assert_covered_and_no_wider(one, result);
    RC_ASSERT(std::fabs(sum_of_values(result) - total) < 1e-9);
  }));
}

TEST(PostProcess, TotalKnownAnswers) {
  const std::vector<Estimate> estimates = {{10, 9, 11}, {20, 10, 30}, {33, 32, 34}};
  const std::vector<Estimate> result = with_total(estimates, 60);
  EXPECT_EQ(result[0], (Estimate{9, 9, 11}));
  EXPECT_EQ(result[1], (Estimate{19, 15, 19}));  // 60 less 32..34 and 9..11
  EXPECT_EQ(result[2].value, 32);
  const std::vector<double> weights = {1e9, 1, 1e9};
  EXPECT_NEAR(with_total(estimates, 60, weights)[1].value, 17, 1e-6);
}

TEST(PostProcess, TotalRoundsOutwards) {
  // Truths 0.1, 0.2 and 0.3 as doubles: their exact sum is no double.
  const std::vector<double> truths = {0.1, 0.2, 0.3};
  const double total = 0.1 + 0.2 + 0.3;
  const std::vector<Estimate> estimates = {{0.1, 0, 1}, {0.2, 0.2, 0.2}, {0.3, 0.3, 0.3}};
  const Estimate first = with_total(estimates, total)[0];
  const long double exact = static_cast<long double>(total) - static_cast<long double>(truths[1]) -
                            static_cast<long double>(truths[2]);
  EXPECT_LE(static_cast<long double>(first.lower), exact);
  EXPECT_GE(static_cast<long double>(first.upper), exact);
  EXPECT_LT(first.upper - first.lower, 1e-15);
}

TEST(PostProcess, TotalRoundsDifferencesAndSumsOutwards) {
  // The first is 1 - 2^-60, which no double is.
  const double tiny = 0x1p-60;
  const std::vector<Estimate> two = {{1, 0, 2}, {tiny, tiny, tiny}};
  EXPECT_LT(with_total(two, 1)[0].lower, 1);
  EXPECT_GE(with_total(two, 1)[0].upper, 1);
  // 2 - 2^-60, and 2 + 2^-60: here the sum of the others is no double.
  for (const std::size_t place : {0u, 1u, 2u}) {
    std::vector<Estimate> three = {{1, 1, 1}, {tiny, tiny, tiny}};
    three.insert(three.begin() + static_cast<std::ptrdiff_t>(place), Estimate{2, 0, 4});
    EXPECT_LT(with_total(three, 3)[place].lower, 2);
    three[place == 2 ? 1 : 2] = {-tiny, -tiny, -tiny};
    EXPECT_GT(with_total(three, 3)[place].upper, 2);
  }
}

TEST(PostProcess, NonNegativeWithTotalKeepsSuchTruths) {
  EXPECT_TRUE(rc::check([] {
    Case one = any_case([] { return std::fabs(any_number()); });
    surround(one);
    const double total = std::accumulate(one.truths.begin(), one.truths.end(), 0.0);
    const std::vector<Estimate> result = non_negative_with_total(one.estimates, total, one.weights);
    assert_covered_and_no_wider(one, result);
    RC_ASSERT(std::fabs(sum_of_values(result) - total) < 1e-8);
    double ours = 0;
    double theirs = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double weight = one.weights.empty() ? 1 : one.weights[i];
      RC_ASSERT(result[i].value >= 0);
      ours += weight * std::pow(result[i].value - one.estimates[i].value, 2);
      theirs += weight * std::pow(one.truths[i] - one.estimates[i].value, 2);
    }
    RC_ASSERT(ours <= theirs * (1 + 1e-9) + 1e-9);  // no other such vector is nearer
  }));
}

TEST(PostProcess, ProjectionKnownAnswers) {
  EXPECT_EQ(project_to_total(std::vector<double>{0.5, 0.25, 0.25}, 1),
            (std::vector<double>{0.5, 0.25, 0.25}));
  EXPECT_EQ(project_to_total(std::vector<double>{2, 0}, 1), (std::vector<double>{1, 0}));
  EXPECT_EQ(project_to_total(std::vector<double>{-5, -5}, 1), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(project_to_total(std::vector<double>{3, 1}, 0), (std::vector<double>{0, 0}));
}

TEST(PostProcess, RefusesWhatIsNoEstimate) {
  EXPECT_THROW(clamp({kNan, 0, 1}, 0, 1), Error);
  EXPECT_THROW(clamp({0, 2, 1}, 0, 1), Error);
  EXPECT_THROW(clamp({0, kNan, 1}, 0, 1), Error);
  EXPECT_THROW(clamp({0, 0, 1}, 2, 1), Error);
  EXPECT_THROW(round_to_multiple({0, 0, 1}, 0), Error);
  EXPECT_THROW(round_to_multiple({0, 0, 1}, kNan), Error);
  const std::vector<Estimate> one = {{0, 0, 1}};
  const std::vector<double> two_weights = {1, 1};
  const std::vector<double> zero_weight = {0};
  EXPECT_THROW(monotone({}), Error);
  EXPECT_THROW(monotone(one, two_weights), Error);
  EXPECT_THROW(monotone(one, zero_weight), Error);
  EXPECT_THROW(with_total(one, kInfinity), Error);
  EXPECT_THROW(non_negative_with_total(one, -1), Error);
  EXPECT_THROW(project_to_total(std::vector<double>{kNan}, 1), Error);
}

}  // namespace
}  // namespace shoal::mechanism
