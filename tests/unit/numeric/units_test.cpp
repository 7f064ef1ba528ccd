#include <shoal/numeric/units.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::numeric {
namespace {

TEST(Units, ADecimalThatIsHighEnoughIsKept) {
  for (const double kept : {0.0, 0.5, 1.0, 3.0, 0.125, 0.7}) {
    EXPECT_EQ(decimal_at_least(kept), kept) << kept;
  }
  // 0.1 and 1.1 are a little under their doubles.
  EXPECT_EQ(decimal_at_least(0.1), std::nextafter(0.1, 1));
  EXPECT_EQ(decimal_at_least(1.1), std::nextafter(1.1, 2));
}

}  // namespace
}  // namespace shoal::numeric
