// The Ladder: a leaderboard that does not climb by luck. It tells the best loss so far, on a grid
// of `step`, and changes it only for a submission that is better by more than a step (Blum and
// Hardt 2015). However submissions are chosen from what it showed, with the stated confidence it is
// within `width` of the smallest true loss among them, at all times.
//
// With an epsilon the comparison is a sparse vector and the loss told has noise: the labels behind
// it are then protected, neighbours by replace_one, and there is an end to improvements. Without,
// it has no noise and no privacy: for labels that may be public. Proof note:
// src/adaptive/ladder.proof.md.
#pragma once

#include <shoal/adaptive/row_mean.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::adaptive {

struct LadderGoal {
  std::int64_t rows;
  std::int64_t submissions;  // at most so many
  Confidence confidence;
  std::optional<Epsilon> epsilon = {};
  std::int64_t improvements = 10;   // with an epsilon: at most so many
  std::optional<double> step = {};  // if not given, the best
};

struct LadderPlan {
  std::int64_t rows = 0;
  std::int64_t submissions = 0;
  double confidence = 0;
  double step = 0;
  std::optional<mechanism::SparseVector> noise = {};
  bool operator==(const LadderPlan&) const = default;
};

// Throws invalid_argument for what is out of range.
LadderPlan plan_ladder(const LadderGoal& goal);
void validate(const LadderPlan& plan);
privacy::Event privacy_event(const LadderPlan& plan);  // costs nothing without noise: see above
double ladder_width(const LadderPlan& plan);

struct LadderStanding {
  double best = 1;  // the leaderboard: the best loss so far, from 0 to 1
  double lower = 0;
  double upper = 1;
  bool improved = false;  // by the last submission
};

class Ladder {
 public:
  Ladder(const LadderPlan& plan, random::BitSource& bits);
  // From save(). Throws corrupt.
  Ladder(std::string_view saved, random::BitSource& bits);

  // The loss on each row, in [0, 1]. Throws invalid_argument, and counts nothing, if their number
  // is not that of the rows; budget_exceeded if submissions or improvements are used up.
  LadderStanding submit(std::span<const double> losses);

  // Throws budget_exceeded if submit() would, before rows are read.
  void require_open() const;

  LadderStanding standing() const;
  const LadderPlan& plan() const { return plan_; }
  std::int64_t submissions_left() const;
  std::string save() const;

 private:
  bool improves(Int128 sum, Int128 limit, std::optional<Int128>& told);

  LadderPlan plan_;
  std::optional<mechanism::ThresholdWatch> watch_;
  double best_ = 1;
  std::int64_t submitted_ = 0;
  bool improved_ = false;
};

}  // namespace shoal::adaptive
