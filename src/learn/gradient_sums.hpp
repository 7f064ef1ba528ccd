// Exact sums of clipped row gradients on an integer grid, by several threads. Secret: a sum leaves
// with noise only.
//
// Invariants: what a row adds depends on that row and the weights alone, and has a Euclidean norm
// of at most gradient_sensitivity() steps. Integers have no order, so the sum depends neither on
// the order of the rows nor on the number of threads. Proof: gradient_sums.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/learn/gradient_noise.hpp>
#include <shoal/learn/loss.hpp>
#include <shoal/learn/rows.hpp>
#include <shoal/random/bit_source.hpp>

#include <span>
#include <vector>

namespace shoal::learn {

class GradientSums {
 public:
  // Any loss, softmax too. Keeps references to rows and loss.
  GradientSums(const RowSource& rows, const Loss& loss, const GradientNoise& noise,
               unsigned threads);

  // Of all rows, and of the rows with these numbers, ascending.
  std::vector<Int128> all(std::span<const double> weights) const;
  std::vector<Int128> of(std::span<const std::uint64_t> chosen,
                         std::span<const double> weights) const;

 private:
  std::size_t weight_count() const { return rows_.dimension() * classes_; }

  const RowSource& rows_;
  const Loss& loss_;
  GradientNoise noise_;
  std::size_t classes_;  // 1 but for softmax
  double common_limit_;  // slopes of at most this need no clipping, whatever the row
  unsigned threads_;
};

// The noise of one sum, drawn before the sum is looked at; and the noisy sum in gradient units.
std::vector<std::int64_t> draw_gradient_noise(const GradientNoise& noise, std::size_t count,
                                              random::BitSource& bits);
std::vector<double> noisy_gradient(std::span<const Int128> sum, std::span<const std::int64_t> drawn,
                                   const GradientNoise& noise);

}  // namespace shoal::learn
