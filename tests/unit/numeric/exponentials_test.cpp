#include <shoal/numeric/exponentials.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal::numeric {
namespace {

TEST(Exponentials, AreNearTheTruthAtEveryDistance) {
  std::vector<double> values;
  for (double below = 0; below < 700; below += 0.37) values.push_back(3.5 - below);
  const std::vector<double> before = values;
  exponentials(values, 3.5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double truth = std::exp(before[i] - 3.5);
    EXPECT_NEAR(values[i] / truth, 1, 0x1p-49) << before[i];
  }
  EXPECT_EQ(values[0], 1);
}

TEST(Exponentials, GiveNothingForWhatIsFarBelow) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = {-1, -702, -infinity, -2, -701.5};
  exponentials(values, -1);
  EXPECT_EQ(values, std::vector<double>({1, 0, 0, values[3], 0}));
  EXPECT_NEAR(values[3], std::exp(-1.0), 1e-15);
}

// Whatever the number of values: the last ones are not four.
TEST(Exponentials, DoNotDependOnTheirNeighbours) {
  for (std::size_t size = 0; size < 9; ++size) {
    std::vector<double> values(size, -0.75);
    exponentials(values, 0);
    for (const double value : values) EXPECT_NEAR(value, std::exp(-0.75), 1e-15);
  }
}

}  // namespace
}  // namespace shoal::numeric
