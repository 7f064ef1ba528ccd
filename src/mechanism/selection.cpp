#include "mechanism/selection_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/selection.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace shoal::mechanism {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// How far the difference of two scores moves between neighbours. Doubling is exact.
double difference_up(const ScoreSensitivity& sensitivity) {
  const double steps = steps_up(sensitivity.steps);
  return sensitivity.change == ScoreChange::two_sided ? 2 * steps : steps;
}

}  // namespace

std::string_view to_string(ScoreChange change) {
  return change == ScoreChange::two_sided ? "two_sided" : "one_sided";
}

double selection_epsilon(double scale, const ScoreSensitivity& sensitivity) {
  random::check_scale(scale, "scale");
  return numeric::divide_up(difference_up(sensitivity), scale);
}

double selection_scale(Epsilon epsilon, const ScoreSensitivity& sensitivity) {
  if (epsilon.value() == 0) {
    refuse("epsilon is 0; no noise is wide enough for a choice that depends on the data");
  }
  const double scale = numeric::divide_up(difference_up(sensitivity), epsilon.value());
  if (scale > random::kMaxScale) {
    refuse(fmt::format(
        "epsilon {} needs a scale of {} score steps and at most {} are supported; "
        "use a coarser grid of scores",
        format_number(epsilon.value()), format_number(scale), format_number(random::kMaxScale)));
  }
  return std::max(scale, random::kMinScale);
}

double textbook_loss(double scale, CandidateCount candidates, Confidence confidence) {
  random::check_scale(scale, "scale");
  check_candidates(candidates, 1);
  const double shares_down =
      numeric::multiply_down(static_cast<double>(candidates.best), alpha_down(confidence));
  const double ratio_up = numeric::divide_up(static_cast<double>(candidates.all), shares_down);
  return numeric::multiply_up(scale, numeric::log_up(ratio_up));
}

double exponential_loss(double scale, const CandidateCount& candidates, double alpha) {
  const auto best = static_cast<double>(candidates.best);
  const auto others = static_cast<double>(candidates.all - candidates.best);
  const double odds_up =
      numeric::divide_up(numeric::multiply_up(others, numeric::subtract_up(1, alpha)),
                         numeric::multiply_down(best, alpha));
  if (odds_up <= 1) return 0;
  return numeric::multiply_up(scale, numeric::log_up(odds_up));
}

void check_choice(std::span<const Int128> scores, std::span<const std::size_t> choice,
                  std::int64_t count) {
  if (scores.empty()) refuse("there are no candidates; give at least one score");
  if (std::any_of(scores.begin(), scores.end(),
                  [](Int128 score) { return score <= -kScoreLimit || score >= kScoreLimit; })) {
    refuse("a score is out of range; scores must lie strictly between -2^96 and 2^96 steps");
  }
  if (choice.size() != static_cast<std::size_t>(count)) {
    refuse(fmt::format("a choice of {} candidates was asked about; this selection makes one of {}",
                       choice.size(), count));
  }
  std::vector<std::size_t> sorted(choice.begin(), choice.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back() >= scores.size()) {
    refuse(fmt::format("the choice names candidate {}; there are {}, counted from 0", sorted.back(),
                       scores.size()));
  }
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    refuse("the choice names a candidate twice");
  }
}

void check_candidates(const CandidateCount& candidates, std::int64_t count) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (candidates.all < 1 || candidates.all > kMost) {
    refuse(fmt::format("{} candidates; there must be from 1 to {}", candidates.all, kMost));
  }
  if (candidates.best < 1 || candidates.best > candidates.all) {
    refuse(fmt::format("{} of {} candidates share the highest score; from 1 to all of them can",
                       candidates.best, candidates.all));
  }
  if (candidates.all < count) {
    refuse(fmt::format("{} candidates; {} cannot be chosen from them", candidates.all, count));
  }
}

double scaled_gap(Int128 score, Int128 other, double scale) {
  return static_cast<double>(score - other) / scale;
}

AuditScores equal_scores_target(const ScoreSensitivity& sensitivity, std::int64_t count) {
  constexpr std::size_t kOthers = 63;
  constexpr std::size_t kLargestFactor = 1024;  // for very long lists the pair is less sharp
  const auto chosen = static_cast<std::size_t>(count);
  const std::size_t all = chosen + kOthers * std::min(chosen, kLargestFactor);
  const Int128 steps = sensitivity.steps.steps();
  const bool two_sided = sensitivity.change == ScoreChange::two_sided;
  AuditScores target{std::vector<Int128>(all, 0), std::vector<Int128>(all, two_sided ? -steps : 0),
                     std::vector<std::size_t>(chosen)};
  for (std::size_t i = 0; i < chosen; ++i) {
    target.second[i] = steps;
    target.choice[i] = i;
  }
  return target;
}

}  // namespace shoal::mechanism
