// Selections one by one: their probabilities against other ways to compute them, prices, JSON, and
// what they refuse.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/random/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace shoal::mechanism {

// As PermuteAndFlip, but it says nothing about its accuracy and its audit.
struct IncompleteSelection {
  double scale = 0;
  bool operator==(const IncompleteSelection&) const = default;
};
void validate(const IncompleteSelection&);
SelectionNoise selection_noise(const IncompleteSelection&);

static_assert(!Selection<IncompleteSelection>);
static_assert(!Selection<double>);

namespace {

constexpr ScoreChange kTwo = ScoreChange::two_sided;
constexpr ScoreChange kOne = ScoreChange::one_sided;

std::vector<AnySelection> of_scale(double scale) {
  return {ExponentialMechanism{scale}, PermuteAndFlip{scale}, ReportNoisyMax{scale},
          NoisyTopK{scale, 1}};
}

// The definition of permute-and-flip: candidates in random order, each taken with its own chance.
std::vector<double> by_permutations(const std::vector<Int128>& scores, double scale) {
  const Int128 best = *std::max_element(scores.begin(), scores.end());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> pmf(scores.size(), 0);
  double permutations = 0;
  do {
    double left = 1;
    for (const std::size_t i : order) {
      const double taken = std::exp(static_cast<double>(scores[i] - best) / scale);
      pmf[i] += left * taken;
      left *= 1 - taken;
    }
    ++permutations;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& chance : pmf) chance /= permutations;
  return pmf;
}

TEST(Selections, PermuteAndFlipIsTheHighestScoreWithExponentialNoise) {
  for (const std::vector<Int128>& scores :
       {std::vector<Int128>{0, 3, 1, 2}, {5, 5, 5}, {0, 0, 7, 7, 6}, {-40, 0, 1}, {3}}) {
    const std::vector<double> expected = by_permutations(scores, 2.5);
    const std::vector<double> found = first_choice_pmf(PermuteAndFlip{2.5}, scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(found[i] / expected[i], 1, 1e-12);
    }
  }
}

TEST(Selections, TwoCandidatesHaveClosedForms) {
  for (const int gap : {0, 1, 5, 30}) {
    const std::vector<Int128> scores = {0, gap};
    const double g = gap / 2.0;
    EXPECT_NEAR(first_choice_pmf(ExponentialMechanism{2}, scores)[0] * (1 + std::exp(g)), 1, 1e-12);
    EXPECT_NEAR(first_choice_pmf(PermuteAndFlip{2}, scores)[0] * 2 * std::exp(g), 1, 1e-12);
    EXPECT_NEAR(first_choice_pmf(ReportNoisyMax{2}, scores)[0] * 4 * std::exp(g) / (2 + g), 1,
                1e-12);
  }
}

TEST(Selections, ProbabilitiesOfManyCandidatesSumToOne) {
  std::vector<Int128> scores;
  for (int i = 0; i < 150; ++i) scores.push_back(i % 17);
  for (const AnySelection& spec : of_scale(3)) {
    const std::vector<double> pmf = first_choice_pmf(spec, scores);
    EXPECT_NEAR(std::accumulate(pmf.begin(), pmf.end(), 0.0), 1, 1e-11) << describe(spec);
  }
}

TEST(Selections, TopOneIsTheExponentialMechanism) {
  const std::vector<Int128> scores = {4, 9, 2, 9};
  test::SeededSource first(110);
  test::SeededSource second(110);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(select(NoisyTopK{3, 1}, scores, first),
              select(ExponentialMechanism{3}, scores, second));
  }
  EXPECT_EQ(privacy_event(NoisyTopK{3, 1}, {Sensitivity(1), kTwo}),
            privacy_event(ExponentialMechanism{3}, {Sensitivity(1), kTwo}));
}

TEST(Selections, TheLastPlaceOfAWholeOrderHasItsChances) {
  // With one digit at first, nearly every comparison draws more.
  const std::vector<Int128> scores = {0, 2, 4};
  test::SeededSource bits(111);
  std::array<int, 3> last{};
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    Selector selector({ScoreNoise::gumbel, 2, 3}, bits, 1);
    selector.offer(scores);
    ++last[selector.result()[2]];
  }
  const NoisyTopK spec{2, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    double chance = 0;
    for (const auto& order : {std::array<std::size_t, 3>{(i + 1) % 3, (i + 2) % 3, i},
                              std::array<std::size_t, 3>{(i + 2) % 3, (i + 1) % 3, i}}) {
      chance += std::exp(log_probability(spec, scores, order));
    }
    // Five standard deviations: a false alarm once in a million.
    EXPECT_NEAR(last[i], kDraws * chance, 5 * std::sqrt(kDraws * chance * (1 - chance)));
  }
}

TEST(Selections, FarApartScoresAreDecidedForEveryScale) {
  test::SeededSource bits(112);
  for (const double scale : {random::kMinScale, 1.0, random::kMaxScale}) {
    for (const AnySelection& spec : of_scale(scale)) {
      const std::vector<Int128> scores = {-kScoreLimit + 1, kScoreLimit - 1, 0};
      for (int i = 0; i < 50; ++i) EXPECT_EQ(select(spec, scores, bits).front(), 1u);
    }
  }
}

TEST(Selections, EventsAndScales) {
  using privacy::Event;
  namespace event = privacy::event;
  EXPECT_EQ(privacy_event(ExponentialMechanism{20}, {Sensitivity(5), kTwo}),
            Event(event::Exponential{0.5}));
  EXPECT_EQ(privacy_event(ExponentialMechanism{20}, {Sensitivity(5), kOne}),
            Event(event::Exponential{0.25}));
  EXPECT_EQ(privacy_event(PermuteAndFlip{20}, {Sensitivity(5), kTwo}), Event(event::Pure{0.5}));
  EXPECT_EQ(privacy_event(ReportNoisyMax{20}, {Sensitivity(5), kOne}), Event(event::Pure{0.25}));
  EXPECT_EQ(privacy_event(NoisyTopK{20, 7}, {Sensitivity(5), kTwo}),
            Event(event::Repeat{7, Event(event::Exponential{0.5})}));
  // Rounded up: 2/3 and a sensitivity between two doubles.
  EXPECT_EQ(selection_epsilon(3, {Sensitivity(1), kTwo}), std::nextafter(2.0 / 3, 1));
  EXPECT_EQ(selection_epsilon(1, {Sensitivity((1ll << 53) + 1), kOne}), 0x1p53 + 2);
}

TEST(Selections, TheScaleForAnEpsilonIsTheSmallest) {
  test::SeededSource bits(113);
  for (int i = 0; i < 2000; ++i) {
    const Epsilon epsilon(static_cast<double>(bits.next_bits(53)) * 0x1p-50 + 1e-3);
    const ScoreSensitivity sensitivity{Sensitivity(1 + static_cast<long long>(bits.next_bits(20))),
                                       bits.next_bit() ? kTwo : kOne};
    const double scale = selection_scale(epsilon, sensitivity);
    ASSERT_LE(selection_epsilon(scale, sensitivity), epsilon.value());
    ASSERT_GT(selection_epsilon(std::nextafter(scale, 0), sensitivity), epsilon.value());
  }
  EXPECT_THROW(selection_scale(Epsilon(0), {Sensitivity(1), kTwo}), Error);
  EXPECT_THROW(selection_scale(Epsilon(1e-3), {Sensitivity(1ll << 60), kTwo}), Error);
}

TEST(Selections, LossesAreZeroWhenNothingCanBeLost) {
  for (const AnySelection& spec : of_scale(10)) {
    EXPECT_EQ(loss_bound(spec, {5, 5}, Confidence(0.999)), 0) << describe(spec);
    EXPECT_GT(loss_bound(spec, {5, 4}, Confidence(0.999)), 0) << describe(spec);
    EXPECT_THROW(loss_bound(spec, {0, 0}, Confidence(0.9)), Error);
    EXPECT_THROW(loss_bound(spec, {3, 4}, Confidence(0.9)), Error);
    EXPECT_THROW(loss_bound(spec, {3, 0}, Confidence(0.9)), Error);
  }
  EXPECT_THROW(loss_bound(NoisyTopK{1, 4}, {3, 1}, Confidence(0.9)), Error);
}

TEST(Selections, RefuseParametersOutOfRange) {
  test::SeededSource bits(114);
  const std::vector<Int128> scores = {1, 2};
  const std::array<std::size_t, 1> choice = {0};
  const ScoreSensitivity sensitivity{Sensitivity(1), kTwo};
  for (const double scale : {0.0, -1.0, 0x1p-11, 0x1p51, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    for (const AnySelection& spec : of_scale(scale)) {
      EXPECT_THROW(validate(spec), Error);
      EXPECT_THROW(selection_noise(spec), Error);
      EXPECT_THROW(select(spec, scores, bits), Error);
      EXPECT_THROW(log_probability(spec, scores, choice), Error);
      EXPECT_THROW(privacy_event(spec, sensitivity), Error);
      EXPECT_THROW(loss_bound(spec, {2, 1}, Confidence(0.9)), Error);
      EXPECT_THROW(audit_target(spec, sensitivity), Error);
      EXPECT_THROW(to_json(spec), Error);
    }
    EXPECT_THROW(Selector({ScoreNoise::gumbel, scale, 1}, bits), Error);
  }
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, kMaxChoices + 1}) {
    EXPECT_THROW(validate(NoisyTopK{1, count}), Error);
    EXPECT_THROW(Selector({ScoreNoise::gumbel, 1, count}, bits), Error);
  }
}

TEST(Selections, RefuseQuestionsAboutNoChoice) {
  const std::vector<Int128> scores = {1, 2, 3};
  const auto asked = [&](const AnySelection& spec, const std::vector<std::size_t>& choice) {
    return log_probability(spec, scores, choice);
  };
  for (const AnySelection& spec : of_scale(1)) {
    EXPECT_THROW(asked(spec, {}), Error);
    EXPECT_THROW(asked(spec, {3}), Error);
    EXPECT_THROW(asked(spec, {0, 1}), Error);
    EXPECT_THROW(log_probability(spec, {}, std::array<std::size_t, 1>{0}), Error);
    EXPECT_THROW(
        log_probability(spec, std::vector<Int128>{kScoreLimit, 0}, std::array<std::size_t, 1>{0}),
        Error);
  }
  EXPECT_THROW(asked(NoisyTopK{1, 2}, {1, 1}), Error);
  EXPECT_NO_THROW(asked(NoisyTopK{1, 2}, {1, 0}));
}

TEST(Selections, JsonHasOneFixedForm) {
  EXPECT_EQ(to_json(AnySelection(ExponentialMechanism{20})),
            R"({"exponential_mechanism": {"scale": 20}})");
  EXPECT_EQ(to_json(AnySelection(PermuteAndFlip{0.1})), R"({"permute_and_flip": {"scale": 0.1}})");
  EXPECT_EQ(to_json(AnySelection(ReportNoisyMax{2})), R"({"report_noisy_max": {"scale": 2}})");
  EXPECT_EQ(to_json(AnySelection(NoisyTopK{2.5, 3})),
            R"({"noisy_top_k": {"scale": 2.5, "count": 3}})");
  for (const char* text :
       {"", "[]", "{}", R"({"exponential": {"scale": 1}})", R"({"permute_and_flip": {"scale": 0}})",
        R"({"permute_and_flip": {"scale": 1, "count": 1}})", R"({"noisy_top_k": {"scale": 1}})",
        R"({"noisy_top_k": {"scale": 1, "count": 0}})", R"({"noisy_top_k": 7})",
        R"({"noisy_top_k": {"scale": 1, "count": 1.5}})",
        R"({"noisy_top_k": {"scale": 1, "count": 18446744073709551617}})",
        R"({"noisy_top_k": {"scale": 1, "count": 18446744073709551615}})",
        R"({"noisy_top_k": {"scale": 1, "count": 1, "count": 2}})",
        R"({"noisy_top_k": {"scale": 1, "count": 1, "k": 2}})",
        R"({"noisy_top_k": {"scale": 1, "count": 1}} x)"}) {
    try {
      selection_from_json(text);
      ADD_FAILURE() << "was read: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << text;
    }
  }
}

// A source that fails after some words, as one without entropy would.
class FailingSource final : public random::BitSource {
 public:
  explicit FailingSource(int words) : words_(words) {}
  void fill(std::span<unsigned char> bytes) override {
    if (words_-- <= 0) throw Error(ErrorCode::unavailable, "no bits");
    std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(77));
  }

 private:
  int words_;
};

TEST(Selector, NamesNobodyAfterItsSourceFailed) {
  FailingSource source(0);
  Selector selector({ScoreNoise::exponential, 1, 1}, source);
  EXPECT_THROW(selector.offer(3), Error);
  try {
    selector.result();
    ADD_FAILURE() << "a choice was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST(Selector, KeepsScoresOutOfItsErrors) {
  test::SeededSource bits(115);
  Selector selector({ScoreNoise::exponential, 1, 1}, bits);
  try {
    selector.offer(kScoreLimit + 12345);
    ADD_FAILURE() << "was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string(error.what()).find("12345"), std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::mechanism
