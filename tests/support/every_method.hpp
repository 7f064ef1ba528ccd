// One training of every method, and of every solver behind it: what must hold for all of them is
// tested over this list.
#pragma once

#include "learn/methods.hpp"

#include <string>
#include <vector>

namespace shoal::test {

struct MethodCase {
  std::string name;
  learn::Problem problem;
  learn::Method method;
};

inline learn::Problem small_problem(const learn::Loss& loss, std::size_t dimension,
                                    learn::ConvexSet set = learn::WholeSpace{}, double l1 = 0) {
  learn::Problem problem;
  problem.loss = loss;
  problem.dimension = dimension;
  problem.row_norm = 1;
  problem.set = std::move(set);
  problem.regulariser.l1 = l1;
  return problem;
}

// For rows of `dimension` features and labels of +1 and -1.
inline std::vector<MethodCase> every_method(std::size_t dimension) {
  using namespace learn;
  constexpr Neighbors kOne = Neighbors::add_remove;
  const Epsilon epsilon(1);
  const Delta delta(1e-6);
  const Problem logistic = small_problem(Logistic{}, dimension);
  const Problem squared = small_problem(Squared{}, dimension);
  const Problem in_ball = small_problem(Squared{}, dimension, L2Ball{2});
  const Problem in_l1_ball = small_problem(Logistic{}, dimension, L1Ball{2});
  const Problem thinned = small_problem(HuberisedHinge{0.5}, dimension, L2Ball{3}, 0.5);
  const Problem many = small_problem(Softmax{2}, dimension);
  std::vector<double> candidates(4 * dimension);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    candidates[i] = static_cast<double>(i % 7) - 3;
  std::vector<MethodCase> cases = {
      {"objective", logistic, calibrate_objective(logistic, kOne, epsilon, delta)},
      {"objective, pure", logistic, calibrate_objective(logistic, kOne, epsilon, Delta(0))},
      {"objective, l1", thinned, calibrate_objective(thinned, kOne, epsilon, delta)},
      {"objective, l1_ball", in_l1_ball, calibrate_objective(in_l1_ball, kOne, epsilon, delta)},
      {"output", logistic, calibrate_output(logistic, kOne, epsilon, delta, 5)},
      {"output, squared", in_ball, calibrate_output(in_ball, kOne, epsilon, delta, 5)},
      {"amp", logistic, calibrate_minima(logistic, kOne, epsilon, delta)},
      {"gradient", logistic, calibrate_gradient(logistic, kOne, epsilon, delta, {.steps = 8})},
      {"gradient, softmax", many, calibrate_gradient(many, kOne, epsilon, delta, {.steps = 8})},
      {"sgd", logistic,
       calibrate_sampled(logistic, kOne, epsilon, delta, {.descent = {.steps = 8}, .rate = 0.1})},
      {"ftrl", logistic, calibrate_prefix(logistic, kOne, epsilon, delta, {.steps = 8})},
      {"bolt_on", logistic,
       calibrate_bolt_on(logistic, Neighbors::replace_one, epsilon, delta, {.l2 = 5, .passes = 2})},
      {"adassp", squared, calibrate_adassp(squared, kOne, epsilon, delta, {})},
      {"exponential", logistic, calibrate_exponential(logistic, kOne, epsilon, candidates)},
      {"frank_wolfe", in_l1_ball,
       calibrate_frank_wolfe(in_l1_ball, kOne, epsilon, delta, {.steps = 5})},
  };
  return cases;
}

}  // namespace shoal::test
