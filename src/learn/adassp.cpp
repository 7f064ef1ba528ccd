#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/adassp.hpp>
#include <shoal/mechanism/gaussian_calibration.hpp>
#include <shoal/mechanism/norm_noise.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::multiply_down;
using numeric::multiply_up;

// The longest row and the largest label have from 2^17 to 2^18 steps: so fine that cutting does not
// show beside the noise, so coarse that sums of a block are exact in doubles (exact_sums.hpp).
constexpr int kDigits = 17;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_problem(const Problem& problem) {
  validate(problem);
  if (!std::holds_alternative<Squared>(problem.loss)) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("adassp is for the squared loss, and this one is {}; use --model linear, or "
                    "--method objective",
                    name(problem.loss)));
  }
  if (problem.regulariser.l1 > 0)
    refuse("adassp has no l1 regulariser; leave --l1 out, or use --method objective");
  if (problem.dimension > kMostSummedFeatures) {
    throw Error(ErrorCode::unsupported,
                fmt::format("adassp keeps a matrix of features times features, and {} are more "
                            "than {}; choose columns with --features",
                            problem.dimension, kMostSummedFeatures));
  }
}

int fine_grid(double bound) { return std::ilogb(bound) - kDigits; }

// What the matrix and the vector are worth alone when a row comes or goes: sensitivity / sigma.
struct Parts {
  double matrix = 0;
  double vector = 0;
};

Parts parts_up(const AdaSsp& method, const Problem& problem) {
  const double row = std::ldexp(problem.row_norm, -method.row_exponent);  // exact
  const double label = std::ldexp(problem.label_bound, -method.label_exponent);
  return {divide_up(multiply_up(row, row), method.matrix_sigma),
          divide_up(multiply_up(row, label), method.vector_sigma)};
}

// mu^2 for p and q of the parts: p^2 + q^2 if a row comes or goes; at an exchange the largest value
// of 2 p^2 (1 - t^2) + 2 q^2 (1 + t) for t in [0, 1].
double mu_square_up(Parts parts, Neighbors neighbors) {
  const double p = multiply_up(parts.matrix, parts.matrix);
  const double q = multiply_up(parts.vector, parts.vector);
  if (neighbors == Neighbors::add_remove) return add_up(p, q);
  const double p_down = multiply_down(parts.matrix, parts.matrix);
  const double at_any = add_up(2 * add_up(p, q), divide_up(multiply_up(q, q), 2 * p_down));
  const bool at_one = multiply_down(parts.vector, parts.vector) >= 2 * p;
  return at_one ? std::min(at_any, 4 * q) : at_any;
}

// How far all sums together move, in steps.
double steps_up(const AdaSsp& method, const Problem& problem) {
  const double row = std::ldexp(problem.row_norm, -method.row_exponent);
  const double label = std::ldexp(problem.label_bound, -method.label_exponent);
  return numeric::sqrt_up(
      mu_square_up({multiply_up(row, row), multiply_up(row, label)}, method.neighbors));
}

std::int64_t sum_count(const Problem& problem) {
  const auto d = static_cast<std::int64_t>(problem.dimension);
  return d * (d + 3) / 2;
}

}  // namespace

double adassp_epsilon_up(const AdaSsp& method, const Problem& problem) {
  SHOAL_CHECK(method.shape == NoiseShape::norm);
  return divide_up(steps_up(method, problem), method.matrix_sigma);
}

double adassp_mu_up(const AdaSsp& method, const Problem& problem) {
  SHOAL_CHECK(method.shape == NoiseShape::gaussian);
  return numeric::sqrt_up(mu_square_up(parts_up(method, problem), method.neighbors));
}

AdaSsp calibrate_adassp(const Problem& problem, Neighbors neighbors, Epsilon epsilon, Delta delta,
                        const AdaSspOptions& options) {
  check_problem(problem);
  if (!(epsilon.value() > 0)) refuse("adassp needs an epsilon above 0");
  if (!(options.matrix_share >= 0x1p-20 && options.matrix_share <= 0x1p20))
    refuse("the share of the matrix must be from 2^-20 to 2^20");
  AdaSsp method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.row_exponent = fine_grid(problem.row_norm);
  method.label_exponent = fine_grid(problem.label_bound);
  method.l2 = options.l2.value_or(problem.regulariser.l2);
  if (!(delta.value() > 0)) {
    method.shape = NoiseShape::norm;
    method.matrix_sigma =
        mechanism::calibrate_norm_noise(steps_up(method, problem), sum_count(problem),
                                        Epsilon(numeric::step_down(method.epsilon, 4)))
            .scale;
    validate(method, problem);
    return method;
  }
  // With p^2 = share and q^2 = 1 the noise has some mu; all of it is scaled to the mu that is
  // wanted, and a little more for rounding.
  const double share = options.matrix_share;
  const double unit = mu_square_up({std::sqrt(share), 1}, neighbors);
  const double sigma = mechanism::analytic_gaussian_sigma(1, epsilon, delta);
  const double factor = std::sqrt(unit) * sigma * (1 + 0x1p-40);
  const double row = std::ldexp(problem.row_norm, -method.row_exponent);
  const double label = std::ldexp(problem.label_bound, -method.label_exponent);
  method.matrix_sigma = row * row / std::sqrt(share) * factor;
  method.vector_sigma = row * label * factor;
  validate(method, problem);
  return method;
}

void validate(const AdaSsp& method, const Problem& problem) {
  check_problem(problem);
  const bool pure = method.shape == NoiseShape::norm;
  if (!(method.epsilon > 0) || pure != (method.delta == 0) || pure != (method.vector_sigma == 0) ||
      !(method.l2 >= problem.regulariser.l2 && std::isfinite(method.l2)) ||
      method.row_exponent != fine_grid(problem.row_norm) ||
      method.label_exponent != fine_grid(problem.label_bound)) {
    refuse("the parts of this adassp do not fit together; calibrate it anew");
  }
  random::check_scale(method.matrix_sigma, "noise of the sums, in grid steps,");
  if (pure) {
    if (adassp_epsilon_up(method, problem) <= method.epsilon) return;
    refuse(fmt::format("norm noise of scale {} does not give epsilon {}; raise it",
                       format_rounded(method.matrix_sigma, 6), format_number(method.epsilon)));
  }
  random::check_scale(method.vector_sigma, "noise of the sums, in grid steps,");
  const double mu = adassp_mu_up(method, problem);
  if (!(numeric::gaussian_delta_up(1, mu, method.epsilon) <= method.delta)) {
    refuse(fmt::format("noise of mu {} does not give epsilon {} and delta {}; raise it",
                       format_rounded(mu, 6), format_number(method.epsilon),
                       format_number(method.delta)));
  }
}

privacy::Event privacy_event(const AdaSsp& method, const Problem& problem) {
  validate(method, problem);
  if (method.shape == NoiseShape::norm)
    return privacy::event::Pure{numeric::decimal_at_least(adassp_epsilon_up(method, problem))};
  return privacy::event::Gdp{adassp_mu_up(method, problem)};
}

}  // namespace shoal::learn
