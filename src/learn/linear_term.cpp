#include "learn/linear_term.hpp"

#include "learn/bounded_proximal.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::learn {
namespace {

// The term is an exactly rounded draw of the ideal law, on a grid this much finer than its scale.
constexpr int kNoiseDigits = 40;

int grid_of(double scale) { return std::ilogb(scale) - kNoiseDigits; }

// Half a step for the rounded draw; beyond 2^53 steps the double rounds once more.
double rounding_up(double scale, double largest, std::size_t dimension) {
  const double each =
      numeric::add_up(std::ldexp(0.5, grid_of(scale)), numeric::multiply_up(largest, 0x1p-53));
  return numeric::multiply_up(numeric::sqrt_up(static_cast<double>(dimension)), each);
}

}  // namespace

LinearTerm draw_linear_term(NoiseShape shape, double scale, std::size_t dimension,
                            random::BitSource& bits) {
  const int exponent = grid_of(scale);
  const double steps = std::ldexp(scale, -exponent);  // exact: a power of two
  std::vector<Int128> drawn;
  if (shape == NoiseShape::norm) {
    drawn = random::sample_norm_noise(steps, static_cast<std::int64_t>(dimension), bits);
  } else {
    const random::RoundedNormalSampler sampler(steps);
    for (std::size_t j = 0; j < dimension; ++j) drawn.push_back(sampler.sample(bits));
  }
  LinearTerm term;
  double largest = 0;
  for (const Int128 one : drawn) {
    term.values.push_back(std::ldexp(static_cast<double>(one), exponent));
    largest = std::fmax(largest, std::fabs(term.values.back()));
  }
  term.rounding = rounding_up(scale, largest, dimension);
  return term;
}

void check_perturbed(const Problem& problem, NoiseShape shape, double scale, double l2,
                     double residual) {
  const double norm = shape == NoiseShape::norm ? gamma_norm_bound(scale, problem.dimension)
                                                : gaussian_norm_bound(scale, problem.dimension);
  const double left = numeric::subtract_down(residual, rounding_up(scale, norm, problem.dimension));
  if (!(left >= residual / 2)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a residual of {} is lost in the rounding of noise of scale {} on {} "
                    "weights; allow a larger one",
                    format_rounded(residual, 6), format_rounded(scale, 6), problem.dimension));
  }
  check_reachable(problem, l2, residual / 2, norm);
}

}  // namespace shoal::learn
