#include "learn/pointwise.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/loss.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::exp_up;
using numeric::multiply_up;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void out_of_range(std::string_view what, double value, std::string_view range) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the {} is {}; it must be {}", what, format_number(value), range));
}

[[noreturn]] void not_pointwise() {
  throw Error(ErrorCode::unsupported,
              "softmax has one linear prediction a class; use softmax_value and softmax_gradient");
}

struct Validate {
  void operator()(const HuberisedHinge& loss) const {
    if (!(loss.half_width >= 0x1p-10 && loss.half_width <= 1))
      out_of_range("half_width of huberised_hinge", loss.half_width, "from 2^-10 to 1");
  }
  void operator()(const Huber& loss) const {
    if (!(loss.knot >= 0x1p-20 && loss.knot <= 0x1p20))
      out_of_range("knot of huber", loss.knot, "from 2^-20 to 2^20");
  }
  void operator()(const Poisson& loss) const {
    if (!(loss.log_limit >= -20 && loss.log_limit <= 20))
      out_of_range("log_limit of poisson", loss.log_limit, "from -20 to 20");
    if (!(loss.most > 0 && loss.most <= 0x1p40))
      out_of_range("largest count of poisson", loss.most, "above 0 and at most 2^40");
  }
  void operator()(const Softmax& loss) const {
    if (loss.classes < 2 || loss.classes > 100'000)
      out_of_range("number of classes of softmax", static_cast<double>(loss.classes),
                   "from 2 to 100000");
  }
  // These have no parameters.
  void operator()(const Squared&) const {}
  void operator()(const Logistic&) const {}
  void operator()(const Hinge&) const {}
  void operator()(const LogCosh&) const {}
};

struct Bounds {
  LossBounds operator()(const Squared&) const { return {.slope = kInfinity, .curvature = 1}; }
  LossBounds operator()(const Logistic&) const {
    return {.slope = 1,
            .curvature = 0.25,
            .one_signed = true,
            .logistic_like = true,
            .two_classes = true};
  }
  LossBounds operator()(const HuberisedHinge& loss) const {
    return {.slope = 1,
            .curvature = divide_up(1, 2 * loss.half_width),
            .one_signed = true,
            .two_classes = true};
  }
  LossBounds operator()(const Hinge&) const {
    return {.slope = 1,
            .curvature = kInfinity,
            .smooth = false,
            .one_signed = true,
            .two_classes = true};
  }
  LossBounds operator()(const Huber& loss) const { return {.slope = loss.knot, .curvature = 1}; }
  LossBounds operator()(const LogCosh&) const { return {.slope = 1, .curvature = 1}; }
  LossBounds operator()(const Poisson& loss) const {
    const double rate = exp_up(loss.log_limit);
    return {.slope = std::max(rate, loss.most), .curvature = rate};
  }
  LossBounds operator()(const Softmax& loss) const {
    return {.slope = numeric::sqrt_up(2),
            .curvature = 0.5,
            .pointwise = false,
            .hessian_rank = loss.classes - 1};
  }
};

// How sharply rounding of z or of a parameter is felt beside `curvature`, and by how much the slope
// is off by its own arithmetic: every slope is made of at most eight operations, of which one is a
// library function of at most 2 units in the last place, on numbers of at most these sizes.
struct SlopeError {
  double z_bound;
  double label_bound;

  double operator()(const Logistic&) const { return 1; }
  double operator()(const Hinge&) const { return kInfinity; }
  double operator()(const HuberisedHinge& loss) const {
    return add_up(1, multiply_up(divide_up(1, 2 * loss.half_width), add_up(2, z_bound)));
  }
  double operator()(const Poisson& loss) const {
    return multiply_up(add_up(exp_up(loss.log_limit), label_bound),
                       add_up(1, std::fabs(loss.log_limit)));
  }
  double operator()(const Softmax&) const { return kInfinity; }
  double operator()(const Squared&) const { return residual(); }
  double operator()(const Huber&) const { return residual(); }
  double operator()(const LogCosh&) const { return residual(); }

  // Of a function of z - y.
  double residual() const { return add_up(1, add_up(z_bound, label_bound)); }
};

struct NameOf {
  std::string_view operator()(const Squared&) const { return "squared"; }
  std::string_view operator()(const Logistic&) const { return "logistic"; }
  std::string_view operator()(const HuberisedHinge&) const { return "huberised_hinge"; }
  std::string_view operator()(const Hinge&) const { return "hinge"; }
  std::string_view operator()(const Huber&) const { return "huber"; }
  std::string_view operator()(const LogCosh&) const { return "log_cosh"; }
  std::string_view operator()(const Poisson&) const { return "poisson"; }
  std::string_view operator()(const Softmax&) const { return "softmax"; }
};

template <typename Part>
double pointwise(const Loss& loss, double z, double y, Part part) {
  return std::visit(
      [&](const auto& one) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Softmax>) {
          not_pointwise();
        } else {
          return part(derivatives<double>(one, z, y));
        }
      },
      loss);
}

// The largest prediction, and the logarithm of the sum of e^(z - largest).
std::pair<double, double> log_sum(std::span<const double> z) {
  const double largest = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double one : z) sum += std::exp(one - largest);
  return {largest, std::log(sum)};
}

}  // namespace

void validate(const Loss& loss) { std::visit(Validate{}, loss); }

LossBounds bounds(const Loss& loss) { return std::visit(Bounds{}, loss); }

double lipschitz(const Loss& loss, double row_norm) {
  return multiply_up(bounds(loss).slope, row_norm);
}

double smoothness(const Loss& loss, double row_norm) {
  return multiply_up(bounds(loss).curvature, multiply_up(row_norm, row_norm));
}

double value(const Loss& loss, double z, double y) {
  return pointwise(loss, z, y, [](const auto& one) { return one.value; });
}

double slope(const Loss& loss, double z, double y) {
  return pointwise(loss, z, y, [](const auto& one) { return one.slope; });
}

double curvature(const Loss& loss, double z, double y) {
  return pointwise(loss, z, y, [](const auto& one) { return one.curvature; });
}

double softmax_value(std::span<const double> z, std::size_t label) {
  const auto [largest, log] = log_sum(z);
  return log - (z[label] - largest);
}

void softmax_gradient(std::span<const double> z, std::size_t label, std::span<double> gradient) {
  const auto [largest, log] = log_sum(z);
  for (std::size_t k = 0; k < z.size(); ++k) gradient[k] = std::exp(z[k] - largest - log);
  gradient[label] -= 1;
}

double slope_error(const Loss& loss, double z_bound, double label_bound, double unit) {
  return multiply_up(16 * unit, std::visit(SlopeError{z_bound, label_bound}, loss));
}

std::string_view name(const Loss& loss) { return std::visit(NameOf{}, loss); }

}  // namespace shoal::learn
