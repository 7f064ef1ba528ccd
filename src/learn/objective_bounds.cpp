// What objective perturbation is worth: each bound is a theorem of objective_perturbation.proof.md,
// applied where its conditions hold, with every rounding on the safe side.
#include <shoal/base/error.hpp>
#include <shoal/learn/objective_perturbation.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_down;
using numeric::divide_up;
using numeric::gaussian_delta_up;
using numeric::multiply_down;
using numeric::multiply_up;

struct Facts {
  LossBounds loss;
  double row_norm;
  double lipschitz;
  double jacobian;  // ln(1 + beta / l2), rounded up
  bool replace;
};

Facts facts_of(const Problem& problem, Neighbors neighbors, double l2) {
  Facts facts;
  facts.loss = bounds(problem.loss);
  facts.row_norm = problem.row_norm;
  facts.lipschitz = lipschitz(problem.loss, problem.row_norm);
  facts.jacobian = numeric::log1p_up(divide_up(smoothness(problem.loss, problem.row_norm), l2));
  facts.replace = neighbors == Neighbors::replace_one;
  return facts;
}

bool usable(const Facts& facts, double l2) {
  return facts.loss.pointwise && facts.loss.smooth && std::isfinite(facts.lipschitz) && l2 > 0;
}

// Theorems 1 and 2: no price for the Jacobian.
double logistic_delta_up(const Facts& facts, double sigma, double l2, double epsilon) {
  if (!facts.loss.logistic_like || !(epsilon > 0)) return 1;
  const double square = multiply_up(facts.row_norm, facts.row_norm);
  if (facts.replace) {
    if (multiply_down(l2, epsilon) < 2 * square) return 1;
    return gaussian_delta_up(sigma, 2 * facts.row_norm, epsilon);
  }
  // l2 >= R^2 / (eps + R^2 / (2 sigma^2)), the right side rounded up.
  const double square_down = multiply_down(facts.row_norm, facts.row_norm);
  const double slack =
      numeric::add_down(epsilon, divide_down(square_down, 2 * multiply_up(sigma, sigma)));
  if (l2 < divide_up(square, slack)) return 1;
  return gaussian_delta_up(sigma, facts.row_norm, epsilon);
}

// Theorems 3 and 4: a union over the vertices of the slopes' range.
double vertex_delta_up(const Facts& facts, double sigma, double epsilon) {
  const double rest = numeric::subtract_down(epsilon, facts.jacobian);
  const double once = facts.lipschitz;
  if (facts.loss.one_signed && !facts.replace) {
    return gaussian_delta_up(sigma, once, std::max(rest, 0.0));
  }
  if (!(rest >= 0)) return 1;
  const double far = gaussian_delta_up(sigma, facts.replace ? 2 * once : once, rest);
  if (!facts.replace) return 2 * far;
  if (!facts.loss.one_signed) return 4 * far;
  return add_up(far, 2 * gaussian_delta_up(sigma, once, rest));
}

// Theorem 5: curvature 1 - slope^2 is paid by the slope, as with the logistic loss.
double log_cosh_delta_up(const Problem& problem, const Facts& facts, double sigma, double l2,
                         double epsilon) {
  if (!std::holds_alternative<LogCosh>(problem.loss) || facts.replace) return 1;
  const double square = multiply_up(facts.row_norm, facts.row_norm);
  if (multiply_down(l2, epsilon) < 2 * square) return 1;
  if (epsilon < divide_up(square, 2 * multiply_down(sigma, sigma))) return 1;
  return 2 * gaussian_delta_up(sigma, facts.row_norm, epsilon);
}

}  // namespace

double objective_delta_up(const Problem& problem, Neighbors neighbors, double sigma, double l2,
                          double epsilon) {
  const Facts facts = facts_of(problem, neighbors, l2);
  if (!usable(facts, l2) || !(sigma > 0)) return 1;
  return std::min({1.0, logistic_delta_up(facts, sigma, l2, epsilon),
                   vertex_delta_up(facts, sigma, epsilon),
                   log_cosh_delta_up(problem, facts, sigma, l2, epsilon)});
}

double objective_epsilon_up(const Problem& problem, Neighbors neighbors, double scale, double l2) {
  const Facts facts = facts_of(problem, neighbors, l2);
  if (!usable(facts, l2) || !(scale > 0)) return std::numeric_limits<double>::infinity();
  const double reach = facts.replace ? 2 * facts.lipschitz : facts.lipschitz;
  const double plain = divide_up(reach, scale);
  // Theorem 6: for the logistic loss the noise pays for the Jacobian if l2 >= k R^2 / epsilon.
  const double square = multiply_up(facts.row_norm, facts.row_norm);
  const double factor = facts.replace ? 2 : 1;
  if (facts.loss.logistic_like && multiply_down(l2, plain) >= factor * square) return plain;
  return add_up(plain, facts.jacobian);
}

std::optional<double> objective_gaussian_mu_up(const ObjectivePerturbation& method,
                                               const Problem& problem) {
  if (!bounds(problem.loss).logistic_like || method.shape != NoiseShape::gaussian) return {};
  if (method.l2 < 2 * multiply_up(method.scale, method.scale)) return {};
  const double once = divide_up(problem.row_norm, method.scale);
  const double inside = method.neighbors == Neighbors::replace_one ? 2 * once : once;
  const double distance = divide_up(2 * method.residual, method.l2);
  const double outside =
      divide_up(grid_sensitivity(distance, method.output.exponent, weight_count(problem)),
                method.output.scale);
  return numeric::sqrt_up(add_up(multiply_up(inside, inside), multiply_up(outside, outside)));
}

}  // namespace shoal::learn
