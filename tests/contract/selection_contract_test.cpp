// What every selection in the registry must hold, run over all of them at several parameters. A new
// selection adds its specs to all_specs(). That wrong ones are caught: selection_mutants_test.cpp.
#include "support/seeded_source.hpp"
#include "support/selection_checks.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace shoal::mechanism {
namespace {

using test::Choice;

std::vector<AnySelection> all_specs() {
  return {ExponentialMechanism{1}, ExponentialMechanism{2.5}, ExponentialMechanism{1000.1},
          PermuteAndFlip{1},       PermuteAndFlip{2.5},       PermuteAndFlip{1000.1},
          ReportNoisyMax{1},       ReportNoisyMax{2.5},       ReportNoisyMax{1000.1},
          NoisyTopK{1, 1},         NoisyTopK{2.5, 2},         NoisyTopK{1000.1, 3}};
}

// Scores of a few candidates, within some scales of each other.
std::vector<std::vector<Int128>> score_lists(const AnySelection& spec) {
  const double scale = selection_noise(spec).scale;
  const auto steps = [scale](double scales) {
    return static_cast<Int128>(std::llround(scale * scales));
  };
  const Int128 far = kScoreLimit - 1 - steps(8);
  return {{0, 0, 0},
          {steps(0), steps(1), steps(2), steps(-1)},
          {steps(3), steps(0), steps(2.5), steps(3)},
          {steps(-5), steps(-2), steps(1), steps(-2), steps(0)},
          {far, far + steps(1), far - steps(1)},
          {-far, -far - steps(1), -far + steps(2)}};
}

class SelectionContract : public testing::TestWithParam<AnySelection> {
 protected:
  std::int64_t count() const { return selection_noise(GetParam()).count; }
};

TEST_P(SelectionContract, RoundTripsThroughJson) {
  const AnySelection& spec = GetParam();
  EXPECT_NO_THROW(validate(spec));
  EXPECT_EQ(selection_from_json(to_json(spec)), spec);
  EXPECT_NE(to_json(spec).find(name(spec)), std::string::npos);
  EXPECT_FALSE(describe(spec).empty());
}

TEST_P(SelectionContract, ProbabilitiesSumToOne) {
  for (const std::vector<Int128>& scores : score_lists(GetParam())) {
    double sum = 0;
    for (const Choice& choice : test::all_choices(scores.size(), count())) {
      sum += std::exp(log_probability(GetParam(), scores, choice));
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

// 2 numbers of digits, 6 lists, 12 specs, each a false alarm with probability 10^-6: together below
// 2 * 10^-4.
TEST_P(SelectionContract, ChoosesAsItsProbabilitiesSay) {
  std::uint64_t seed = 80;
  for (const int first_bits : {48, 2}) {
    const int draws = first_bits == 48 ? 20000 : 5000;
    for (const std::vector<Int128>& scores : score_lists(GetParam())) {
      test::SeededSource bits(seed++);
      const auto choose = [&](std::span<const Int128> list, random::BitSource& source) {
        Selector selector(selection_noise(GetParam()), source, first_bits);
        selector.offer(list);
        return selector.result();
      };
      EXPECT_GT(test::choice_p_value(choose, GetParam(), scores, draws, bits), 1e-6)
          << first_bits << " digits";
    }
  }
}

TEST_P(SelectionContract, StreamsAndListsAgreeOnTheSameBits) {
  test::SeededSource scores_source(90);
  for (const std::size_t candidates : {3u, 16u, 17u, 1000u, 3000u}) {
    std::vector<Int128> scores;
    for (std::size_t i = 0; i < candidates; ++i) {
      scores.push_back(static_cast<Int128>(scores_source.next_bits(4)));
    }
    test::SeededSource first(91);
    test::SeededSource second(91);
    Selector selector = make_selector(GetParam(), second);
    for (const Int128 score : scores) selector.offer(score);
    EXPECT_EQ(selector.offered(), candidates);
    EXPECT_EQ(selector.result(), select(GetParam(), scores, first));
  }
}

TEST_P(SelectionContract, NamesDifferentCandidates) {
  test::SeededSource bits(92);
  const std::vector<Int128> scores(5, 7);
  const Choice chosen = select(GetParam(), scores, bits);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(),
            static_cast<std::size_t>(count()));
}

// Every way in which the scores may move, from several starting points: the probabilities never
// change by more than the event says.
TEST_P(SelectionContract, NeighboursDifferByNoMoreThanTheEventSays) {
  const double scale = selection_noise(GetParam()).scale;
  for (const double share : {0.1, 0.7, 2.0}) {
    const Sensitivity steps(std::max(1ll, std::llround(scale * share)));
    for (const ScoreChange change : {ScoreChange::two_sided, ScoreChange::one_sided}) {
      const privacy::Event event = privacy_event(GetParam(), {steps, change});
      for (const std::vector<Int128>& scores : score_lists(GetParam())) {
        if (scores.size() > 4) continue;
        for (const std::vector<Int128>& other : test::neighbours(scores, steps, change)) {
          const test::LossRange loss = test::loss_range(GetParam(), scores, other, count());
          ASSERT_LE(test::excess_over(event, loss), 1e-9);
        }
      }
    }
  }
}

TEST_P(SelectionContract, TheAuditTargetComesCloseToTheEvent) {
  const double scale = selection_noise(GetParam()).scale;
  const Sensitivity steps(std::max(1ll, std::llround(scale * 0.3)));
  for (const ScoreChange change : {ScoreChange::two_sided, ScoreChange::one_sided}) {
    const AuditScores target = audit_target(GetParam(), {steps, change});
    const double stated = static_cast<double>(count()) * selection_epsilon(scale, {steps, change});
    const double found = log_probability(GetParam(), target.second, target.choice) -
                         log_probability(GetParam(), target.first, target.choice);
    EXPECT_LE(found, stated + 1e-9);
    EXPECT_GE(found, 0.9 * stated);
  }
}

TEST_P(SelectionContract, RefusesTooFewCandidatesAndScoresOutOfRange) {
  test::SeededSource bits(94);
  Selector selector = make_selector(GetParam(), bits);
  EXPECT_THROW(selector.result(), Error);
  for (std::int64_t i = 0; i + 1 < count(); ++i) selector.offer(0);
  EXPECT_THROW(selector.result(), Error);
  EXPECT_THROW(selector.offer(kScoreLimit), Error);
  EXPECT_THROW(selector.offer(-kScoreLimit), Error);
  EXPECT_THROW(selector.offer(kInt128Min), Error);
  selector.offer(kScoreLimit - 1);
  EXPECT_EQ(selector.result().size(), static_cast<std::size_t>(count()));
}

INSTANTIATE_TEST_SUITE_P(All, SelectionContract, testing::ValuesIn(all_specs()),
                         [](const auto& spec) {
                           return std::string(name(spec.param)) + "_" + std::to_string(spec.index);
                         });

TEST(SelectionContractCoverage, EveryRegisteredSelectionIsTested) {
  std::vector<bool> seen(std::variant_size_v<AnySelection>, false);
  for (const AnySelection& spec : all_specs()) seen[spec.index()] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

// Each audit refutes a right selection with probability at most 10^-6. Lists of several are left
// out: the choice to look at is too rare to be sampled.
TEST(SelectionContractAudit, PassesRightSelections) {
  const ScoreSensitivity sensitivity{Sensitivity(1), ScoreChange::two_sided};
  for (const AnySelection& spec :
       std::vector<AnySelection>{ExponentialMechanism{1}, PermuteAndFlip{1}, ReportNoisyMax{1}}) {
    const auto choose = [&](std::span<const Int128> list, random::BitSource& source) {
      return select(spec, list, source);
    };
    test::SeededSource bits(93);
    const double found =
        test::audited_epsilon(choose, audit_target(spec, sensitivity), 20000, 1e-6, bits);
    EXPECT_LE(found, selection_epsilon(1, sensitivity)) << describe(spec);
    EXPECT_GE(found, 0.5 * selection_epsilon(1, sensitivity)) << describe(spec);  // it has eyes
  }
}

// The loss that the bound names is passed with no more than the stated chance, for the list that
// makes it likeliest: all others just that far below the best. At this scale a step is fine enough
// for the bounds to be seen.
TEST(SelectionContractLoss, IsWithinItsBound) {
  const double scale = 1000.1;
  const CandidateCount counts[] = {{8, 1}, {8, 2}, {8, 3}, {5, 1}};
  for (const AnySelection& spec :
       std::vector<AnySelection>{ExponentialMechanism{scale}, PermuteAndFlip{scale},
                                 ReportNoisyMax{scale}, NoisyTopK{scale, 1}, NoisyTopK{scale, 2}}) {
    for (const CandidateCount& candidates : counts) {
      for (const double chance : {0.001, 0.05, 0.3}) {
        const double bound = loss_bound(spec, candidates, Confidence(1 - chance));
        const auto missing = [&](double loss) {
          std::vector<Int128> scores(static_cast<std::size_t>(candidates.all), 0);
          const auto gap = static_cast<Int128>(std::ceil(loss));
          std::fill_n(scores.begin(), candidates.best, gap);
          return test::chance_to_lose(spec, scores, gap - 1);
        };
        EXPECT_LE(missing(bound), chance) << describe(spec);
        const double slack = test::loss_slack(spec);
        EXPECT_GE(missing(bound - slack * scale), chance) << describe(spec);
      }
    }
  }
}

TEST(SelectionContractLoss, OfTwoIsNoMoreThanTextbooksSay) {
  for (const std::int64_t all : {2, 10, 1000}) {
    for (const std::int64_t best : {1, 2}) {
      for (const double confidence : {0.1, 0.5, 0.95, 0.999999}) {
        const CandidateCount candidates{all, best};
        const double textbook = textbook_loss(3, candidates, Confidence(confidence));
        const double exponential =
            loss_bound(ExponentialMechanism{3}, candidates, Confidence(confidence));
        EXPECT_LE(exponential, textbook);
        EXPECT_LE(loss_bound(PermuteAndFlip{3}, candidates, Confidence(confidence)), exponential);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::mechanism
