// Does a sampler draw from a pmf? Pearson's chi-square over cells of neighbouring values and over
// residues, which see what wide cells do not, such as a lost lowest bit.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/random/bit_source.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace shoal::test {

using Sampler = std::function<Int128(random::BitSource&)>;
using LogPmf = std::function<double(Int128)>;

namespace detail {

inline double p_value(const std::vector<double>& expected, const std::vector<double>& observed) {
  double statistic = 0;
  int cells = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // An outcome that hardly ever comes counts only if it came: a sampler must not make it up.
    if (expected[i] < 1 && observed[i] < 3) continue;
    const double difference = observed[i] - expected[i];
    statistic += difference * difference / std::max(expected[i], 1e-3);
    ++cells;
  }
  return cells < 2 ? 1.0 : numeric::chi_square_tail(statistic, cells - 1);
}

}  // namespace detail

// The smaller p-value of the two tests, doubled: a sampler that is right gives less than t with
// probability at most about t. Noise beyond `radius` must be all but impossible.
inline double chi_square_p_value(const Sampler& sampler, const LogPmf& log_pmf, long long radius,
                                 int draws, random::BitSource& bits) {
  constexpr std::size_t kResidues = 8;
  const double least = std::max(20.0, draws / 400.0);
  std::vector<double> expected;
  std::vector<double> expected_residue(kResidues, 0.0);
  std::vector<std::size_t> cell_of;  // by x + radius
  double open = 0;
  for (long long x = -radius; x <= radius; ++x) {
    const double mass = draws * std::exp(log_pmf(x));
    cell_of.push_back(expected.size());
    expected_residue[static_cast<std::size_t>(x & 7)] += mass;
    open += mass;
    if (open >= least) {
      expected.push_back(open);
      open = 0;
    }
  }
  // What is left at the end joins the last full cell; values out of the radius get a cell of their
  // own.
  const std::size_t last = expected.size() - 1;
  expected[last] += open;
  expected.push_back(0);
  std::vector<double> observed(expected.size(), 0.0);
  std::vector<double> observed_residue(kResidues, 0.0);
  for (int i = 0; i < draws; ++i) {
    const Int128 x = sampler(bits);
    observed_residue[static_cast<std::size_t>(x & 7)] += 1;
    const bool inside = x >= -radius && x <= radius;
    const std::size_t cell =
        inside ? std::min(cell_of[static_cast<std::size_t>(x + radius)], last) : last + 1;
    observed[cell] += 1;
  }
  return 2 * std::min(detail::p_value(expected, observed),
                      detail::p_value(expected_residue, observed_residue));
}

}  // namespace shoal::test
