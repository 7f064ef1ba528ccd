// Checks of selections: their choices against their probabilities, their probabilities against
// their claims, and what samples alone say about epsilon.
#pragma once

#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/random/bit_source.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace shoal::test {

using Choice = std::vector<std::size_t>;
using Chooser = std::function<Choice(std::span<const Int128>, random::BitSource&)>;

// Every ordered choice of `count` from the candidates.
inline std::vector<Choice> all_choices(std::size_t candidates, std::int64_t count) {
  std::vector<Choice> choices = {{}};
  for (std::int64_t round = 0; round < count; ++round) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices) {
      for (std::size_t i = 0; i < candidates; ++i) {
        if (std::find(choice.begin(), choice.end(), i) != choice.end()) continue;
        longer.push_back(choice);
        longer.back().push_back(i);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

// Pearson's chi-square of the choices; those expected less than five times are one cell together. A
// chooser that is right gives less than t with probability about t.
inline double choice_p_value(const Chooser& choose, const mechanism::AnySelection& spec,
                             std::span<const Int128> scores, int draws, random::BitSource& bits) {
  std::map<Choice, int> seen;
  for (int i = 0; i < draws; ++i) ++seen[choose(scores, bits)];
  double statistic = 0;
  int cells = 0;
  double rare_expected = 0;
  double rare_seen = 0;
  const auto add = [&](double expected, double observed) {
    statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
  };
  const std::int64_t count = selection_noise(spec).count;
  for (const Choice& choice : all_choices(scores.size(), count)) {
    const double expected = draws * std::exp(log_probability(spec, scores, choice));
    const double observed = seen[choice];
    if (expected >= 5) {
      add(expected, observed);
    } else {
      rare_expected += expected;
      rare_seen += observed;
    }
  }
  if (rare_expected >= 5 || rare_seen > 20) add(std::max(rare_expected, 1e-3), rare_seen);
  return cells < 2 ? 1.0 : numeric::chi_square_tail(statistic, cells - 1);
}

// All scores that are one step of the neighbouring relation away: each candidate moves by the whole
// sensitivity or not at all.
inline std::vector<std::vector<Int128>> neighbours(const std::vector<Int128>& scores,
                                                   Sensitivity steps,
                                                   mechanism::ScoreChange change) {
  const bool two_sided = change == mechanism::ScoreChange::two_sided;
  std::vector<std::vector<Int128>> moved;
  const auto grow = [&](const std::vector<Int128>& moves) {
    std::vector<std::vector<Int128>> lists = {{}};
    for (const Int128 score : scores) {
      std::vector<std::vector<Int128>> longer;
      for (const std::vector<Int128>& list : lists) {
        for (const Int128 move : moves) {
          longer.push_back(list);
          longer.back().push_back(score + move * steps.steps());
        }
      }
      lists = std::move(longer);
    }
    moved.insert(moved.end(), lists.begin(), lists.end());
  };
  if (two_sided) {
    grow({-1, 0, 1});
  } else {
    grow({0, 1});
    grow({0, -1});
  }
  const auto in_range = [](const std::vector<Int128>& list) {
    return std::all_of(list.begin(), list.end(), [](Int128 score) {
      return score > -mechanism::kScoreLimit && score < mechanism::kScoreLimit;
    });
  };
  std::erase_if(moved, [&](const std::vector<Int128>& list) { return !in_range(list); });
  return moved;
}

struct LossRange {
  double least;
  double most;
};

// ln(P(choice | scores) / P(choice | other)) over all choices.
inline LossRange loss_range(const mechanism::AnySelection& spec, std::span<const Int128> scores,
                            std::span<const Int128> other, std::int64_t count) {
  LossRange range{1e300, -1e300};
  for (const Choice& choice : all_choices(scores.size(), count)) {
    const double loss =
        log_probability(spec, scores, choice) - log_probability(spec, other, choice);
    range.least = std::min(range.least, loss);
    range.most = std::max(range.most, loss);
  }
  return range;
}

// By how much the losses pass what the event promises; at most 0 if it holds.
inline double excess_over(const privacy::Event& event, const LossRange& loss) {
  namespace kind = privacy::event;
  const double size = std::max(-loss.least, loss.most);
  if (const auto* repeat = std::get_if<kind::Repeat>(&event.node())) {
    // Composition of bounded ranges: the sum of them.
    const auto& once = std::get<kind::Exponential>(repeat->event.node());
    const double epsilon = static_cast<double>(repeat->count) * once.epsilon;
    return std::max(size, loss.most - loss.least - epsilon) - epsilon;
  }
  if (const auto* exponential = std::get_if<kind::Exponential>(&event.node())) {
    return std::max(size, loss.most - loss.least) - exponential->epsilon;
  }
  return size - std::get<kind::Pure>(event.node()).epsilon;
}

// A lower bound of epsilon from samples, wrong with probability at most `false_alarm`. Looks at the
// target's pair and at its mirror image, in both orders, and at whether its choice was made.
inline double audited_epsilon(const Chooser& choose, const mechanism::AuditScores& target,
                              int draws, double false_alarm, random::BitSource& bits) {
  const auto hits = [&](const std::vector<Int128>& scores) {
    std::int64_t count = 0;
    for (int i = 0; i < draws; ++i) count += choose(scores, bits) == target.choice ? 1 : 0;
    return count;
  };
  std::vector<Int128> mirrored = target.second;
  for (Int128& score : mirrored) score = -score;
  const std::int64_t first = hits(target.first);
  double epsilon = 0;
  for (const std::int64_t second : {hits(target.second), hits(mirrored)}) {
    // Two pairs, two orders, two bounds each.
    const double alpha = false_alarm / 8;
    const auto bound = [&](std::int64_t often, std::int64_t seldom) {
      return std::log(numeric::chance_lower_bound(often, draws, alpha) /
                      numeric::chance_upper_bound(seldom, draws, alpha));
    };
    epsilon = std::max({epsilon, bound(first, second), bound(second, first)});
  }
  return epsilon;
}

// P(some j-th choice scores less than the j-th highest score minus `loss`), from the probabilities.
inline double chance_to_lose(const mechanism::AnySelection& spec, const std::vector<Int128>& scores,
                             Int128 loss) {
  std::vector<Int128> sorted = scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double chance = 0;
  for (const Choice& choice : all_choices(scores.size(), selection_noise(spec).count)) {
    bool loses = false;
    for (std::size_t j = 0; j < choice.size(); ++j) {
      if (scores[choice[j]] < sorted[j] - loss) loses = true;
    }
    if (loses) chance += std::exp(log_probability(spec, scores, choice));
  }
  return chance;
}

// By how many scales a loss bound may be above the best one: none for the exponential mechanism,
// whose bound is exact; the others use inequalities (for Laplace noise, against one of the best).
inline double loss_slack(const mechanism::AnySelection& spec) {
  if (std::holds_alternative<mechanism::ExponentialMechanism>(spec)) return 0.01;
  if (std::holds_alternative<mechanism::PermuteAndFlip>(spec)) return 0.6;
  return 3;
}

}  // namespace shoal::test
