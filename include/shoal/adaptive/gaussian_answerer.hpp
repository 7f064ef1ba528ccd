// Adaptive statistical questions, each answered: the mean over the sample plus Gaussian noise, as
// much of it as makes the interval for the population smallest. Noise against overfitting: without
// it, answers would be nearer to the sample and further from the truth.
//
// The noise is continuous Gaussian noise rounded to the grid, drawn exactly, so both posterior
// bounds of generalization.hpp hold for it. Neighbours by replace_one; the number of rows is
// public. A `AnswererPlan` is decided before data is touched.
#pragma once

#include <shoal/adaptive/generalization.hpp>
#include <shoal/adaptive/row_mean.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <span>

namespace shoal::adaptive {

struct AnswererPlan {
  std::int64_t rows = 0;
  std::int64_t questions = 0;
  double confidence = 0;
  double sigma = 0;  // of the mean
  Bound bound = Bound::kl_posterior;
  double width = 0;  // half the interval of every answer
  bool operator==(const AnswererPlan&) const = default;
};

// The best noise for so many questions. Throws invalid_argument for what is out of range, and if no
// noise gives an interval narrower than [0, 1].
AnswererPlan plan_answerer(std::int64_t rows, std::int64_t questions, Confidence confidence);

privacy::Event privacy_event(const AnswererPlan& plan);

struct MeanAnswer {
  double value = 0;
  double lower = 0;  // covers the population's mean, with all others at once
  double upper = 1;
};

class GaussianAnswerer {
 public:
  GaussianAnswerer(const AnswererPlan& plan, random::BitSource& bits);

  // The question's value on each row. Throws invalid_argument, and asks nothing, if their number is
  // not that of the rows; budget_exceeded if all questions were asked.
  MeanAnswer ask(std::span<const double> values);
  MeanAnswer ask_sum(Int128 sum);

  const AnswererPlan& plan() const { return plan_; }
  std::int64_t questions_left() const { return plan_.questions - asked_; }

 private:
  AnswererPlan plan_;
  random::BitSource* bits_;
  std::int64_t asked_ = 0;
};

}  // namespace shoal::adaptive
