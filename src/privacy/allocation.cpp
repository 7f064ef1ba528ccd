#include "privacy/parameter_search.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/allocation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace shoal::privacy {
namespace {

void require_positive(double value, const char* what, std::size_t index) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the {} of question {} is {}; it must be finite and above 0", what,
                          index + 1, value));
}

NoiseUse use_of(NoiseLaw law, const Question& question) {
  NoiseUse use;
  use.law = law;
  use.sensitivity = question.sensitivity;
  return use;
}

// How much noise the questions get relative to each other.
using Shape = double (*)(const Question&);

double square_shape(const Question& question) {
  return std::sqrt(question.sensitivity) / std::sqrt(std::sqrt(question.weight));
}

double cube_shape(const Question& question) {
  return std::cbrt(question.sensitivity / question.weight);
}

// Where to start: as if all had the noise of the largest.
double rough_level(NoiseLaw law, std::span<const Question> questions, const Target& target,
                   Shape shape) {
  double squares = 0;
  double sum = 0;
  for (const Question& question : questions) {
    const double loss = question.sensitivity / shape(question);
    squares += loss * loss;
    sum += loss;
  }
  const double epsilon = target.epsilon.value();
  const double pure = sum / epsilon;
  if (target.delta.value() == 0) return pure;
  const double depth = -std::log(target.delta.value());
  const double mu = 2 * epsilon / (std::sqrt(2 * (depth + epsilon)) + std::sqrt(2 * depth));
  const double gaussian = std::sqrt(squares) / mu;
  return is_gaussian(law) ? gaussian : std::min(gaussian, pure);
}

Allocation allocate_as(NoiseLaw law, std::span<const Question> questions, const Target& target,
                       Shape shape) {
  const auto parameters = [&](double level) {
    std::vector<double> result;
    for (const Question& question : questions) result.push_back(level * shape(question));
    return result;
  };
  const auto family = [&](double level) -> Event {
    std::vector<Event> events;
    const std::vector<double> noise = parameters(level);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      events.push_back(event_of(use_of(law, questions[i]), noise[i]));
    }
    return event::Compose{std::move(events)};
  };
  CalibrationOptions options;
  // Close to the edge of a pure guarantee accountants work hard and little is gained.
  if (!is_gaussian(law) && target.delta.value() > 0) options.tolerance = 1e-4;
  options.start = 1.001 * rough_level(law, questions, target, shape);
  Calibrated found = calibrate(family, target, options);
  double weighted = 0;
  std::vector<double> noise = parameters(found.parameter);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const double variance = noise[i] * noise[i] * (is_gaussian(law) ? 1 : 2);
    weighted += questions[i].weight * variance;
  }
  return {std::move(noise), weighted, found.epsilon, std::move(found.event)};
}

}  // namespace

Allocation allocate(NoiseLaw law, std::span<const Question> questions, const Target& target) {
  if (questions.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "there are no questions to share the budget; give at least one");
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    require_positive(questions[i].sensitivity, "sensitivity", i);
    require_positive(questions[i].weight, "weight", i);
  }
  require_reachable(law, target);
  if (is_gaussian(law)) return allocate_as(law, questions, target, square_shape);
  Allocation pure = allocate_as(law, questions, target, cube_shape);
  if (target.delta.value() == 0) return pure;
  const bool alike = std::all_of(questions.begin(), questions.end(),
                                 [&](const Question& other) { return other == questions[0]; });
  if (alike) return pure;
  Allocation square = allocate_as(law, questions, target, square_shape);
  return square.weighted_variance < pure.weighted_variance ? square : pure;
}

}  // namespace shoal::privacy
