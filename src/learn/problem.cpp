#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal::learn {

void validate(const Problem& problem) {
  validate(problem.loss);
  validate(problem.regulariser);
  if (problem.dimension < 1 || problem.dimension > (std::size_t{1} << 20)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} features; from 1 to 2^20 are taken", problem.dimension));
  }
  for (const double bound : {problem.row_norm, problem.label_bound}) {
    if (bound >= 0x1p-40 && bound <= 0x1p40) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a public bound of rows or labels is {}; it must be from 2^-40 to 2^40",
                            format_number(bound)));
  }
  if (bounds(problem.loss).two_classes && problem.label_bound != 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the {} loss takes the labels +1 and -1 alone, not soft or weighted ones",
                    name(problem.loss)));
  }
  const auto* poisson = std::get_if<Poisson>(&problem.loss);
  if (poisson && problem.label_bound > poisson->most) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("labels reach {}, beyond poisson's largest count {}; raise the latter",
                            format_number(problem.label_bound), format_number(poisson->most)));
  }
  validate(problem.set, weight_count(problem));
}

std::size_t weight_count(const Problem& problem) {
  const auto* softmax = std::get_if<Softmax>(&problem.loss);
  return problem.dimension * (softmax ? softmax->classes : 1);
}

double gradient_bound(const Problem& problem) {
  const double bound = lipschitz(problem.loss, problem.row_norm);
  if (std::isfinite(bound)) return bound;
  const double reach = radius(problem.set, weight_count(problem));
  if (!std::isfinite(reach)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the slope of the {} loss has no bound over the whole space; confine the "
                    "weights to a bounded set such as l2_ball, or use huber",
                    name(problem.loss)));
  }
  const double slope =
      numeric::add_up(numeric::multiply_up(problem.row_norm, reach), problem.label_bound);
  return numeric::multiply_up(slope, problem.row_norm);
}

}  // namespace shoal::learn
