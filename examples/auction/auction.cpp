// Sells a digital good to three people at one price without giving any bid away.
//
//   auction [epsilon = 1]
//
// The bids are 10, 10 and 500. The price 500 brings 500, a price of 501 nothing: noise on the price
// would ruin the sale. The choice is made among public prices instead, each scored by what it
// brings, and the score is never shown. Prints what each selection does on average, from its exact
// probabilities, and then sells once, with secure randomness.
#include <shoal/base/error.hpp>
#include <shoal/mechanism/auction.hpp>
#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/random/secure_source.hpp>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace mechanism = shoal::mechanism;

double expected_revenue(const mechanism::AnySelection& spec,
                        const std::vector<shoal::Int128>& scores) {
  const std::vector<double> pmf = mechanism::first_choice_pmf(spec, scores);
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += pmf[i] * static_cast<double>(scores[i]);
  return sum;
}

void sell(const char* title, const std::vector<std::int64_t>& bids,
          const std::vector<std::int64_t>& prices, shoal::Epsilon epsilon,
          shoal::random::BitSource& bits) {
  // The highest price on the list bounds what one bid can change, and that is public.
  const mechanism::ScoreSensitivity sensitivity = mechanism::revenue_sensitivity(prices);
  const double scale = mechanism::selection_scale(epsilon, sensitivity);
  const std::vector<shoal::Int128> scores = mechanism::revenues(bids, prices);
  std::printf("%s, scale %g\n", title, scale);
  for (const mechanism::AnySelection& spec :
       {mechanism::AnySelection(mechanism::ExponentialMechanism{scale}),
        mechanism::AnySelection(mechanism::PermuteAndFlip{scale})}) {
    const mechanism::CandidateCount candidates{static_cast<std::int64_t>(prices.size())};
    std::printf("  %-24s expected revenue %.2f, loss at most %.0f in 95 of 100 sales\n",
                std::string(name(spec)).c_str(), expected_revenue(spec, scores),
                loss_bound(spec, candidates, shoal::Confidence(0.95)));
  }
  const mechanism::PermuteAndFlip choice{scale};
  const std::size_t winner = mechanism::select(choice, scores, bits).front();
  std::printf("  the price is %lld, for epsilon %g\n", static_cast<long long>(prices[winner]),
              mechanism::selection_epsilon(scale, sensitivity));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const shoal::Epsilon epsilon(argc > 1 ? std::strtod(argv[1], nullptr) : 1.0);
    const std::vector<std::int64_t> bids = {10, 10, 500};
    std::vector<std::int64_t> grid(1000);
    std::iota(grid.begin(), grid.end(), std::int64_t{1});
    shoal::random::SecureSource bits;
    sell("prices 10 and 500", bids, {10, 500}, epsilon, bits);
    sell("prices 1 to 1000", bids, grid, epsilon, bits);
    std::vector<std::int64_t> crowd;
    for (int i = 0; i < 100; ++i) crowd.insert(crowd.end(), bids.begin(), bids.end());
    sell("prices 1 to 1000, each bid 100 times", crowd, grid, epsilon, bits);
  } catch (const shoal::Error& error) {
    std::fprintf(stderr, "auction: %s\n", error.what());
    return shoal::error_door(error.code()).exit_status;
  }
  return 0;
}
