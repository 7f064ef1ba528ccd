// How many rows there are, as far as it may be known.
#pragma once

#include <shoal/learn/rows.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <algorithm>

namespace shoal::learn {

// The public guess or, where there is noise for it, their number with noise. What is below the
// noise is no knowledge: steps would be wild.
inline double known_rows(double guess, double count_sigma, const RowSource& rows,
                         random::BitSource& bits) {
  if (count_sigma == 0) return guess;
  const Int128 drawn = random::sample_rounded_normal(count_sigma, bits);
  const Int128 noisy = saturating_add(static_cast<Int128>(rows.row_count()), drawn);
  return std::max(static_cast<double>(noisy), count_sigma);
}

}  // namespace shoal::learn
