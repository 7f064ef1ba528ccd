// Losses, pointwise in the linear prediction z = <x, w>, so that the gradient of a row is
// slope * x and its Hessian curvature * x x'. All are convex.
//
// Labels: +1 or -1 for logistic, huberised_hinge and hinge; a number within public bounds for
// squared, huber, log_cosh; a count from 0 to `most` for poisson; the number of a class, from 0,
// for softmax, which has one linear prediction a class and is not pointwise.
//
// `value`, `slope` and `curvature` are ordinary floating point. What a guarantee rests on are the
// constants of LossBounds, rounded up, and slope_error(), a bound on what floating point does to a
// slope.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::learn {

// (z - y)^2 / 2: mean estimation and linear regression. Its slope has no bound but on a bounded
// set.
struct Squared {
  bool operator==(const Squared&) const = default;
};

// ln(1 + e^(-y z)).
struct Logistic {
  bool operator==(const Logistic&) const = default;
};

// max(0, 1 - y z) with the kink rounded off over a margin of 2 * half_width.
struct HuberisedHinge {
  double half_width = 0.5;
  bool operator==(const HuberisedHinge&) const = default;
};

// max(0, 1 - y z): only for methods that need no smoothness.
struct Hinge {
  bool operator==(const Hinge&) const = default;
};

// (z - y)^2 / 2 up to a residual of `knot`, linear beyond.
struct Huber {
  double knot = 1;
  bool operator==(const Huber&) const = default;
};

// ln cosh(z - y).
struct LogCosh {
  bool operator==(const LogCosh&) const = default;
};

// e^z - y z up to z = log_limit, e^z continued linearly beyond; counts y are clipped to [0, most].
struct Poisson {
  double log_limit = 3;
  double most = 20;
  bool operator==(const Poisson&) const = default;
};

// -ln of the chance that softmax of the predictions gives class y.
struct Softmax {
  std::size_t classes = 0;
  bool operator==(const Softmax&) const = default;
};

using Loss =
    std::variant<Squared, Logistic, HuberisedHinge, Hinge, Huber, LogCosh, Poisson, Softmax>;

// Throws invalid_argument for a parameter out of range.
void validate(const Loss& loss);

// Facts about a loss, for every label and every prediction. Bounds are rounded up; infinite if
// there is none.
struct LossBounds {
  double slope = 0;            // of |slope|; for softmax of its Euclidean norm
  double curvature = 0;        // of the curvature; for softmax of the Hessian's largest eigenvalue
  bool smooth = true;          // the slope is Lipschitz, with constant `curvature`
  bool one_signed = false;     // given the label, the slope never changes its sign
  bool logistic_like = false;  // curvature <= |slope| (1 - |slope|), |slope| <= 1, one-signed
  bool pointwise = true;       // a function of one linear prediction
  std::size_t hessian_rank = 1;  // of one row, at most
  bool two_classes = false;      // labels are +1 and -1
};
LossBounds bounds(const Loss& loss);

// Bounds of a row's gradient and Hessian norm for rows of norm at most row_norm, rounded up.
double lipschitz(const Loss& loss, double row_norm);
double smoothness(const Loss& loss, double row_norm);

// Each throws unsupported for softmax.
double value(const Loss& loss, double z, double y);
double slope(const Loss& loss, double z, double y);
double curvature(const Loss& loss, double z, double y);

// Softmax: one prediction a class. `gradient` is set to the derivative by each.
double softmax_value(std::span<const double> z, std::size_t label);
void softmax_gradient(std::span<const double> z, std::size_t label, std::span<double> gradient);

// How far the slope computed in a floating point of unit roundoff `unit` can be from the exact one
// at the same z, for |z| <= z_bound and |y| <= label_bound; rounded up.
double slope_error(const Loss& loss, double z_bound, double label_bound, double unit);

// "squared", "logistic", "huberised_hinge", "hinge", "huber", "log_cosh", "poisson", "softmax".
std::string_view name(const Loss& loss);

}  // namespace shoal::learn
