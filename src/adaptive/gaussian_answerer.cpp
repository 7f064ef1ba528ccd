#include <shoal/adaptive/gaussian_answerer.hpp>
#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::adaptive {
namespace {

double steps_of(const AnswererPlan& plan) {
  return static_cast<double>(plan.rows) * static_cast<double>(kGridSteps);
}

// The sum's noise: the mean's, in steps.
double sum_sigma(const AnswererPlan& plan) { return plan.sigma * steps_of(plan); }

}  // namespace

AnswererPlan plan_answerer(std::int64_t rows, std::int64_t questions, Confidence confidence) {
  if (rows < 1 || rows > kMostRows || questions < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} rows and {} questions; there must be from 1 to 2^40 rows "
                            "and at least one question",
                            rows, questions));
  }
  const Sample sample{static_cast<double>(rows), static_cast<double>(questions), confidence};
  const Width tanh = width_of(Bound::tanh_posterior, sample);
  const Width kl = width_of(Bound::kl_posterior, sample);
  const bool first = tanh.width < kl.width;
  const Width& best = first ? tanh : kl;
  if (!(best.width < 0.5)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} rows are too few for {} adaptive questions at confidence {}: every "
                            "interval would be all of [0, 1]; ask fewer",
                            rows, questions, confidence.value()));
  }
  AnswererPlan plan{rows,
                    questions,
                    confidence.value(),
                    best.sigma,
                    first ? Bound::tanh_posterior : Bound::kl_posterior,
                    0};
  // Rounding rows' values to the grid, twice (sample and population), and the noisy sum once.
  plan.width = numeric::add_up(best.width, 3 * kRounding);
  return plan;
}

privacy::Event privacy_event(const AnswererPlan& plan) {
  const auto steps = static_cast<double>(kGridSteps);
  const privacy::Event once = privacy::event::Gaussian{sum_sigma(plan), steps, steps};
  if (plan.questions == 1) return once;
  return privacy::event::Repeat{plan.questions, once};
}

GaussianAnswerer::GaussianAnswerer(const AnswererPlan& plan, random::BitSource& bits)
    : plan_(plan), bits_(&bits) {}

MeanAnswer GaussianAnswerer::ask(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != plan_.rows) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} values and {} rows; give one for each row", values.size(),
                            plan_.rows));
  }
  return ask_sum(grid_sum(values));
}

MeanAnswer GaussianAnswerer::ask_sum(Int128 sum) {
  if (questions_left() == 0) {
    throw Error(
        ErrorCode::budget_exceeded,
        fmt::format("all {} questions were asked; more need another sample", plan_.questions));
  }
  ++asked_;
  const Int128 noisy = sum + random::sample_rounded_normal(sum_sigma(plan_), *bits_);
  const double mean = static_cast<double>(noisy) / steps_of(plan_);
  MeanAnswer answer;
  answer.value = std::clamp(mean, 0.0, 1.0);
  // Clamping moves an answer towards every mean there can be.
  answer.lower = std::max(0.0, answer.value - plan_.width);
  answer.upper = std::min(1.0, answer.value + plan_.width);
  return answer;
}

}  // namespace shoal::adaptive
