// Values of a question on private rows, in the rows' order.
#include <shoal/adaptive/row_values.hpp>

#include <gtest/gtest.h>

namespace shoal::adaptive {
namespace {

TEST(RowValues, GivesTheFunctionPlaceAndCellsOfEveryRow) {
  const data::TableRows rows(2, [](const data::TableRows::Take& take) {
    for (int i = 0; i < 3; ++i) {
      const data::Cell cells[2] = {{static_cast<double>(i), data::kNoCategory}, {0, i}};
      take(cells);
    }
  });
  const auto values = values_of_rows(rows, [](std::size_t place, auto cells) {
    return 100.0 * static_cast<double>(place) + 10 * cells[0].number + cells[1].category;
  });
  EXPECT_EQ(values, (std::vector<double>{0, 111, 222}));
}

}  // namespace
}  // namespace shoal::adaptive
