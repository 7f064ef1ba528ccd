// NaN is NULL wherever it stands among the values of a vector, and nothing else is.
#include "engine/number_function.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shoal::engine {
namespace {

TEST(NumberFunction, IsNullForNaNAlone) {
  DuckdbConnection connection;
  register_number_function(connection);
  for (int size = 1; size <= 20; ++size) {
    for (int place = 0; place <= size; ++place) {  // at the end: none
      const auto found = connection.integers(fmt::format(
          "SELECT CAST(COUNT(n) AS HUGEINT), CAST(COALESCE(SUM(CASE WHEN n IS NULL THEN i END), "
          "{0}) AS HUGEINT) FROM (SELECT i, shoal_number(CASE WHEN i = {0} THEN 'nan' ELSE i / 2 "
          "END::DOUBLE) AS n FROM range({1}) AS t(i))",
          place, size));
      EXPECT_EQ(found.at(0), size - (place < size ? 1 : 0)) << size << ' ' << place;
      EXPECT_EQ(found.at(1), place) << size << ' ' << place;
    }
  }
}

TEST(NumberFunction, KeepsNullsAndInfinities) {
  DuckdbConnection connection;
  register_number_function(connection);
  const auto found = connection.integers(
      "SELECT CAST(COUNT(shoal_number(x)) AS HUGEINT), CAST(COUNT(*) FILTER (isinf(shoal_number(x)"
      ")) AS HUGEINT) FROM (VALUES ('inf'::DOUBLE), ('-inf'), (NULL), ('nan'), (0.5)) AS t(x)");
  EXPECT_EQ(found.at(0), 3);
  EXPECT_EQ(found.at(1), 2);
}

}  // namespace
}  // namespace shoal::engine
