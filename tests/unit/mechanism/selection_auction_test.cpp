// The auction of bids 10, 10 and 500 against golden values, and what one bid can change.
#include "support/golden.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/auction.hpp>
#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace shoal::mechanism {
namespace {

struct Golden {
  double value;
  double tolerance;
};

Golden golden(int wanted) {
  for (const std::vector<double>& row : test::read_golden("selection")) {
    if (static_cast<int>(row[0]) == wanted) return {row[1], row[2]};
  }
  throw std::runtime_error("no such golden case");
}

const std::vector<std::int64_t> kBids = {10, 10, 500};
const std::vector<std::int64_t> kTwoPrices = {10, 500};

std::vector<std::int64_t> price_grid() {
  std::vector<std::int64_t> prices(1000);
  std::iota(prices.begin(), prices.end(), std::int64_t{1});
  return prices;
}

// The sum of what `value` says of each revenue, weighted with its chance.
template <class Value>
double expectation(double scale, const std::vector<Int128>& scores, Value value) {
  const std::vector<double> pmf = first_choice_pmf(ExponentialMechanism{scale}, scores);
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += pmf[i] * value(scores[i]);
  return sum;
}

double as_double(Int128 score) { return static_cast<double>(score); }

TEST(Auction, RevenueIsThePriceTimesItsBuyers) {
  EXPECT_EQ(revenue(kBids, 9), 27);
  EXPECT_EQ(revenue(kBids, 10), 30);
  EXPECT_EQ(revenue(kBids, 11), 11);
  EXPECT_EQ(revenue(kBids, 500), 500);
  EXPECT_EQ(revenue(kBids, 501), 0);
  EXPECT_EQ(revenue({}, 5), 0);
  EXPECT_THROW(revenue(kBids, 0), Error);
  const std::vector<std::int64_t> prices = price_grid();
  const std::vector<Int128> all = revenues(kBids, prices);
  for (std::size_t i = 0; i < prices.size(); ++i) EXPECT_EQ(all[i], revenue(kBids, prices[i]));
  EXPECT_EQ(as_double(*std::max_element(all.begin(), all.end())), golden(8).value);
}

TEST(Auction, TwoPrices) {
  const std::vector<Int128> scores = revenues(kBids, kTwoPrices);
  const ScoreSensitivity wide{Sensitivity(500), ScoreChange::two_sided};
  const double scale = selection_scale(Epsilon(1), wide);
  EXPECT_EQ(scale, 1000);
  EXPECT_NEAR(expectation(scale, scores, as_double), golden(1).value, golden(1).tolerance);
  const ScoreSensitivity sensitivity = revenue_sensitivity(kTwoPrices);
  EXPECT_EQ(sensitivity, (ScoreSensitivity{Sensitivity(500), ScoreChange::one_sided}));
  const double narrow = selection_scale(Epsilon(1), sensitivity);
  EXPECT_NEAR(first_choice_pmf(ExponentialMechanism{narrow}, scores)[1], golden(2).value,
              golden(2).tolerance);
}

TEST(Auction, GridOfPrices) {
  const std::vector<std::int64_t> prices = price_grid();
  const std::vector<Int128> scores = revenues(kBids, prices);
  const double scale = selection_scale(Epsilon(1), {Sensitivity(1000), ScoreChange::two_sided});
  EXPECT_NEAR(first_choice_pmf(ExponentialMechanism{scale}, scores)[499], golden(3).value,
              golden(3).tolerance);
  EXPECT_NEAR(expectation(scale, scores, [](Int128 score) { return score == 0 ? 1.0 : 0.0; }),
              golden(4).value, golden(4).tolerance);
  EXPECT_NEAR(expectation(scale / 10, scores, as_double), golden(5).value, golden(5).tolerance);
}

TEST(Auction, TheTextbookLossAndItsTrueTail) {
  const double scale = 2000;
  const Confidence confidence(1 - std::exp(-3.0));
  const double loss = textbook_loss(scale, {1000, 1}, confidence);
  EXPECT_NEAR(loss, golden(6).value, golden(6).tolerance);
  EXPECT_LT(loss_bound(ExponentialMechanism{scale}, {1000, 1}, confidence), loss);
  std::vector<std::int64_t> bids;
  for (int i = 0; i < 100; ++i) bids.insert(bids.end(), kBids.begin(), kBids.end());
  const std::vector<std::int64_t> prices = price_grid();
  const std::vector<Int128> scores = revenues(bids, prices);
  const double best = as_double(*std::max_element(scores.begin(), scores.end()));
  const auto is_lost = [&](Int128 score) { return as_double(score) <= best - loss ? 1.0 : 0.0; };
  const double tail = expectation(scale, scores, is_lost);
  EXPECT_NEAR(tail, golden(7).value, golden(7).tolerance);
  EXPECT_LE(tail, std::exp(-3.0));
}

// Every bid added, removed or replaced moves all revenues the same way, by the highest price at
// most.
TEST(Auction, OneBidMovesRevenuesOneWay) {
  const std::vector<std::int64_t> prices = {1, 3, 4, 7, 10};
  const Int128 limit = revenue_sensitivity(prices).steps.steps();
  const auto check = [&](const std::vector<std::int64_t>& before,
                         const std::vector<std::int64_t>& after) {
    Int128 least = 0;
    Int128 most = 0;
    for (const std::int64_t price : prices) {
      const Int128 move = revenue(after, price) - revenue(before, price);
      least = std::min(least, move);
      most = std::max(most, move);
    }
    EXPECT_TRUE(least == 0 || most == 0);
    EXPECT_LE(most - least, limit);
  };
  for (std::int64_t old_bid = -1; old_bid <= 12; ++old_bid) {
    check({5, 8}, {5, 8, old_bid});
    check({5, 8, old_bid}, {5, 8});
    for (std::int64_t bid = -1; bid <= 12; ++bid) check({5, 8, old_bid}, {5, 8, bid});
  }
  check({5}, {5, 1000000});
}

TEST(Auction, RefusesAListWithoutAPriceOrWithABadOne) {
  EXPECT_THROW(revenue_sensitivity({}), Error);
  EXPECT_THROW(revenue_sensitivity(std::vector<std::int64_t>{5, 0}), Error);
  EXPECT_THROW(revenues(kBids, std::vector<std::int64_t>{-1}), Error);
}

}  // namespace
}  // namespace shoal::mechanism
