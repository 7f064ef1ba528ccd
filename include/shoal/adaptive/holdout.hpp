// The reusable holdout: asked with the value that a question has on the training data, it says
// whether the holdout agrees; only where it does not it tells its own value, with noise, and stops
// after so many disagreements. The questions may depend on all answers before.
//
// Two promises at once. Privacy: all answers together are epsilon-differentially private for the
// holdout's rows, neighbours by replace_one; no matter what is asked. Validity: with the stated
// confidence every answer's interval covers the mean over the population that the holdout's rows
// were drawn from, if they are independent draws that the analyst has no other access to. A
// `HoldoutPlan` is decided before data is touched. Proof note: src/adaptive/holdout.proof.md.
#pragma once

#include <shoal/adaptive/row_mean.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::adaptive {

struct HoldoutGoal {
  std::int64_t rows;                     // of the holdout
  std::int64_t questions;                // at most so many
  std::int64_t disagreements;            // and so many answers of the holdout's own
  Confidence confidence;                 // that all intervals cover
  Epsilon epsilon;                       // of all answers together
  std::optional<double> tolerance = {};  // how far training and holdout may be apart and agree; if
                                         // not given, as near as the noise allows
};

// How the step from the sample to the population is bounded: by counting transcripts, or from
// privacy by the tanh-posterior theorem.
enum class HoldoutBound { transcripts, tanh_posterior };
std::string_view to_string(HoldoutBound bound);

struct HoldoutPlan {
  std::int64_t rows = 0;
  double confidence = 0;
  double tolerance = 0;
  HoldoutBound bound = HoldoutBound::transcripts;
  mechanism::SparseVector noise;  // in steps of the sum
  bool operator==(const HoldoutPlan&) const = default;
};

// Throws invalid_argument for what is out of range, and for a tolerance that is not in (0, 1).
HoldoutPlan plan_holdout(const HoldoutGoal& goal);
void validate(const HoldoutPlan& plan);

// What all answers together do to the holdout's rows.
privacy::Event privacy_event(const HoldoutPlan& plan);

// Half the interval of an answer that agrees, or of one that does not, at question number `asked`
// (from 1) after `disagreements` of them: public, known before it is asked.
double agreeing_width(const HoldoutPlan& plan, std::int64_t asked, std::int64_t disagreements);
double own_width(const HoldoutPlan& plan, std::int64_t asked, std::int64_t disagreements);

std::string to_json(const HoldoutPlan& plan);
HoldoutPlan holdout_plan_from_json(std::string_view text);

struct HoldoutAnswer {
  double value = 0;
  double lower = 0;  // covers the population's mean
  double upper = 1;
  bool agrees = false;  // true: the training value, which agrees; false: the holdout's own
};

class Holdout {
 public:
  Holdout(const HoldoutPlan& plan, random::BitSource& bits);
  // From a saved state: save() below. Throws corrupt.
  Holdout(std::string_view saved, random::BitSource& bits);

  // The mean over the training data (any guess will do: it is the analyst's), and the question's
  // value on each row of the holdout. Throws invalid_argument, and asks nothing, if the training
  // value is not in [0, 1] or the number of values is not that of the rows; budget_exceeded if it
  // is exhausted.
  HoldoutAnswer ask(double training_value, std::span<const double> holdout_values);

  // Any function of a row into [0, 1], on rows of training and holdout data.
  template <class Rows, class Function>
  HoldoutAnswer ask(const Rows& training, const Rows& holdout, const Function& function) {
    if (std::empty(training)) {
      throw Error(ErrorCode::invalid_argument, "there are no training rows; give some");
    }
    const auto mean = static_cast<double>(grid_sum_of(training, function)) /
                      (static_cast<double>(kGridSteps) * static_cast<double>(std::size(training)));
    check_rows(static_cast<std::int64_t>(std::size(holdout)));
    return ask_sum(mean, grid_sum_of(holdout, function));
  }

  // The same with the sum of grid values over the holdout's rows.
  HoldoutAnswer ask_sum(double training_value, Int128 sum);

  // Throws what ask() would throw for this training value, by public facts: for whoever must know
  // it before rows are read.
  void require_open(double training_value) const;

  const HoldoutPlan& plan() const { return plan_; }
  std::int64_t questions_left() const;
  std::int64_t disagreements_left() const { return watch_.hits_left(); }
  std::int64_t asked() const { return watch_.asked(); }
  bool exhausted() const { return watch_.halted(); }

  // Secret, as that of ThresholdWatch is, and to be resumed once only.
  std::string save() const;

 private:
  Holdout(HoldoutPlan plan, mechanism::ThresholdWatch&& watch)
      : plan_(std::move(plan)), watch_(std::move(watch)) {}
  void check_rows(std::int64_t rows) const;

  HoldoutPlan plan_;
  mechanism::ThresholdWatch watch_;
};

}  // namespace shoal::adaptive
