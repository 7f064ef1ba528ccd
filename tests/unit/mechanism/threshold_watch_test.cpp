// The object that answers: its law, when it stops, and that a saved state goes on where it was.
#include "support/seeded_source.hpp"
#include "support/sparse_laws.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/random/secure_source.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace shoal::mechanism {
namespace {

constexpr double kFalseAlarm = 1e-6;

SparseVector spec_of(SparseNoise noise, std::int64_t hits, bool redraw) {
  SparseVector spec;
  spec.noise = noise;
  spec.threshold_scale = 3;
  spec.query_scale = 5;
  spec.hits = hits;
  spec.redraw = redraw;
  spec.questions = 4;
  return spec;
}

const std::vector<std::int64_t> kExcesses = {-3, 4, 0, 1};

test::Verdicts one_by_one(ThresholdWatch& watch) {
  test::Verdicts verdicts;
  for (const std::int64_t excess : kExcesses) {
    const Verdict verdict = watch.ask(excess + 1000, 1000).verdict;
    if (verdict == Verdict::halted) break;
    verdicts.push_back(verdict);
  }
  return verdicts;
}

test::Verdicts at_once(ThresholdWatch& watch) {
  test::Verdicts verdicts(kExcesses.size());
  watch.ask(kExcesses, verdicts);
  std::erase(verdicts, Verdict::halted);
  return verdicts;
}

test::Verdicts with_a_break(ThresholdWatch& watch, random::BitSource& bits) {
  test::Verdicts verdicts;
  for (const std::int64_t excess : kExcesses) {
    ThresholdWatch resumed(watch.save(), bits);
    const Verdict verdict = resumed.ask(excess, 0).verdict;
    watch = std::move(resumed);
    if (verdict != Verdict::halted) verdicts.push_back(verdict);
  }
  return verdicts;
}

template <class Run>
double p_value(const SparseVector& spec, Run run, std::uint64_t seed) {
  constexpr int kRuns = 5000;
  test::SeededSource bits(seed);
  std::map<test::Verdicts, double> seen;
  for (int i = 0; i < kRuns; ++i) {
    ThresholdWatch watch(spec, bits);
    seen[run(watch, bits)] += 1;
  }
  double statistic = 0;
  int cells = 0;
  const std::vector<Int128> excesses(kExcesses.begin(), kExcesses.end());
  for (const auto& verdicts : test::all_transcripts(kExcesses.size(), spec.hits)) {
    const double expected =
        kRuns * std::exp(log_probability(
                    spec, std::span<const Int128>(excesses.data(), verdicts.size()), verdicts));
    statistic += (seen[verdicts] - expected) * (seen[verdicts] - expected) / expected;
    ++cells;
  }
  return numeric::chi_square_tail(statistic, cells - 1);
}

// 18 tests at 1e-6 each.
TEST(ThresholdWatch, AnswersHaveTheirLaw) {
  std::uint64_t seed = 700;
  for (const SparseNoise noise :
       {SparseNoise::geometric, SparseNoise::laplace, SparseNoise::gaussian}) {
    for (const bool redraw : {false, true}) {
      const SparseVector spec = spec_of(noise, 2, redraw);
      const auto single = [](ThresholdWatch& watch, random::BitSource&) {
        return one_by_one(watch);
      };
      const auto batch = [](ThresholdWatch& watch, random::BitSource&) { return at_once(watch); };
      EXPECT_GT(p_value(spec, single, ++seed), kFalseAlarm) << describe(spec);
      EXPECT_GT(p_value(spec, batch, ++seed), kFalseAlarm) << describe(spec);
      EXPECT_GT(p_value(spec, with_a_break, ++seed), kFalseAlarm) << describe(spec);
    }
  }
}

TEST(ThresholdWatch, ManyAtOnceAnswerAsOneByOne) {
  SparseVector spec = spec_of(SparseNoise::geometric, 40, true);
  spec.questions = 9000;
  std::vector<std::int64_t> excesses;
  for (int i = 0; i < 10000; ++i) excesses.push_back(-20 - i % 7);
  test::SeededSource one(5);
  test::SeededSource other(5);
  ThresholdWatch single(spec, one);
  ThresholdWatch batch(spec, other);
  std::vector<Verdict> verdicts(excesses.size());
  batch.ask(excesses, verdicts);
  for (std::size_t i = 0; i < excesses.size(); ++i) {
    ASSERT_EQ(single.ask(excesses[i], 0).verdict, verdicts[i]) << i;
  }
  EXPECT_EQ(single.asked(), batch.asked());
  EXPECT_EQ(single.hits_left(), batch.hits_left());
}

TEST(ThresholdWatch, StopsAfterItsHits) {
  test::SeededSource bits(6);
  SparseVector spec = spec_of(SparseNoise::geometric, 3, false);
  spec.questions = 0;
  ThresholdWatch watch(spec, bits);
  EXPECT_FALSE(watch.questions_left().has_value());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(watch.halted());
    EXPECT_EQ(watch.ask(1 << 20, 0).verdict, Verdict::above);
  }
  EXPECT_TRUE(watch.halted());
  EXPECT_EQ(watch.ask(1 << 20, 0).verdict, Verdict::halted);
  EXPECT_EQ(watch.asked(), 3);
  EXPECT_EQ(ThresholdWatch(watch.save(), bits).ask(1 << 20, 0).verdict, Verdict::halted);
}

TEST(ThresholdWatch, AnExhaustedStateIsExhausted) {
  test::SeededSource bits(61);
  for (const std::int64_t questions : {0, 2, 400}) {
    SparseVector spec = spec_of(SparseNoise::geometric, 3, false);
    spec.questions = questions;
    const ThresholdWatch watch(spec, bits);
    EXPECT_TRUE(ThresholdWatch(watch.save_exhausted(), bits).halted());
    EXPECT_FALSE(watch.halted());
  }
}

TEST(ThresholdWatch, StopsAfterItsQuestions) {
  test::SeededSource bits(7);
  ThresholdWatch watch(spec_of(SparseNoise::gaussian, 3, false), bits);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(watch.ask(-1000, 0).verdict, Verdict::below);
  EXPECT_EQ(watch.questions_left(), 0);
  EXPECT_EQ(watch.ask(-1000, 0).verdict, Verdict::halted);
}

TEST(ThresholdWatch, TellsNoMoreThanItMay) {
  test::SeededSource bits(8);
  SparseVector spec = spec_of(SparseNoise::geometric, 2, false);
  EXPECT_FALSE(ThresholdWatch(spec, bits).ask(500, 0).gap.has_value());
  spec.gap = true;
  spec.answer_scale = 2;
  ThresholdWatch watch(spec, bits);
  const SparseReply below = watch.ask(-500, 0);
  EXPECT_FALSE(below.gap.has_value());
  EXPECT_FALSE(below.value.has_value());
  const SparseReply above = watch.ask(500, 0);
  ASSERT_TRUE(above.gap && above.value);
  EXPECT_NEAR(static_cast<double>(*above.value), 500, 60);
  std::vector<Verdict> verdicts(kExcesses.size());
  EXPECT_THROW(watch.ask(kExcesses, verdicts), Error);
  verdicts.pop_back();
  EXPECT_THROW(watch.ask(kExcesses, verdicts), Error);
}

// The value that is told has noise of its own: were it that of the comparison, a value would never
// be told below the threshold's noise.
TEST(ThresholdWatch, ValuesHaveFreshNoise) {
  SparseVector spec = spec_of(SparseNoise::geometric, 1, false);
  spec.answer_scale = 5;
  test::SeededSource bits(9);
  int below = 0;
  for (int i = 0; i < 2000; ++i) {
    const SparseReply reply = ThresholdWatch(spec, bits).ask(0, 0);
    if (reply.value && *reply.value < 0) ++below;
  }
  // At least 0.3 of 2000 with about 0.5 hits each: 300 expected, P(fewer than 150) < 1e-9.
  EXPECT_GT(below, 150);
}

class FailingSource final : public random::BitSource {
 public:
  void fill(std::span<unsigned char> bytes) override {
    if (failing) throw Error(ErrorCode::unavailable, "no bits");
    good_.fill(bytes);
  }
  bool failing = false;

 private:
  test::SeededSource good_{62};
};

// Without bits there are no answers, also not from noise that was not drawn.
TEST(ThresholdWatch, AFailingSourceAnswersNothing) {
  FailingSource bits;
  SparseVector spec = spec_of(SparseNoise::geometric, 3, false);
  spec.questions = 0;
  ThresholdWatch watch(spec, bits);
  bits.failing = true;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(watch.ask(0, 0), Error);
  EXPECT_EQ(watch.asked(), 0);
}

TEST(ThresholdWatch, ExtremeValuesAreClamped) {
  test::SeededSource bits(10);
  ThresholdWatch watch(spec_of(SparseNoise::geometric, 3, false), bits);
  EXPECT_EQ(watch.ask(kInt128Max, kInt128Min).verdict, Verdict::above);
  EXPECT_EQ(watch.ask(kInt128Min, kInt128Max).verdict, Verdict::below);
}

TEST(ThresholdWatch, BrokenStatesAreRefused) {
  random::SecureSource bits;
  ThresholdWatch watch(spec_of(SparseNoise::geometric, 3, false), bits);
  const std::string good = watch.save();
  EXPECT_NO_THROW(ThresholdWatch(good, bits));
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"asked\": 0", "\"asked\": 9"},
        {"}, \"asked\": 0, \"hits\": 0", "}, \"hits\": 0"},
        {"\"asked\": 0, \"hits\": 0", "\"asked\": 0, \"hits\": 1"},
        {"\"hits\": 0", "\"hits\": -1"},
        {"noise\": ", "noise\": -1"}}) {
    std::string bad = good;
    const auto place = bad.rfind(from);
    if (place == std::string::npos) continue;
    bad.replace(place, from.size(), to);
    EXPECT_THROW(ThresholdWatch(bad, bits), Error) << bad;
  }
  EXPECT_THROW(ThresholdWatch("", bits), Error);
}

}  // namespace
}  // namespace shoal::mechanism
