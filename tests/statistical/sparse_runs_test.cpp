// Ten million runs of the sparse vector against the published probabilities.
#include "support/golden.hpp"
#include "support/seeded_source.hpp"

#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>

#include <array>

namespace shoal::mechanism {
namespace {

// A right engine fails with probability 1e-6.
TEST(SparseRuns, TenMillionHaveThePublishedChances) {
  constexpr int kRuns = 10'000'000;
  // One draw of the threshold for each run: `hits` runs in one object, each ended by a hit. Runs
  // without a hit would go on, so a last question is sure to be one.
  SparseVector spec;
  spec.threshold_scale = 2;
  spec.query_scale = 4;
  spec.redraw = true;
  constexpr std::int64_t kBlock = kMaxChoices;
  test::SeededSource bits(31);
  std::array<double, 4> seen{};
  for (int left = kRuns; left > 0;) {
    const std::int64_t block = std::min<std::int64_t>(left, kBlock);
    spec.hits = block;
    ThresholdWatch watch(spec, bits);
    for (std::int64_t run = 0; run < block; ++run) {
      constexpr std::array<int, 4> kExcesses = {-2, 0, 1, 1'000'000};
      std::size_t place = 0;
      while (watch.ask(kExcesses[place], 0).verdict != Verdict::above) ++place;
      seen[place] += 1;
    }
    left -= static_cast<int>(block);
  }
  double statistic = 0;
  int place = 0;
  for (const char* name : {"geom_1", "geom_2", "geom_3", "geom_none"}) {
    for (const auto& row : test::read_golden_text("sparse")) {
      if (row[0] != name) continue;
      const double expected = kRuns * std::stod(row[1]);
      const double apart = seen[static_cast<std::size_t>(place)] - expected;
      statistic += apart * apart / expected;
    }
    ++place;
  }
  EXPECT_GT(numeric::chi_square_tail(statistic, 3), 1e-6) << statistic;
}

}  // namespace
}  // namespace shoal::mechanism
