// The curator: what comes out is the exact marginal plus the noise that was charged, choices follow
// the exponential law of exact scores, and nothing comes out beyond what was reserved.
#include "support/curator_fixture.hpp"
#include "support/seeded_source.hpp"

#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/release/marginal_curator.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace shoal::release {
namespace {

using data::AttributeSet;
using test::code_of;
using test::coded_table;

const std::vector<std::vector<std::uint16_t>> kRows = {{0, 2, 1}, {1, 0, 1}, {1, 2, 0},
                                                       {1, 2, 1}, {0, 1, 0}, {1, 2, 1}};
const std::vector<std::uint32_t> kSizes = {2, 3, 2};

class MarginalCuratorTest : public test::CuratorTest {
 protected:
  MarginalCurator curator(double rho, random::BitSource& bits, MarginalUnit unit = {}) {
    return MarginalCurator(reserve(privacy::event::Zcdp{rho}, unit.neighbors),
                           coded_table(kSizes, kRows), unit, 2, bits);
  }
  MarginalCurator gaussian(double mu, random::BitSource& bits, MarginalUnit unit = {}) {
    return MarginalCurator(reserve(privacy::event::Gdp{mu}, unit.neighbors),
                           coded_table(kSizes, kRows), unit, 2, bits);
  }
};

TEST_F(MarginalCuratorTest, MeasuresExactCountsPlusTheNoise) {
  const std::vector<std::int64_t> first_and_second = {0, 1, 1, 1, 0, 3};
  test::SeededSource expected_bits(5);
  std::vector<std::int64_t> noise(6);
  random::DiscreteGaussianSampler(3.5).fill(noise, expected_bits);
  test::SeededSource bits(5);
  MarginalCurator mine = curator(1, bits);
  const auto noisy = mine.measure(AttributeSet::of({0, 1}), 3.5);
  ASSERT_EQ(noisy.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(noisy[i], first_and_second[i] + noise[i]) << i;
}

TEST_F(MarginalCuratorTest, PreparedAndUnpreparedCountsAgree) {
  const std::vector<AttributeSet> sets = {AttributeSet::of({2}), AttributeSet::of({0, 2}),
                                          AttributeSet::of({0, 1, 2})};
  test::SeededSource bits(6);
  test::SeededSource same_bits(6);
  MarginalCurator one = curator(10, bits);
  MarginalCurator other = curator(10, same_bits);
  one.prepare(sets);
  for (const AttributeSet set : sets) EXPECT_EQ(one.measure(set, 1), other.measure(set, 1));
}

TEST_F(MarginalCuratorTest, ChargesEachMeasurementAndStopsAtTheReservation) {
  test::SeededSource bits(1);
  MarginalCurator mine = curator(0.02, bits);
  EXPECT_NEAR(mine.rho_left(), 0.02, 1e-12);
  mine.measure(AttributeSet::of({0}), 10);  // 1 / 200
  EXPECT_NEAR(mine.rho_left(), 0.015, 1e-12);
  mine.measure(AttributeSet::of({1}), 10);
  mine.measure(AttributeSet::of({1}), 10);
  EXPECT_EQ(code_of([&] { mine.measure(AttributeSet::of({2}), 9.9); }), ErrorCode::budget_exceeded);
  EXPECT_NEAR(mine.rho_left(), 0.005, 1e-12);
  mine.measure(AttributeSet::of({2}), 10);
  EXPECT_LT(mine.rho_left(), 1e-12);
  EXPECT_EQ(code_of([&] { mine.measure(AttributeSet::of({2}), 1e6); }), ErrorCode::budget_exceeded);
}

TEST_F(MarginalCuratorTest, AnExchangeCostsTwiceAndRowsOfAPersonTheirSquare) {
  test::SeededSource bits(1);
  MarginalCurator exchange = curator(1, bits, {1, Neighbors::replace_one});
  exchange.measure(AttributeSet::of({0}), 10);
  EXPECT_NEAR(exchange.rho_left(), 0.99, 1e-12);
  MarginalCurator many = curator(1, bits, {3, Neighbors::add_remove});
  many.measure(AttributeSet::of({0}), 10);
  EXPECT_NEAR(many.rho_left(), 1 - 9.0 / 200, 1e-12);
}

// A reservation promises something about the neighbours of its account, about no others.
TEST_F(MarginalCuratorTest, TakesNoReservationForTheOtherRelation) {
  test::SeededSource bits(1);
  const auto mixed = [&] {
    MarginalCurator(reserve(privacy::event::Zcdp{1}, Neighbors::replace_one),
                    coded_table(kSizes, kRows), {1, Neighbors::add_remove}, 2, bits);
  };
  EXPECT_EQ(code_of(mixed), ErrorCode::internal);
}

TEST_F(MarginalCuratorTest, ChoiceCostsOneEighthOfItsEpsilonSquared) {
  test::SeededSource bits(1);
  MarginalCurator mine = curator(1, bits);
  const std::vector<std::int64_t> expected(2);
  const std::vector<MarginalCandidate> candidates = {{AttributeSet::of({0}), expected, 0, 5},
                                                     {AttributeSet::of({2}), expected, 0, 2}};
  mine.choose(candidates, 2 * 5 * 256 / 0.4);  // epsilon 0.4
  EXPECT_NEAR(mine.rho_left(), 1 - 0.02, 1e-9);
  EXPECT_EQ(code_of([&] { mine.choose(candidates, 100); }), ErrorCode::budget_exceeded);
}

TEST_F(MarginalCuratorTest, ChoosesAsTheExponentialMechanismOfTheScoresDoes) {
  // Column 0 counts (2, 4), column 2 counts (2, 4).
  const std::vector<std::int64_t> flat = {3 * 256, 3 * 256};
  const std::vector<std::int64_t> skew = {256, 256 / 2};
  const std::vector<MarginalCandidate> candidates = {{AttributeSet::of({0}), flat, 100, 3},
                                                     {AttributeSet::of({2}), skew, -7, 2}};
  const std::vector<Int128> scores = {3 * (512 - 100), 2 * (256 + 3 * 256 + 128 + 7)};
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::SeededSource bits(seed);
    test::SeededSource same(seed);
    MarginalCurator mine = curator(1, bits);
    const mechanism::ExponentialMechanism spec{700.5};
    EXPECT_EQ(mine.choose(candidates, 700.5), mechanism::select(spec, scores, same).front());
  }
}

TEST_F(MarginalCuratorTest, AGaussianReservationDrawsRoundedNoise) {
  const std::vector<std::int64_t> first_and_second = {0, 1, 1, 1, 0, 3};
  test::SeededSource expected_bits(5);
  std::vector<std::int64_t> noise(6);
  random::RoundedNormalSampler(3.5).fill(noise, expected_bits);
  test::SeededSource bits(5);
  MarginalCurator mine = gaussian(1, bits);
  EXPECT_EQ(mine.noise(), MarginalNoise::rounded_gaussian);
  const auto noisy = mine.measure(AttributeSet::of({0, 1}), 3.5);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(noisy[i], first_and_second[i] + noise[i]) << i;
}

// The squares of all mu never exceed the square that was reserved, under either relation.
TEST_F(MarginalCuratorTest, AGaussianReservationPaysSquaresOfMu) {
  test::SeededSource bits(1);
  const std::vector<std::int64_t> expected(2);
  const std::vector<MarginalCandidate> candidates = {{AttributeSet::of({0}), expected, 0, 5},
                                                     {AttributeSet::of({2}), expected, 0, 2}};
  MarginalCurator mine = gaussian(0.5, bits);
  EXPECT_NEAR(mine.half_square_left(), 0.125, 1e-12);
  mine.measure(AttributeSet::of({0}), 10);  // mu = 0.1
  EXPECT_NEAR(mine.half_square_left(), 0.125 - 0.005, 1e-12);
  mine.choose(candidates, 2 * 5 * 256 / 0.5);  // epsilon 0.5: mu = 0.312979499481629703
  const double left = 0.125 - 0.005 - 0.312979499481629703 * 0.312979499481629703 / 2;
  EXPECT_NEAR(mine.half_square_left(), left, 1e-12);
  EXPECT_EQ(code_of([&] { mine.choose(candidates, 2 * 5 * 256 / 0.625); }),
            ErrorCode::budget_exceeded);
  const double sigma = 1 / std::sqrt(2 * left);
  EXPECT_EQ(code_of([&] { mine.measure(AttributeSet::of({1}), sigma * (1 - 1e-9)); }),
            ErrorCode::budget_exceeded);
  EXPECT_NEAR(mine.half_square_left(), left, 1e-12);
  mine.measure(AttributeSet::of({1}), sigma * (1 + 1e-9));
  EXPECT_LT(mine.half_square_left(), 1e-9);

  MarginalCurator exchange = gaussian(1, bits, {3, Neighbors::replace_one});
  exchange.measure(AttributeSet::of({0}), 10);  // mu = sqrt(2) 3 / 10
  EXPECT_NEAR(exchange.half_square_left(), 0.5 - 0.09, 1e-12);
  exchange.choose(candidates, 2 * 5 * 256 * 6 / 0.5);
  EXPECT_NEAR(exchange.half_square_left(), 0.5 - 0.09 - (0.12 - left), 1e-9);
}

TEST_F(MarginalCuratorTest, RefusesWhatWasNotReservedForIt) {
  test::SeededSource bits(1);
  EXPECT_EQ(code_of([&] {
              MarginalCurator(reserve(privacy::event::DiscreteGaussian{1, 1}),
                              coded_table(kSizes, kRows), {}, 1, bits);
            }),
            ErrorCode::internal);
  MarginalCurator pure(reserve(privacy::event::Pure{1}), coded_table(kSizes, kRows), {}, 1, bits);
  EXPECT_EQ(code_of([&] { pure.measure(AttributeSet::of({0}), 1000); }),
            ErrorCode::budget_exceeded);
  const std::vector<std::int64_t> expected(2);
  const std::vector<MarginalCandidate> one = {{AttributeSet::of({0}), expected, 0, 1}};
  pure.choose(one, 2 * 256 / 0.75);
  EXPECT_NEAR(pure.epsilon_left(), 0.25, 1e-9);
}

TEST_F(MarginalCuratorTest, RefusesCandidatesThatDoNotFit) {
  test::SeededSource bits(1);
  MarginalCurator mine = curator(1, bits);
  const std::vector<std::int64_t> expected(2);
  const std::vector<std::int64_t> huge(2, std::int64_t{1} << 61);
  const auto refused = [&](MarginalCandidate candidate) {
    return code_of([&] { mine.choose({&candidate, 1}, 1e9); }) == ErrorCode::invalid_argument;
  };
  EXPECT_EQ(code_of([&] { mine.choose({}, 1e9); }), ErrorCode::invalid_argument);
  EXPECT_TRUE(refused({AttributeSet::of({1}), expected, 0, 1}));
  EXPECT_TRUE(refused({AttributeSet::of({0}), expected, 0, 0}));
  EXPECT_TRUE(refused({AttributeSet::of({0}), huge, 0, 1}));
  EXPECT_NEAR(mine.rho_left(), 1, 1e-12);
}

constexpr std::int64_t kRow = kComparedSteps;

std::vector<ComparedTable> compared() {
  return {{AttributeSet::of({0, 1}), {kRow, kRow, 0, 0, 0, 7 * kRow}},
          {AttributeSet::of({2}), {2 * kRow - 1, -3 * kRow - 5}}};
}

TEST_F(MarginalCuratorTest, DistancesAreExactPlusTheNoise) {
  // Counts 0 1 1 1 0 3 and 2 4.
  const std::int64_t exact[] = {(1 + 0 + 1 + 1 + 0 + 4) * kRow, 1 + 7 * kRow + 5};
  for (const bool rounded : {false, true}) {
    std::vector<std::int64_t> noise(2);
    test::SeededSource expected_bits(8);
    if (rounded) {
      random::RoundedNormalSampler(2.5 * kRow).fill(noise, expected_bits);
    } else {
      random::DiscreteGaussianSampler(2.5 * kRow).fill(noise, expected_bits);
    }
    test::SeededSource bits(8);
    MarginalCurator mine = rounded ? gaussian(1, bits) : curator(1, bits);
    mine.prepay_distances(2, 2.5);
    const auto noisy = mine.distances(compared());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(noisy[i], exact[i] + noise[i]) << i;
  }
}

TEST_F(MarginalCuratorTest, DistancesArePaidBeforeAndOnce) {
  test::SeededSource bits(1);
  MarginalCurator mine = curator(0.1, bits);
  EXPECT_EQ(code_of([&] { mine.distances(compared()); }), ErrorCode::internal);
  EXPECT_EQ(code_of([&] { mine.prepay_distances(2, 3.16); }), ErrorCode::budget_exceeded);
  mine.prepay_distances(2, 10);  // 2 / 200
  EXPECT_NEAR(mine.rho_left(), 0.09, 1e-12);
  // What is refused is not used up.
  std::vector<ComparedTable> wrong = compared();
  wrong[1].steps.push_back(0);
  EXPECT_EQ(code_of([&] { mine.distances(wrong); }), ErrorCode::invalid_argument);
  wrong[1].steps = {std::int64_t{1} << 60, 1};
  EXPECT_EQ(code_of([&] { mine.distances(wrong); }), ErrorCode::invalid_argument);
  wrong.pop_back();
  EXPECT_EQ(code_of([&] { mine.distances(wrong); }), ErrorCode::internal);
  EXPECT_EQ(mine.distances(compared()).size(), 2u);
  EXPECT_EQ(code_of([&] { mine.distances(compared()); }), ErrorCode::internal);
  EXPECT_NEAR(mine.rho_left(), 0.09, 1e-12);
  MarginalCurator exchange = curator(1, bits, {3, Neighbors::replace_one});
  exchange.prepay_distances(5, 100);
  EXPECT_NEAR(exchange.rho_left(), 1 - 5 * 36.0 / 20000, 1e-12);
  MarginalCurator normal = gaussian(1, bits);
  normal.prepay_distances(8, 10);
  EXPECT_NEAR(normal.half_square_left(), 0.5 - 8.0 / 200, 1e-12);
}

// With the same noise, neighbours' distances from tables between whole rows move by no more than a
// unit's rows, or twice that.
TEST_F(MarginalCuratorTest, DistancesOfNeighboursMoveAsFarAsCharged) {
  test::SeededSource random(77);
  std::int64_t furthest[2] = {0, 0};
  for (int round = 0; round < 150; ++round) {
    std::vector<std::vector<std::uint16_t>> rows;
    const auto any_row = [&]() -> std::vector<std::uint16_t> {
      return {static_cast<std::uint16_t>(random.next_bits(1)),
              static_cast<std::uint16_t>(random.next_bits(8) % 3),
              static_cast<std::uint16_t>(random.next_bits(1))};
    };
    for (int i = 0; i < 12; ++i) rows.push_back(any_row());
    std::vector<ComparedTable> tables = compared();
    for (ComparedTable& table : tables) {
      for (std::int64_t& cell : table.steps) {
        cell = static_cast<std::int64_t>(random.next_bits(19));
      }
    }
    const auto released = [&](const std::vector<std::vector<std::uint16_t>>& data) {
      test::SeededSource bits(static_cast<std::uint64_t>(round));
      MarginalCurator mine(reserve(privacy::event::Zcdp{1}, Neighbors::add_remove),
                           coded_table(kSizes, data), {}, 1, bits);
      mine.prepay_distances(2, 4);
      return mine.distances(tables);
    };
    const auto before = released(rows);
    std::vector<std::vector<std::uint16_t>> fewer(rows.begin(), rows.end() - 1);
    std::vector<std::vector<std::uint16_t>> exchanged = fewer;
    exchanged.push_back(any_row());
    const auto without = released(fewer);
    const auto with_other = released(exchanged);
    for (std::size_t i = 0; i < 2; ++i) {
      furthest[0] = std::max(furthest[0], std::abs(before[i] - without[i]));
      furthest[1] = std::max(furthest[1], std::abs(before[i] - with_other[i]));
    }
  }
  EXPECT_EQ(furthest[0], kRow);
  EXPECT_LE(furthest[1], 2 * kRow);
  EXPECT_GT(furthest[1], kRow);
}

}  // namespace
}  // namespace shoal::release
