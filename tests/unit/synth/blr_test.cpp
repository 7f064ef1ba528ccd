// BLR: its law against reference values, its samplers against its law, sizes, bounds and refusals.
#include "support/curator_fixture.hpp"
#include "support/golden.hpp"
#include "support/seeded_source.hpp"
#include "synth/histograms.hpp"

#include <shoal/numeric/binomial.hpp>
#include <shoal/synth/blr.hpp>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace shoal::synth {
namespace {

using test::code_of;

const std::vector<std::uint32_t> kBits = {2, 2};

// First bit, second bit, whether they differ, whether both are set.
std::vector<LinearQuery> bit_queries() {
  const std::int64_t one = kQuerySteps;
  return {{"first", {0, 0, one, one}},
          {"second", {0, one, 0, one}},
          {"differ", {0, one, one, 0}},
          {"both", {0, 0, 0, one}}};
}

std::vector<std::vector<std::int64_t>> steps_of(const std::vector<LinearQuery>& queries) {
  std::vector<std::vector<std::int64_t>> steps;
  for (const LinearQuery& query : queries) steps.push_back(query.steps);
  return steps;
}

data::CodedTable table_of(const std::vector<std::int64_t>& histogram) {
  std::vector<std::vector<std::uint16_t>> rows;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    for (std::int64_t k = 0; k < histogram[i]; ++k) {
      rows.push_back({static_cast<std::uint16_t>(i / 2), static_cast<std::uint16_t>(i % 2)});
    }
  }
  return test::coded_table(kBits, rows);
}

TEST(BlrLawTest, MatchesTheReference) {
  const std::vector<std::int64_t> data = {4, 3, 2, 1};
  std::map<std::vector<std::int64_t>, double> law[2];
  for (const int base : {0, 1}) {
    double sum = 0;
    for (const BlrOutcome& one :
         blr_law(data, bit_queries(), 3, 1, base == 0 ? BlrBase::histograms : BlrBase::sequences)) {
      law[base][one.histogram] = one.probability;
      sum += one.probability;
    }
    EXPECT_EQ(law[base].size(), 20u);
    EXPECT_NEAR(sum, 1, 1e-14);
  }
  for (const auto& row : test::read_golden("blr")) {
    const std::vector<std::int64_t> histogram = {std::lround(row[0]), std::lround(row[1]),
                                                 std::lround(row[2]), std::lround(row[3])};
    EXPECT_NEAR(law[std::lround(row[4])].at(histogram), row[5], 1e-12);
  }
}

// The exact hockey-stick divergence is 0 at epsilon: no outcome is more than e^epsilon likelier.
TEST(BlrLawTest, IsPrivateForEveryExchangeOfOneRow) {
  const std::vector<std::int64_t> data = {4, 3, 2, 1};
  const auto law = blr_law(data, bit_queries(), 3, 1, BlrBase::histograms);
  double worst = 0;
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      if (from == to) continue;
      std::vector<std::int64_t> other = data;
      --other[from];
      ++other[to];
      const auto other_law = blr_law(other, bit_queries(), 3, 1, BlrBase::histograms);
      for (std::size_t i = 0; i < law.size(); ++i) {
        worst = std::max(worst, std::abs(std::log(law[i].probability / other_law[i].probability)));
      }
    }
  }
  EXPECT_NEAR(worst, 0.6173273725033179, 1e-12);  // the reference table's
}

// The worst loss over all tables of four rows and all their neighbours.
double worst_loss(double epsilon) {
  std::map<std::vector<std::int64_t>, std::vector<BlrOutcome>> laws;
  const auto queries = bit_queries();
  const HistogramWalk walk(queries, 4, 4);
  for (std::int64_t i = 0; i < blr_candidates(4, 4); ++i) {
    const auto data = walk.histogram(i);
    laws[data] = blr_law(data, queries, 3, epsilon, BlrBase::histograms);
  }
  double worst = 0;
  for (const auto& [data, law] : laws) {
    for (std::size_t from = 0; from < 4; ++from) {
      for (std::size_t to = 0; to < 4; ++to) {
        if (from == to || data[from] == 0) continue;
        std::vector<std::int64_t> other = data;
        --other[from];
        ++other[to];
        const auto& other_law = laws.at(other);
        for (std::size_t i = 0; i < law.size(); ++i)
          worst = std::max(worst, std::log(law[i].probability / other_law[i].probability));
      }
    }
  }
  return worst;
}

// Whatever the table: the divergence is 0 at epsilon. Without the half in the exponent it is not.
TEST(BlrLawTest, IsPrivateForAllNeighboursAndTwiceTheExponentIsCaught) {
  EXPECT_LE(worst_loss(1), 1);
  EXPECT_GT(worst_loss(1), 0.5);
  EXPECT_GT(worst_loss(2), 1);
}

TEST(HistogramWalkTest, NumbersEveryHistogramOnce) {
  const auto queries = bit_queries();
  const HistogramWalk walk(queries, 5, 7);
  std::int64_t index = 0;
  std::map<std::vector<std::int64_t>, int> seen;
  walk.visit([&](std::span<const std::int64_t> answers) {
    const auto histogram = walk.histogram(index++);
    EXPECT_EQ(std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0}), 5);
    ++seen[histogram];
    for (std::size_t q = 0; q < queries.size(); ++q) {
      EXPECT_EQ(answers[q], 7 * std::inner_product(histogram.begin(), histogram.end(),
                                                   queries[q].steps.begin(), std::int64_t{0}));
    }
  });
  EXPECT_EQ(index, blr_candidates(4, 5));
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), index);
}

TEST(BlrSizesTest, AreThoseOfTheReference) {
  EXPECT_EQ(blr_candidates(4, 3), 20);
  EXPECT_EQ(blr_candidates(16, 10), 3268760);
  EXPECT_EQ(blr_size_sharp(1000, 0.1), 381);
  EXPECT_EQ(blr_size_notes(1000, 0.1), 691);
  const BlrProblem problem{1024, 1000, 1'000'000, 1};
  EXPECT_NEAR(blr_textbook_bound(problem, 0.05), 0.0919759508814061, 1e-12);
  EXPECT_NEAR(blr_error_bound(problem, 19999, 0.05), 0.0219625844634955, 1e-12);
  // That table stops looking at 20,000 rows; the least bound is further on.
  const std::int64_t best = blr_best_size(problem, 0.05);
  const double least = blr_error_bound(problem, best, 0.05);
  EXPECT_LT(least, 0.0172);
  for (std::int64_t size = 1; size < 1'000'000; size += 997) {
    EXPECT_LE(least, blr_error_bound(problem, size, 0.05));
  }
  EXPECT_LE(least, blr_error_bound(problem, best - 1, 0.05));
  EXPECT_LE(least, blr_error_bound(problem, best + 1, 0.05));
}

// Whatever is asked is known at once: small universes have few tables of any size, large ones too
// many soon.
TEST(BlrSizesTest, SizesOfAnyMagnitudeAreDecidedAtOnce) {
  constexpr std::int64_t kHuge = 100'000'000'000;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(blr_candidates(1, kHuge), 1);
  EXPECT_EQ(blr_candidates(2, kHuge), kHuge + 1);
  EXPECT_EQ(blr_candidates(3, 1'000'000), 1'000'001LL * 1'000'002 / 2);
  EXPECT_EQ(blr_candidates(2, kMost), kMost);
  EXPECT_EQ(blr_candidates(1 << 24, kHuge), kMost);
  EXPECT_EQ(blr_candidates(1 << 24, 1), 1 << 24);
  EXPECT_FALSE(blr_enumerable({1, 1, 1000, 1}, kHuge));
  EXPECT_FALSE(blr_enumerable({2, 2, 1000, 1}, kHuge));
  EXPECT_EQ(blr_largest_size({2, 2, 1000, 1}, kHuge), 999'999'999);
  EXPECT_EQ(blr_largest_size({2, 2, 1000, 1}, 17), 17);
  // Answers of both tables together stay within 64 bits: 2^62 / (1024 * 10^8) rows.
  EXPECT_EQ(blr_largest_size({2, 2, 100'000'000, 1}, kHuge), 45'035'996);
  EXPECT_EQ(code_of([] { blr_feasible({2, 2, 50'000, 1}, kHuge); }), ErrorCode::unsupported);
}

TEST(BlrSizesTest, RefusesWhatIsNotFeasibleAndSaysWhatIs) {
  EXPECT_EQ(blr_feasible({16, 8, 1000, 1}, 10), BlrSampling::enumeration);
  EXPECT_EQ(blr_feasible({4096, 8, 20, 1}, 50), BlrSampling::rejection);
  try {
    blr_feasible({1024, 100, 1'000'000, 1}, 381);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("3 rows would be feasible"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(code_of([] { blr_feasible({16, 8, 1000, 1}, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { blr_size_sharp(10, 0); }), ErrorCode::invalid_argument);
}

class BlrTest : public test::CuratorTest {
 protected:
  // With n rows and epsilon the law depends on epsilon n only: 2^10 times the rows and 2^-10 of
  // epsilon 1 give the law of the reference, and a reservation of 1000 pays for a million draws.
  double p_value(bool reject, int draws) {
    const std::vector<std::int64_t> data = {4 * 1024, 3 * 1024, 2 * 1024, 1024};
    const auto queries = bit_queries();
    test::SeededSource bits(17);
    release::HistogramCurator curator(reserve(privacy::event::Pure{999}), table_of(data),
                                      steps_of(queries), kQuerySteps, bits);
    std::map<std::vector<std::int64_t>, double> seen;
    const HistogramWalk walk(queries, 3, curator.rows());
    for (int i = 0; i < draws; ++i) {
      if (!reject) {
        ++seen[blr(curator, queries, 3, 0x1p-10, bits)];
        continue;
      }
      std::int64_t proposed = 0;
      curator.accept_table(3, 0x1p-10, [&] {
        proposed = static_cast<std::int64_t>(bits.next_u64() % 20);
        const auto histogram = walk.histogram(proposed);
        std::vector<std::int64_t> answers;
        for (const LinearQuery& query : queries) {
          answers.push_back(curator.rows() * std::inner_product(histogram.begin(), histogram.end(),
                                                                query.steps.begin(),
                                                                std::int64_t{0}));
        }
        return answers;
      });
      ++seen[walk.histogram(proposed)];
    }
    const std::vector<std::int64_t> small = {4, 3, 2, 1};
    double statistic = 0;
    for (const BlrOutcome& one : blr_law(small, queries, 3, 1, BlrBase::histograms)) {
      const double mean = one.probability * draws;
      statistic += (seen[one.histogram] - mean) * (seen[one.histogram] - mean) / mean;
    }
    return numeric::chi_square_tail(statistic, 19);
  }
};

// A sampler that is right fails one seed in ten thousand.
TEST_F(BlrTest, AMillionTablesDrawnByEnumerationFollowTheLaw) {
  EXPECT_GT(p_value(false, 1'000'000), 1e-4);
}

TEST_F(BlrTest, TablesDrawnByRejectionFollowTheLaw) { EXPECT_GT(p_value(true, 100'000), 1e-4); }

TEST_F(BlrTest, DrawsByRejectionWhereThereAreTooManyTables) {
  const std::vector<std::uint32_t> sizes = {64, 64};
  const auto queries = prefix_queries(sizes, 0);
  test::SeededSource bits(5);
  release::HistogramCurator curator(reserve(privacy::event::Pure{1}),
                                    test::coded_table(sizes, {{1, 2}, {3, 63}, {40, 0}}),
                                    steps_of(queries), kQuerySteps, bits);
  const auto drawn = blr(curator, queries, 30, 1, bits);
  EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0}), 30);
  EXPECT_LT(curator.epsilon_left(), 1e-9);
  EXPECT_EQ(code_of([&] { blr(curator, queries, 30, 0.5, bits); }), ErrorCode::budget_exceeded);
}

// A draw that its own reservation did not pay would fail after private data was read.
TEST_F(BlrTest, EveryEpsilonPaysForItself) {
  const auto queries = bit_queries();
  test::SeededSource bits(7);
  for (int hundredths = 1; hundredths <= 400; ++hundredths) {
    const double epsilon = hundredths / 100.0;
    release::HistogramCurator curator(reserve(privacy::event::Pure{epsilon}),
                                      table_of({4, 3, 2, 1}), steps_of(queries), kQuerySteps, bits);
    EXPECT_NO_THROW(blr(curator, queries, 3, epsilon, bits)) << epsilon;
    EXPECT_LT(curator.epsilon_left(), 2e-12) << epsilon;
  }
}

TEST_F(BlrTest, FindsTheBestTableWhenEpsilonIsLarge) {
  const std::vector<std::int64_t> data = {400, 300, 200, 100};
  const auto queries = bit_queries();
  test::SeededSource bits(6);
  release::HistogramCurator curator(reserve(privacy::event::Pure{900}), table_of(data),
                                    steps_of(queries), kQuerySteps, bits);
  EXPECT_EQ(blr(curator, queries, 10, 900, bits), (std::vector<std::int64_t>{4, 3, 2, 1}));
}

}  // namespace
}  // namespace shoal::synth
