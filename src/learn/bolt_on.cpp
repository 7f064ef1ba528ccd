#include "learn/bolt_on_run.hpp"
#include "learn/bounded_proximal.hpp"
#include "learn/output_check.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/bolt_on.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_up;
using numeric::multiply_up;

// What floating point is allowed, relative to what one row can do.
constexpr double kErrorShare = 0x1p-10;
// Step sizes are rounded: at most 2^30 of them are off by less than this together.
constexpr double kStepSlack = 1 + 0x1p-20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

[[noreturn]] void cannot(const std::string& text) { throw Error(ErrorCode::unsupported, text); }

void check_problem(const Problem& problem, Neighbors neighbors) {
  validate(problem);
  if (neighbors != Neighbors::replace_one) {
    cannot(
        "bolt-on descent is for replace_one: a row that comes or goes shifts the batches of all "
        "others; use output, or gradient");
  }
  const LossBounds facts = bounds(problem.loss);
  if (!facts.smooth || !facts.pointwise) {
    cannot(
        fmt::format("bolt-on descent needs a smooth loss of one linear prediction, and {} is not; "
                    "use gradient",
                    name(problem.loss)));
  }
  if (problem.regulariser.l1 > 0) cannot("bolt-on descent has no l1 part; use objective");
  if (!std::holds_alternative<WholeSpace>(problem.set) &&
      !std::holds_alternative<L2Ball>(problem.set) && !std::holds_alternative<Box>(problem.set)) {
    cannot(fmt::format("bolt-on descent has no error bound for the set {}; use a ball or a box",
                       name(problem.set)));
  }
}

}  // namespace

double bolt_on_distance_up(const BoltOnDescent& method, const Problem& problem) {
  const double once = divide_up(multiply_up(2, gradient_bound(problem)), method.l2);
  return add_up(multiply_up(once, kStepSlack), 2 * method.error);
}

BoltOnDescent calibrate_bolt_on(const Problem& problem, Neighbors neighbors, Epsilon epsilon,
                                Delta delta, const BoltOnOptions& options) {
  check_problem(problem, neighbors);
  if (!(epsilon.value() > 0)) refuse("bolt-on descent needs an epsilon above 0");
  if (!(options.l2 > 0 && std::isfinite(options.l2)) || options.l2 < problem.regulariser.l2) {
    refuse(
        fmt::format("bolt-on descent needs an l2 weight above 0 and at least the problem's; {} is "
                    "not: every weight, the intercept's too, must be regularised",
                    format_number(options.l2)));
  }
  BoltOnDescent method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.delta = delta.value();
  method.passes = options.passes;
  method.batch = options.batch;
  method.l2 = options.l2;
  method.error = gradient_bound(problem) / method.l2 * kErrorShare;
  // The decimal that is charged may be a little below the double.
  method.output =
      calibrate_output_noise(bolt_on_distance_up(method, problem), weight_count(problem),
                             Epsilon(numeric::step_down(method.epsilon, 4)),
                             Delta(delta.value() > 0 ? numeric::step_down(method.delta, 4) : 0));
  validate(method, problem);
  return method;
}

void validate(const BoltOnDescent& method, const Problem& problem) {
  check_problem(problem, method.neighbors);
  const bool pure = method.output.shape == NoiseShape::norm;
  if (!(method.epsilon > 0) || !(method.error > 0) || !(method.l2 > 0) ||
      method.l2 < problem.regulariser.l2 || pure != (method.delta == 0)) {
    refuse("the parts of this bolt-on descent do not fit together; calibrate it anew");
  }
  if (method.passes < 1 || method.passes > 1000 || method.batch < 1 || method.batch > 1'000'000) {
    refuse(
        fmt::format("there are to be {} passes with batches of {}; from 1 to 1000 and from 1 to "
                    "1000000 are taken",
                    method.passes, method.batch));
  }
  const double most_rows = static_cast<double>(kMostRows);
  if (!(bolt_on_error_up(method, problem, most_rows, kQuadUnit) <= method.error)) {
    refuse(
        fmt::format("rounding may move the weights of bolt-on descent by more than {} at l2 "
                    "weight {}; raise the l2 weight",
                    format_rounded(method.error, 4), format_rounded(method.l2, 6)));
  }
  check_output(method.output, {method.epsilon, method.delta, bolt_on_distance_up(method, problem),
                               weight_count(problem), method.l2});
}

privacy::Event privacy_event(const BoltOnDescent& method, const Problem& problem) {
  validate(method, problem);
  return output_event(method.epsilon, method.delta);
}

}  // namespace shoal::learn
