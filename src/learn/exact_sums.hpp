// Exact sums of products over all rows: X'X and X'y as integers on a grid.
//
// Features are cut towards zero to multiples of 2^row_exponent and labels to multiples of
// 2^label_exponent, so no row gets longer and no label larger. The sums are the same in every order
// and by any number of threads.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/learn/rows.hpp>

#include <vector>

namespace shoal::learn {

struct ProductSums {
  std::vector<Int128> matrix;  // the lower triangle, row by row: (0,0), (1,0), (1,1), (2,0), ...
  std::vector<Int128> vector;
};

// A value of the rows and of the labels has fewer steps than this (internal otherwise): sums of
// 2^16 products are then exact in doubles.
inline constexpr double kStepLimit = 0x1p18;

ProductSums product_sums(const RowSource& rows, int row_exponent, int label_exponent,
                         unsigned threads);

}  // namespace shoal::learn
