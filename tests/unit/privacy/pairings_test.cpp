// The comparison of noise and composition: each row against its own theorem, and all of them
// against each other.
#include <shoal/base/error.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/pairings.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace shoal::privacy {
namespace {

Target target(double epsilon, double delta, Neighbors neighbors = Neighbors::add_remove) {
  return {Epsilon(epsilon), Delta(delta), neighbors};
}

using Key = std::pair<NoiseLaw, Composition>;

std::map<Key, Pairing> by_key(const PairingTable& table) {
  std::map<Key, Pairing> rows;
  for (const Pairing& row : table.rows) rows[{row.law, row.composition}] = row;
  return rows;
}

TEST(Pairings, EachRowMeetsItsTheorem) {
  for (const std::int64_t count : {20, 100, 1000}) {
    for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      const auto rows = by_key(compare_pairings(count, 2, target(1, 1e-6, neighbors)));
      ASSERT_EQ(rows.size(), 6u);
      const auto times = static_cast<double>(count);
      const double moves = neighbors == Neighbors::add_remove ? 2 : 4;
      const auto parameter = [&](NoiseLaw law, Composition composition) {
        return rows.at({law, composition}).parameter;
      };
      EXPECT_EQ(parameter(NoiseLaw::laplace, Composition::basic), times * moves);
      const double advanced = parameter(NoiseLaw::laplace, Composition::advanced);
      EXPECT_LE(advanced_composition_up({moves / advanced, 0}, count, 1e-6).epsilon, 1 + 1e-12);
      EXPECT_GT(advanced_composition_up({moves / advanced * (1 + 1e-9), 0}, count, 1e-6).epsilon,
                1);
      const double basic_sigma = parameter(NoiseLaw::gaussian, Composition::basic);
      EXPECT_LE(numeric::gaussian_delta_up(basic_sigma, moves, 1 / times),
                1e-6 / times * (1 + 1e-9));
      EXPECT_GT(numeric::gaussian_delta_up(basic_sigma * (1 - 2e-6), moves, 1 / times),
                1e-6 / times);
      // Half of delta for the slack, half for the questions.
      const double sigma = parameter(NoiseLaw::gaussian, Composition::advanced);
      double low = 0;
      double high = 1;
      while (high - low > 1e-13) {
        const double middle = (low + high) / 2;
        const Guarantee all = advanced_composition_up({middle, 0.5e-6 / times}, count, 0.5e-6);
        (all.epsilon <= 1 ? low : high) = middle;
      }
      EXPECT_LE(numeric::gaussian_delta_up(sigma, moves, low), 0.5e-6 / times * (1 + 1e-6));
      EXPECT_GT(numeric::gaussian_delta_up(sigma * (1 - 2e-6), moves, low), 0.5e-6 / times);
    }
  }
}

TEST(Pairings, NothingBeatsTheCertifiedRows) {
  for (const std::int64_t count : {20, 100, 10'000}) {
    const PairingTable table = compare_pairings(count, 1, target(1, 1e-6));
    const auto rows = by_key(table);
    for (const Pairing& row : table.rows) {
      EXPECT_GE(row.parameter * (1 + 2e-5), rows.at({row.law, Composition::certified}).parameter);
      EXPECT_LE(row.epsilon.bounds.lower, row.epsilon.bounds.upper);
      EXPECT_LE(row.epsilon.bounds.upper, 1);
      // What the theorems give away is a good part of the budget; the accountant gives away
      // nothing.
      const double used = row.epsilon.bounds.upper;
      if (row.composition == Composition::certified) {
        EXPECT_GT(row.epsilon.bounds.lower, 0.999);
      } else if (count > 20) {
        EXPECT_LT(used, 0.9);
      }
    }
  }
}

// The lecture's orders of magnitude: k and sqrt(k).
TEST(Pairings, GrowWithTheCountAsTaught) {
  const auto few = by_key(compare_pairings(1000, 1, target(0.5, 1e-6)));
  const auto many = by_key(compare_pairings(4000, 1, target(0.5, 1e-6)));
  for (const auto& [key, row] : few) {
    const double growth = many.at(key).parameter / row.parameter;
    if (key.second == Composition::basic) {
      EXPECT_GE(growth, 3.999);
      EXPECT_LE(growth, 4.3);
    } else {
      EXPECT_GE(growth, 1.95);
      EXPECT_LE(growth, 2.15);
    }
  }
}

TEST(Pairings, TheBestIsTheNarrowest) {
  for (const std::int64_t count : {1, 200}) {
    const PairingTable table = compare_pairings(count, 1, target(1, 1e-3));
    for (const Pairing& row : table.rows) EXPECT_LE(table.rows[table.best].error, row.error);
    EXPECT_EQ(table.rows[table.best].law, count == 1 ? NoiseLaw::laplace : NoiseLaw::gaussian);
  }
}

TEST(Pairings, WidthsOfTheNoise) {
  const auto rows = by_key(compare_pairings(50, 1, target(1, 1e-6)));
  const Pairing& laplace = rows.at({NoiseLaw::laplace, Composition::basic});
  EXPECT_NEAR(laplace.standard_deviation, 50 * std::sqrt(2), 1e-12 * 50);
  EXPECT_NEAR(laplace.error, 50 * std::log(20), 1e-10);
  const Pairing& gaussian = rows.at({NoiseLaw::gaussian, Composition::certified});
  EXPECT_EQ(gaussian.standard_deviation, gaussian.parameter);
  EXPECT_NEAR(std::erfc(gaussian.error / gaussian.parameter / std::sqrt(2)), 0.05, 1e-12);
}

TEST(Pairings, WithoutDeltaThereIsLaplaceNoise) {
  const PairingTable table = compare_pairings(100, 1, target(1, 0));
  ASSERT_EQ(table.rows.size(), 2u);
  for (const Pairing& row : table.rows) {
    EXPECT_EQ(row.law, NoiseLaw::laplace);
    EXPECT_EQ(row.parameter, 100);
    EXPECT_LE(row.epsilon.bounds.upper, 1);
  }
}

TEST(Pairings, RefusesBadInput) {
  EXPECT_THROW(compare_pairings(0, 1, target(1, 1e-6)), Error);
  EXPECT_THROW(compare_pairings(10, 0, target(1, 1e-6)), Error);
  EXPECT_THROW(compare_pairings(10, 1, target(0, 1e-6)), Error);
}

}  // namespace
}  // namespace shoal::privacy
