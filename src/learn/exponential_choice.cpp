#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/exponential_choice.hpp>
#include <shoal/learn/loss_summary.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace shoal::learn {
namespace {

// A row's range has about 2^20 steps.
constexpr int kRangeDigits = 20;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

struct Extent {
  double reach = 0;     // the largest norm of a candidate
  double diameter = 0;  // no two are further apart
};

Extent extent_of(std::span<const double> candidates, std::size_t count) {
  std::vector<double> lower(candidates.begin(), candidates.begin() + static_cast<long>(count));
  std::vector<double> upper = lower;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    lower[i % count] = std::min(lower[i % count], candidates[i]);
    upper[i % count] = std::max(upper[i % count], candidates[i]);
  }
  Extent extent;
  for (std::size_t k = 0; k < candidates.size(); k += count) {
    double norm = 0;
    double from_centre = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const double w = candidates[k + j];
      const double apart = w - (lower[j] + upper[j]) / 2;
      norm += w * w;
      from_centre += apart * apart;
    }
    extent.reach = std::max(extent.reach, std::sqrt(norm));
    extent.diameter = std::max(extent.diameter, 2 * std::sqrt(from_centre));
  }
  return extent;
}

// How far a row's losses at two candidates are apart, at most: the Lipschitz constant times their
// distance, or what the loss itself can be. Losses are cut to the range, so the guarantee does not
// rest on this.
double natural_range(const Problem& problem, std::span<const double> candidates) {
  const Extent extent = extent_of(candidates, weight_count(problem));
  const double far = problem.row_norm * extent.reach;
  // Given the label these losses fall, or rise, all the way.
  if (bounds(problem.loss).one_signed)
    return value(problem.loss, -far, 1) - value(problem.loss, far, 1);
  const LossRange range = loss_range(problem.loss, far, problem.label_bound);
  const double by_slope = lipschitz(problem.loss, problem.row_norm) * extent.diameter;
  return std::min(range.most - range.least, by_slope);
}

long long range_steps(const ExponentialChoice& method) {
  return static_cast<long long>(std::ceil(std::ldexp(method.range, -method.exponent)));
}

mechanism::ScoreSensitivity sensitivity_of(const ExponentialChoice& method) {
  // A row that comes lowers every score, by 0 to `range`; an exchange does both ways.
  return {Sensitivity(range_steps(method)), method.neighbors == Neighbors::add_remove
                                                ? mechanism::ScoreChange::one_sided
                                                : mechanism::ScoreChange::two_sided};
}

void check_candidates(const Problem& problem, std::span<const double> candidates) {
  const std::size_t count = weight_count(problem);
  if (candidates.size() < 2 * count || candidates.size() % count != 0 ||
      candidates.size() / count > kMostCandidates) {
    refuse(
        fmt::format("{} numbers are no list of candidates of {} weights; from 2 to {} candidates "
                    "are taken",
                    candidates.size(), count, kMostCandidates));
  }
  for (const double w : candidates) {
    if (!(std::fabs(w) <= 0x1p40))
      refuse("a candidate's weight is not a number within 2^40; correct the list");
  }
}

}  // namespace

std::vector<double> grid_candidates(const Problem& problem, std::size_t points) {
  validate(problem);
  const std::size_t count = weight_count(problem);
  if (count > kMostGridWeights) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("the exponential mechanism over a ball is drawn exactly, on a grid, and that "
                    "takes at most {} weights; here are {}. Samplers for more have no usable proof "
                    "of how close they are: give a list with --candidates, or use --method "
                    "objective",
                    kMostGridWeights, count));
  }
  const double reach = radius(problem.set, count);
  if (!std::isfinite(reach) || std::holds_alternative<Simplex>(problem.set) ||
      std::holds_alternative<HalfSpaceCut>(problem.set)) {
    refuse("the exponential mechanism needs a bounded set such as a ball; give --radius");
  }
  double all = 1;
  for (std::size_t j = 0; j < count; ++j) all *= static_cast<double>(points);
  if (points < 2 || all > static_cast<double>(kMostCandidates)) {
    refuse(fmt::format("{} points on each of {} axes are not from 2 to {} candidates", points,
                       count, kMostCandidates));
  }
  const auto* box = std::get_if<Box>(&problem.set);
  const double lower = box ? box->lower : -reach;
  const double upper = box ? box->upper : reach;
  std::vector<double> axis;
  for (std::size_t i = 0; i < points; ++i)
    axis.push_back(lower +
                   (upper - lower) * static_cast<double>(i) / static_cast<double>(points - 1));
  std::vector<double> found;
  std::vector<double> point(count);
  for (std::size_t code = 0; code < static_cast<std::size_t>(all); ++code) {
    std::size_t rest = code;
    for (double& w : point) {
      w = axis[rest % points];
      rest /= points;
    }
    if (contains(problem.set, point, reach * 0x1p-40))
      found.insert(found.end(), point.begin(), point.end());
  }
  return found;
}

ExponentialChoice calibrate_exponential(const Problem& problem, Neighbors neighbors,
                                        Epsilon epsilon, std::vector<double> candidates,
                                        const ExponentialOptions& options) {
  validate(problem);
  check_candidates(problem, candidates);
  if (!(epsilon.value() > 0)) refuse("the exponential mechanism needs an epsilon above 0");
  ExponentialChoice method;
  method.neighbors = neighbors;
  method.epsilon = epsilon.value();
  method.what = options.what;
  method.l2 = problem.regulariser.l2;
  if (options.what == CandidateLoss::mistakes) {
    method.range = 1;
  } else {
    const double natural = natural_range(problem, candidates) * (1 + 0x1p-30);
    method.range = std::min(options.range.value_or(natural), natural);
  }
  if (!(method.range > 0 && std::isfinite(method.range)))
    refuse("a row's losses need a range that is positive and finite");
  method.exponent =
      options.what == CandidateLoss::mistakes ? 0 : std::ilogb(method.range) - kRangeDigits;
  method.candidates = std::move(candidates);
  // The decimal that is charged may be a little below the double.
  method.scale = mechanism::selection_scale(Epsilon(numeric::step_down(method.epsilon, 4)),
                                            sensitivity_of(method));
  validate(method, problem);
  return method;
}

void validate(const ExponentialChoice& method, const Problem& problem) {
  validate(problem);
  check_candidates(problem, method.candidates);
  if (problem.regulariser.l1 > 0)
    refuse("the exponential mechanism has no l1 regulariser here; leave --l1 out");
  if (method.what == CandidateLoss::mistakes && !bounds(problem.loss).two_classes)
    refuse("mistakes are counted for two classes; use the loss itself");
  if (!bounds(problem.loss).pointwise) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the exponential mechanism takes losses of one prediction, and {} is "
                            "none",
                            name(problem.loss)));
  }
  const double steps = std::ldexp(method.range, -method.exponent);
  if (!(method.epsilon > 0) || !(steps >= 1 && steps <= 0x1p30) ||
      method.l2 < problem.regulariser.l2) {
    refuse("the parts of this exponential mechanism do not fit together; calibrate it anew");
  }
  const double charged = mechanism::selection_epsilon(method.scale, sensitivity_of(method));
  if (!(charged <= method.epsilon)) {
    refuse(fmt::format("a scale of {} steps does not give epsilon {}; raise it",
                       format_rounded(method.scale, 6), format_number(method.epsilon)));
  }
}

privacy::Event privacy_event(const ExponentialChoice& method, const Problem& problem) {
  validate(method, problem);
  return mechanism::privacy_event(mechanism::ExponentialMechanism{method.scale},
                                  sensitivity_of(method));
}

double expected_choice_loss(const ExponentialChoice& method, const Problem& problem) {
  const double count = static_cast<double>(method.candidates.size() / weight_count(problem));
  return std::ldexp(method.scale, method.exponent) * std::log(count);
}

double regularised_exponential_mu_up(double difference_lipschitz, double k, double l2) {
  for (const double one : {difference_lipschitz, k, l2}) {
    if (!(one > 0 && std::isfinite(one)))
      refuse("the parts of a regularised exponential law must be positive and finite");
  }
  return numeric::multiply_up(difference_lipschitz, numeric::sqrt_up(numeric::divide_up(k, l2)));
}

}  // namespace shoal::learn
