// The sparse vector's claims against its probabilities, and both against published values.
#include "support/golden.hpp"
#include "support/sparse_laws.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace shoal::mechanism {
namespace {

using test::verdicts_of;

const ScoreSensitivity kTwoSided{Sensitivity(1), ScoreChange::two_sided};
const ScoreSensitivity kOneSided{Sensitivity(1), ScoreChange::one_sided};

SparseVector spec_of(double threshold, double query, std::int64_t hits,
                     SparseNoise noise = SparseNoise::geometric) {
  SparseVector spec;
  spec.noise = noise;
  spec.threshold_scale = threshold;
  spec.query_scale = query;
  spec.hits = hits;
  return spec;
}

double probability(const SparseVector& spec, std::vector<Int128> excesses,
                   const std::string& verdicts) {
  excesses.resize(verdicts.size());
  return std::exp(log_probability(spec, excesses, verdicts_of(verdicts)));
}

struct Golden {
  double value;
  double tolerance;
};

Golden golden(const std::string& name) {
  for (const auto& row : test::read_golden_text("sparse")) {
    if (row.at(0) == name) return {std::stod(row.at(1)), std::stod(row.at(2))};
  }
  throw std::runtime_error("no golden value " + name);
}

void expect_golden(const std::string& name, double value) {
  const Golden wanted = golden(name);
  EXPECT_NEAR(value, wanted.value, wanted.tolerance) << name;
}

TEST(SparseVector, GeometricProbabilitiesAreThePublishedOnes) {
  const SparseVector spec = spec_of(2, 4, 1);
  const std::vector<Int128> excesses = {-2, 0, 1};
  expect_golden("geom_1", probability(spec, excesses, "1"));
  expect_golden("geom_2", probability(spec, excesses, "01"));
  expect_golden("geom_3", probability(spec, excesses, "001"));
  expect_golden("geom_none", probability(spec, excesses, "000"));
}

TEST(SparseVector, ContinuousAncestorsHaveThePublishedProbabilities) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1", "1"}, {"2", "01"}, {"3", "001"}, {"none", "000"}};
  for (const bool one_sided : {false, true}) {
    for (const auto& [suffix, verdicts] : cases) {
      if (!one_sided && suffix == "2") continue;  // not among the published
      std::vector<double> excesses = {-2, -0.5, 1};
      excesses.resize(verdicts.size());
      expect_golden((one_sided ? "expo_" : "lap_") + suffix,
                    test::continuous_probability(excesses, verdicts_of(verdicts), {2, one_sided},
                                                 {4, one_sided}));
    }
  }
}

// On a fine grid the discrete laws come to the continuous ones; the error falls with the step.
TEST(SparseVector, FineGridsApproachTheContinuousLaws) {
  for (const auto& [noise, prefix] :
       {std::pair{SparseNoise::laplace, "lap_"}, std::pair{SparseNoise::geometric, "expo_"}}) {
    const double wanted = golden(std::string(prefix) + "3").value;
    double last = 1;
    for (const double fine : {16.0, 64.0, 256.0}) {
      const auto steps = [&](double x) { return static_cast<Int128>(x * fine); };
      const double found = probability(spec_of(2 * fine, 4 * fine, 1, noise),
                                       {steps(-2), steps(-0.5), steps(1)}, "001");
      EXPECT_LT(std::abs(found - wanted), last / 3);
      last = std::abs(found - wanted);
    }
    EXPECT_LT(last, 2e-4);
  }
}

TEST(SparseVector, TwoHitsHaveThePublishedProbabilities) {
  const test::ContinuousNoise wide{4, false};
  const test::ContinuousNoise wider{8, false};
  const double twice = test::continuous_probability({-2, 1}, verdicts_of("01"), wide, wider) *
                       test::continuous_probability({-1, 2}, verdicts_of("01"), wide, wider);
  expect_golden("textbook_0101", twice);
  const double share = golden("share").value;
  const double once = test::continuous_probability({-2, 1, -1, 2}, verdicts_of("0101"),
                                                   {1 / share, false}, {4 / (1 - share), false});
  expect_golden("once_0101", once);
}

TEST(SparseVector, ConstantsAreThePublishedOnes) {
  const auto share = [](const ScoreSensitivity& sensitivity) {
    const SparseVector spec =
        calibrate_sparse({.epsilon = Epsilon(1), .hits = 2, .sensitivity = sensitivity});
    return 1 / spec.threshold_scale;
  };
  expect_golden("share", share(kTwoSided));
  expect_golden("share_monotone", share(kOneSided));
  // Continuous noise: scale^2, and twice that with two sides.
  const SparseVector ten =
      calibrate_sparse({.epsilon = Epsilon(1), .hits = 10, .sensitivity = kTwoSided});
  const double one_sided = std::hypot(ten.threshold_scale, ten.query_scale);
  expect_golden("deviation_exponential", one_sided);
  EXPECT_NEAR(std::sqrt(2) * one_sided, golden("deviation_laplace").value, 1e-9);
  EXPECT_NEAR(comparison_deviation(ten), one_sided, 0.02);
  expect_golden("textbook_scale",
                textbook_sparse(Epsilon(1), Delta(0), 10, Sensitivity(1)).threshold_scale);
  // The lecture notes' scale has no root: 4421.
  EXPECT_NEAR(textbook_sparse(Epsilon(1), Delta(1e-6), 10, Sensitivity(1)).threshold_scale, 66.49,
              0.01);
}

TEST(SparseVector, GaussianNoiseHasThePublishedDivergence) {
  SparseVector spec = spec_of(10, 20, 1, SparseNoise::gaussian);
  spec.questions = 1000;
  const privacy::Event event = privacy_event(spec, kTwoSided);
  const auto& table = std::get<privacy::event::Rdp>(event.node());
  for (std::size_t i = 0; i < table.orders.size(); ++i) {
    if (table.orders[i] == 16) expect_golden("gaussian_rdp", table.epsilons[i]);
  }
}

TEST(SparseVector, ProbabilitiesSumToOne) {
  for (const SparseNoise noise :
       {SparseNoise::geometric, SparseNoise::laplace, SparseNoise::gaussian}) {
    for (const bool redraw : {false, true}) {
      SparseVector spec = spec_of(2.5, 6, 2, noise);
      spec.redraw = redraw;
      spec.questions = 4;
      double sum = 0;
      const std::vector<Int128> excesses = {-3, 4, 0, 1};
      for (const auto& verdicts : test::all_transcripts(4, 2)) {
        const std::span<const Int128> asked(excesses.data(), verdicts.size());
        sum += std::exp(log_probability(spec, asked, verdicts));
      }
      EXPECT_NEAR(sum, 1, 1e-12) << describe(spec);
    }
  }
}

TEST(SparseVector, GapsSumToTheirVerdict) {
  for (const SparseNoise noise : {SparseNoise::geometric, SparseNoise::laplace}) {
    SparseVector spec = spec_of(2, 4, 1, noise);
    spec.gap = true;
    const std::vector<Int128> excesses = {-2, 1};
    double sum = 0;
    for (Int128 gap = 0; gap < 300; ++gap) {
      sum +=
          std::exp(log_probability(spec, excesses, verdicts_of("01"), std::vector<Int128>{0, gap}));
    }
    EXPECT_NEAR(sum, probability(spec, excesses, "01"), 1e-12);
  }
}

// The largest |ln(P / P')| over a grid of values, all neighbours of them and all transcripts.
double worst_loss(const SparseVector& spec, ScoreChange change, std::size_t questions,
                  bool with_gaps = false) {
  std::vector<std::vector<Int128>> values = {{}};
  for (std::size_t i = 0; i < questions; ++i) {
    std::vector<std::vector<Int128>> longer;
    for (const auto& list : values) {
      for (const Int128 value : {-12, -1, 0, 1, 25}) {
        longer.push_back(list);
        longer.back().push_back(value);
      }
    }
    values = longer;
  }
  std::map<std::pair<std::vector<Int128>, std::size_t>, double> known;
  const auto transcripts = test::all_transcripts(questions, spec.hits);
  const auto log_of = [&](const std::vector<Int128>& list, std::size_t t) {
    const auto [place, fresh] = known.try_emplace({list, t}, 0);
    if (!fresh) return place->second;
    const auto& verdicts = transcripts[t];
    const std::span<const Int128> asked(list.data(), verdicts.size());
    const std::vector<Int128> gaps(verdicts.size(), 1);
    return place->second = with_gaps ? log_probability(spec, asked, verdicts, gaps)
                                     : log_probability(spec, asked, verdicts);
  };
  double worst = 0;
  for (const auto& list : values) {
    for (int code = 0; code < std::pow(3, questions); ++code) {
      std::vector<Int128> moved = list;
      bool up = false;
      bool down = false;
      for (std::size_t i = 0, rest = static_cast<std::size_t>(code); i < questions; ++i) {
        const int move = static_cast<int>(rest % 3) - 1;
        rest /= 3;
        moved[i] += move;
        up = up || move > 0;
        down = down || move < 0;
      }
      if (change == ScoreChange::one_sided && up && down) continue;
      for (std::size_t t = 0; t < transcripts.size(); ++t) {
        const double loss = std::abs(log_of(list, t) - log_of(moved, t));
        if (std::isfinite(loss)) worst = std::max(worst, loss);
      }
    }
  }
  return worst;
}

// Never above the claim; and the claim is nearly reached, so it cannot be much better.
TEST(SparseVector, NoNeighboursLoseMoreThanIsClaimed) {
  for (const SparseNoise noise : {SparseNoise::geometric, SparseNoise::laplace}) {
    for (const ScoreChange change : {ScoreChange::two_sided, ScoreChange::one_sided}) {
      for (const bool redraw : {false, true}) {
        SparseVector spec = spec_of(1.5, 3, 2, noise);
        spec.redraw = redraw;
        const double claim = sparse_epsilon(spec, {Sensitivity(1), change});
        const double worst = worst_loss(spec, change, 3);
        EXPECT_LE(worst, claim * (1 + 1e-12)) << describe(spec);
        const bool tight = change == ScoreChange::two_sided && !redraw;
        const double part = noise == SparseNoise::laplace ? 0.3 : tight ? 0.85 : 0.5;
        EXPECT_GE(worst, part * claim) << describe(spec) << to_string(change);
      }
    }
  }
}

TEST(SparseVector, TheAuditTargetTellsNeighboursApart) {
  for (const SparseNoise noise : {SparseNoise::geometric, SparseNoise::laplace}) {
    for (const ScoreSensitivity& sensitivity : {kTwoSided, kOneSided}) {
      const SparseVector spec = spec_of(1.5, 3, 2, noise);
      const SparseTarget target = audit_target(spec, sensitivity);
      const double loss = log_probability(spec, target.first, target.verdicts) -
                          log_probability(spec, target.second, target.verdicts);
      const double claim = sparse_epsilon(spec, sensitivity);
      EXPECT_LE(loss, claim * (1 + 1e-12)) << describe(spec);
      EXPECT_GE(loss, 0.3 * claim) << describe(spec) << to_string(sensitivity.change);
    }
  }
}

TEST(SparseVector, TheGapIsFree) {
  for (const SparseNoise noise : {SparseNoise::geometric, SparseNoise::laplace}) {
    SparseVector spec = spec_of(1.5, 3, 2, noise);
    spec.gap = true;
    EXPECT_LE(worst_loss(spec, ScoreChange::two_sided, 3, true),
              sparse_epsilon(spec, kTwoSided) * (1 + 1e-12));
  }
}

TEST(SparseVector, GaussianDivergenceHolds) {
  SparseVector spec = spec_of(3, 5, 1, SparseNoise::gaussian);
  spec.questions = 3;
  const privacy::Event event = privacy_event(spec, kTwoSided);
  const auto& table = std::get<privacy::event::Rdp>(event.node());
  const std::vector<Int128> first = {0, 0, 0};
  for (const auto& second : {std::vector<Int128>{1, 1, -1}, std::vector<Int128>{-1, -1, -1}}) {
    for (std::size_t i = 0; i < table.orders.size(); ++i) {
      const double order = table.orders[i];
      double sum = 0;
      for (const auto& verdicts : test::all_transcripts(3, 1)) {
        const std::span<const Int128> a(first.data(), verdicts.size());
        const std::span<const Int128> b(second.data(), verdicts.size());
        sum += std::exp(order * log_probability(spec, a, verdicts) +
                        (1 - order) * log_probability(spec, b, verdicts));
      }
      EXPECT_LE(std::log(sum) / (order - 1), table.epsilons[i]) << order;
    }
  }
}

TEST(SparseVector, ErrorBoundsHold) {
  for (const SparseNoise noise :
       {SparseNoise::geometric, SparseNoise::laplace, SparseNoise::gaussian}) {
    SparseVector spec = spec_of(2, 4, 1, noise);
    spec.questions = 5;
    const SparseError error = error_bounds(spec, 5, Confidence(0.9));
    const auto steps = [](double x) { return static_cast<Int128>(std::ceil(x)); };
    // Far below five times: some hit; one far above: none.
    const Int128 low = -steps(error.short_of) - 1;
    EXPECT_LE(1 - probability(spec, {low, low, low, low, low}, "00000"), 0.1);
    EXPECT_LE(probability(spec, {steps(error.over) + 1}, "0"), 0.1);
  }
}

TEST(SparseVector, CentredThresholdsAreFair) {
  const SparseVector spec =
      calibrate_sparse({.epsilon = Epsilon(1), .hits = 10, .sensitivity = kTwoSided});
  const double chance = probability(spec, {-centring_shift(spec)}, "1");
  EXPECT_GT(chance, 0.3);
  EXPECT_LT(chance, 0.5);
  EXPECT_GT(probability(spec, {0}, "1"), 0.7);
}

TEST(SparseVector, TheDeltaBuysLessNoiseWhereThereAreManyHits) {
  const auto deviation = [](double delta, std::int64_t hits) {
    return comparison_deviation(calibrate_sparse(
        {.epsilon = Epsilon(1), .delta = Delta(delta), .hits = hits, .sensitivity = kTwoSided}));
  };
  EXPECT_EQ(deviation(1e-6, 3), deviation(0, 3));
  EXPECT_LT(deviation(1e-6, 400), 0.6 * deviation(0, 400));
  EXPECT_LT(deviation(1e-6, 400), 0.4 * comparison_deviation(textbook_sparse(
                                            Epsilon(1), Delta(1e-6), 400, Sensitivity(1))));
}

TEST(SparseVector, WhatIsCalibratedMeetsItsGoal) {
  for (const double delta : {0.0, 1e-6}) {
    for (const std::int64_t hits : {1, 7, 300}) {
      for (const double share : {0.0, 0.25}) {
        const SparseGoal goal{.epsilon = Epsilon(0.7),
                              .delta = Delta(delta),
                              .hits = hits,
                              .sensitivity = {Sensitivity(3), ScoreChange::one_sided},
                              .answer_share = share};
        const SparseVector spec = calibrate_sparse(goal);
        const privacy::Event event = privacy_event(spec, goal.sensitivity);
        const privacy::Profile profile(event, Neighbors::replace_one);
        EXPECT_LE(profile.epsilon(goal.delta).bounds.upper, 0.7 * (1 + 1e-12));
        EXPECT_GE(profile.epsilon(goal.delta).bounds.lower, 0.69) << describe(spec);
      }
    }
  }
  const SparseVector gaussian = calibrate_sparse({.epsilon = Epsilon(1),
                                                  .delta = Delta(1e-6),
                                                  .hits = 5,
                                                  .sensitivity = kTwoSided,
                                                  .noise = SparseNoise::gaussian,
                                                  .questions = 1000});
  const privacy::Profile profile(privacy_event(gaussian, kTwoSided), Neighbors::add_remove);
  EXPECT_LE(profile.epsilon(Delta(1e-6)).bounds.upper, 1 + 1e-9);
}

TEST(SparseVector, ALedgerIsChargedWhatWasAskedFor) {
  SparseGoal goal{.epsilon = Epsilon(1), .delta = Delta(1e-6), .hits = 3, .sensitivity = kTwoSided};
  EXPECT_TRUE(std::holds_alternative<privacy::event::Pure>(
      charged_event(calibrate_sparse(goal), goal).node()));
  goal.hits = 400;
  const privacy::Event whole = privacy::event::EpsilonDelta{1, 1e-6};
  const SparseVector spec = calibrate_sparse(goal);
  EXPECT_EQ(charged_event(spec, goal), whole);
  SparseVector less = spec;
  less.query_scale /= 1.1;
  EXPECT_THROW(charged_event(less, goal), Error);
  goal = {.epsilon = Epsilon(1),
          .delta = Delta(1e-6),
          .hits = 5,
          .sensitivity = kTwoSided,
          .noise = SparseNoise::gaussian,
          .questions = 1000};
  EXPECT_EQ(charged_event(calibrate_sparse(goal), goal), whole);
}

TEST(SparseVector, TextbookVersionsCostWhatTheySay) {
  const SparseVector one = textbook_above_threshold(Epsilon(1), Sensitivity(1));
  EXPECT_EQ(one.threshold_scale, 2);
  EXPECT_EQ(one.query_scale, 4);
  EXPECT_LE(sparse_epsilon(one, kTwoSided), 1);
  const SparseVector numeric = textbook_numeric_sparse(Epsilon(1), Delta(0), 10, Sensitivity(1));
  EXPECT_NEAR(sparse_epsilon(numeric, kTwoSided), 1, 1e-12);
  for (const auto& spec : {textbook_sparse(Epsilon(1), Delta(1e-6), 200, Sensitivity(1)),
                           textbook_numeric_sparse(Epsilon(1), Delta(1e-6), 200, Sensitivity(1))}) {
    const privacy::Profile profile(privacy_event(spec, kTwoSided), Neighbors::add_remove);
    EXPECT_LE(profile.epsilon(Delta(1e-6)).bounds.upper, 1);
  }
  EXPECT_THROW(textbook_sparse(Epsilon(2), Delta(1e-6), 10, Sensitivity(1)), Error);
}

TEST(SparseVector, BadParametersAreRefused) {
  EXPECT_THROW(validate(SparseVector{}), Error);
  EXPECT_THROW(validate(spec_of(1, 1, 0)), Error);
  EXPECT_THROW(validate(spec_of(1, 1, kMaxChoices + 1)), Error);
  EXPECT_THROW(validate(spec_of(1, 1, 1, SparseNoise::gaussian)), Error);  // no limit
  SparseVector gap = spec_of(1, 1, 1, SparseNoise::gaussian);
  gap.questions = 10;
  EXPECT_NO_THROW(validate(gap));
  gap.gap = true;
  EXPECT_THROW(validate(gap), Error);
  EXPECT_THROW(calibrate_sparse({.epsilon = Epsilon(0), .sensitivity = kTwoSided}), Error);
  EXPECT_THROW(probability(spec_of(1, 1, 1), {0, 0}, "11"), Error);
}

TEST(SparseVector, AQuestionAboutOnePersonIsRefused) {
  EXPECT_NO_THROW(require_aggregate(kTwoSided, 0, 100000));
  const ScoreSensitivity salary{Sensitivity(200000), ScoreChange::two_sided};
  try {
    require_aggregate(salary, 0, 200000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("one person"), std::string::npos);
  }
  EXPECT_THROW(require_aggregate(kTwoSided, 5, 5), Error);
}

TEST(SparseVector, JsonReadsBack) {
  SparseVector spec = spec_of(1.5, 0x1.8p20, 7, SparseNoise::laplace);
  spec.redraw = spec.gap = true;
  spec.answer_scale = 0.25;
  spec.questions = 1'000'000;
  SparseVector read;
  from_json(to_json(spec), read);
  EXPECT_EQ(read, spec);
  for (const char* bad :
       {"{}", R"({"noisy_top_k": {"scale": 1, "count": 1}})", R"({"sparse_vector": {"hits": 1}})",
        R"({"sparse_vector": {"noise": "cauchy", "threshold_scale": 1, "query_scale": 1, "hits": 1,
            "redraw": false, "gap": false, "answer_scale": 0, "questions": 0}})",
        R"({"sparse_vector": {"noise": "laplace", "threshold_scale": 1, "query_scale": 1,
            "hits": 18446744073709551617, "redraw": false, "gap": false, "answer_scale": 0,
            "questions": 0}})"}) {
    EXPECT_THROW(from_json(bad, read), Error) << bad;
  }
}

}  // namespace
}  // namespace shoal::mechanism
