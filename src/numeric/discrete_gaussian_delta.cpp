#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/gaussian_delta.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::numeric {
namespace {

// sqrt(2 pi) lies strictly above this double and strictly below the next.
constexpr double kRootOfTwoPiDown = 0x1.40d931ff62705p+1;

struct Bounds {
  double down;
  double up;
};

// Bounds of sigma^2 and of the step count as a double.
struct Parameters {
  double sigma;
  double variance_down;
  double variance_up;
  double steps_down;
  double steps_up;
  double epsilon;
};

Parameters prepare(double sigma, long long steps, double epsilon) {
  if (!(sigma >= 0x1p-10 && sigma <= 0x1p50 && steps >= 1 && epsilon >= 0 &&
        std::isfinite(epsilon))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sigma {}, steps {}, epsilon {}; sigma must be from 2^-10 to 2^50, "
                            "steps at least 1, epsilon finite and not negative",
                            sigma, steps, epsilon));
  }
  const auto nearest = static_cast<double>(steps);
  const bool is_exact = std::fabs(nearest) <= 0x1p53;
  return {sigma,
          multiply_down(sigma, sigma),
          multiply_up(sigma, sigma),
          is_exact ? nearest : step_down(nearest),
          is_exact ? nearest : step_up(nearest),
          epsilon};
}

// exp(-x^2 / (2 sigma^2)).
double weight_up(const Parameters& p, double x) {
  return exp_up(-divide_down(multiply_down(x, x), 2 * p.variance_up));
}
double weight_down(const Parameters& p, double x) {
  return exp_down(-divide_up(multiply_up(x, x), 2 * p.variance_down));
}

// The privacy loss at x minus epsilon: steps (2x + steps) / (2 sigma^2) - epsilon, for a sum that
// is not negative; else it only has to keep its sign.
double excess_up(const Parameters& p, double x) {
  const double sum = add_up(2 * x, p.steps_up);
  if (sum <= 0) return -p.epsilon;
  return subtract_up(divide_up(multiply_up(p.steps_up, sum), 2 * p.variance_down), p.epsilon);
}
double excess_down(const Parameters& p, double x) {
  const double sum = add_down(2 * x, p.steps_down);
  if (sum <= 0) return -p.epsilon;
  return subtract_down(divide_down(multiply_down(p.steps_down, sum), 2 * p.variance_up), p.epsilon);
}

// weight(x) (1 - e^(epsilon - loss(x))), where it is positive.
double summand_up(const Parameters& p, double x) {
  const double excess = excess_up(p, x);
  return excess > 0 ? multiply_up(weight_up(p, x), -expm1_down(-excess)) : 0;
}
double summand_down(const Parameters& p, double x) {
  const double excess = excess_down(p, x);
  return excess > 0 ? multiply_down(weight_down(p, x), -expm1_up(-excess)) : 0;
}

// The sum of all weights from x > 0 on: they fall at least as fast as a geometric series of ratio
// exp(-x / sigma^2).
double tail_up(const Parameters& p, double x) {
  return divide_up(weight_up(p, x), -expm1_up(-divide_down(x, p.variance_up)));
}

// Poisson summation: sigma sqrt(2 pi) (1 + 2 e^(-2 pi^2 sigma^2) + ...), which from sigma 8 on is
// less than 2^-1000 above its first term.
constexpr double kMinSmoothSigma = 8;

Bounds normaliser(const Parameters& p) {
  if (p.sigma >= kMinSmoothSigma) {
    return {multiply_down(p.sigma, kRootOfTwoPiDown),
            step_up(multiply_up(p.sigma, step_up(kRootOfTwoPiDown)))};
  }
  const double last = std::ceil(9 * p.sigma) + 1;
  Bounds half{0, tail_up(p, last + 1)};
  for (auto count = static_cast<int>(last); count > 0; --count) {
    const double x = count;
    half.down = add_down(half.down, weight_down(p, x));
    half.up = add_up(half.up, weight_up(p, x));
  }
  return {add_down(1, 2 * half.down), add_up(1, 2 * half.up)};
}

Bounds summed(const Parameters& p) {
  // The first x with a loss above epsilon, or a little before; nothing is left of -40 sigma.
  const double reach = std::ceil(40 * p.sigma) + 1;
  const double threshold = subtract_down(
      divide_down(multiply_down(p.epsilon, p.variance_down), p.steps_up), p.steps_up / 2);
  if (threshold > reach) return {0, std::min(tail_up(p, reach), 1.0)};
  const double first = std::max(std::floor(threshold), -reach);
  Bounds sum{0, 0};
  double x = first;
  while (true) {
    sum.down = add_down(sum.down, summand_down(p, x));
    sum.up = add_up(sum.up, summand_up(p, x));
    ++x;
    if (x < 1) continue;
    const double rest = tail_up(p, x);
    if (rest <= sum.up * 0x1p-56 || x > reach) {
      sum.up = add_up(sum.up, rest);
      break;
    }
  }
  if (first == -reach) sum.up = add_up(sum.up, tail_up(p, reach));
  const Bounds all = normaliser(p);
  return {std::min(divide_down(sum.down, all.up), 1.0), std::min(divide_up(sum.up, all.down), 1.0)};
}

// The summands h(x) are log-concave in real x where they are positive, so their sum over the
// integers differs from their integral by at most their maximum. The integral over sigma sqrt(2 pi)
// is the continuous delta; the weights add up to sigma sqrt(2 pi) times 1 + 2 e^(-2 pi^2 sigma^2)
// or so, which is one here but for less than 2^-1000. And with w the distance from u in sigmas,
//   h = e^(-u^2 / 2) e^(-u w - w^2 / 2) (1 - e^(-m w)) <= e^(-u^2 / 2) m max(w e^(-u w - w^2 / 2)),
// whose maximum, w e^(w^2 / 2 - 1), is at w = (sqrt(u^2 + 4) - u) / 2 and grows with that w.
Bounds bracketed(const Parameters& p) {
  const double ratio_up = divide_up(p.steps_up, p.sigma);
  const double ratio_down = divide_down(p.steps_down, p.sigma);
  const double u_down = subtract_down(divide_down(p.epsilon, ratio_up), ratio_up / 2);
  const double u_up = subtract_up(divide_up(p.epsilon, ratio_down), ratio_down / 2);
  // For w from above, from u from below: 2 / (sqrt(u^2 + 4) + u) where u is positive.
  const double square_down = u_down > 0 ? multiply_down(u_down, u_down) : 0;
  const double near = u_down > 0 ? u_down : 0;
  const double square_up = multiply_up(u_down, u_down);
  const double w_up = u_down > 0 ? divide_up(2, add_down(sqrt_down(add_down(square_down, 4)), near))
                                 : subtract_up(sqrt_up(add_up(square_up, 4)), u_down) / 2;
  const double u_square_down = u_down > 0 ? square_down : u_up < 0 ? multiply_down(u_up, u_up) : 0;
  const double exponent_up =
      subtract_up(subtract_up(multiply_up(w_up, w_up) / 2, 1), u_square_down / 2);
  const double largest_up =
      std::min(multiply_up(multiply_up(ratio_up, w_up), exp_up(exponent_up)), 1.0);
  const double correction_up = divide_up(largest_up, multiply_down(p.sigma, kRootOfTwoPiDown));
  const double above = gaussian_delta_up(p.sigma, p.steps_up, p.epsilon);
  const double below = gaussian_delta_down(p.sigma, p.steps_down, p.epsilon);
  return {std::max(step_down(subtract_down(below, correction_up), 2), 0.0),
          std::min(add_up(above, correction_up), 1.0)};
}

Bounds bounds_of(double sigma, long long steps, double epsilon) {
  const Parameters p = prepare(sigma, steps, epsilon);
  return sigma <= kMaxSummedSigma ? summed(p) : bracketed(p);
}

}  // namespace

double discrete_gaussian_delta_up(double sigma, long long steps, double epsilon) {
  return bounds_of(sigma, steps, epsilon).up;
}

double discrete_gaussian_delta_down(double sigma, long long steps, double epsilon) {
  return bounds_of(sigma, steps, epsilon).down;
}

}  // namespace shoal::numeric
