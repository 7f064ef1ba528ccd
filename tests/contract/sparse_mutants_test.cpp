// Every published sparse vector that breaks its claim is caught by samples alone; the honest one
// passes the same attacks, and so does the engine's own.
#include "mutants/sparse_mutants.hpp"

#include "support/seeded_source.hpp"

#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/numeric/binomial.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::mechanism {
namespace {

constexpr double kFalseAlarm = 1e-6;
constexpr int kDraws = 500'000;

// An engine is made for each draw, with its tables.
constexpr int kEngineDraws = 15'000;

// A lower bound of epsilon, wrong with probability at most kFalseAlarm.
double audited(const mutants::SparseRun& run, const mutants::SparseAttack& attack,
               std::uint64_t seed, int draws = kDraws) {
  test::SeededSource bits(seed);
  const auto hits = [&](const std::vector<double>& values) {
    std::int64_t count = 0;
    for (int i = 0; i < draws; ++i) count += attack.seen(run(values, bits)) ? 1 : 0;
    return count;
  };
  const double often = numeric::chance_lower_bound(hits(attack.first), draws, kFalseAlarm / 2);
  const double seldom = numeric::chance_upper_bound(hits(attack.second), draws, kFalseAlarm / 2);
  return std::log(often / seldom);
}

TEST(SparseMutants, TheAuditCatchesEveryOne) {
  std::uint64_t seed = 900;
  for (const mutants::SparseMutant& mutant : mutants::sparse_mutants()) {
    EXPECT_GT(audited(mutant.run, mutant.attack, ++seed, mutant.draws), mutant.epsilon)
        << mutant.name;
  }
}

TEST(SparseMutants, TheHonestOnePassesTheSameAttacks) {
  std::uint64_t seed = 920;
  for (const mutants::SparseMutant& mutant : mutants::sparse_mutants()) {
    const auto run = mutants::honest_sparse(mutant.epsilon, mutant.hits);
    EXPECT_LE(audited(run, mutant.attack, ++seed), mutant.epsilon) << mutant.name;
  }
}

// The engine's own on a grid of 1/4, every law and variant, against the attacks by verdict.
TEST(SparseMutants, TheEnginePassesTheSameAttacks) {
  constexpr int kFine = 4;
  std::uint64_t seed = 940;
  for (const mutants::SparseMutant& mutant : mutants::sparse_mutants()) {
    for (const SparseNoise noise : {SparseNoise::geometric, SparseNoise::laplace}) {
      const SparseVector spec =
          calibrate_sparse({.epsilon = Epsilon(mutant.epsilon),
                            .hits = mutant.hits,
                            .sensitivity = {Sensitivity(kFine), ScoreChange::two_sided},
                            .noise = noise});
      const mutants::SparseRun run = [&](std::span<const double> values, random::BitSource& bits) {
        ThresholdWatch watch(spec, bits);
        mutants::SparseTranscript told;
        for (const double value : values) {
          const Verdict verdict = watch.ask(static_cast<Int128>(value * kFine), 0).verdict;
          if (verdict == Verdict::halted) break;
          told.verdicts.push_back(verdict);
          if (verdict == Verdict::above) told.values.push_back(0);
        }
        return told;
      };
      EXPECT_LE(audited(run, mutant.attack, ++seed, kEngineDraws), mutant.epsilon)
          << mutant.name << " " << to_string(noise);
    }
  }
}

// Off by one in the engine's own: half the noise, hits not counted, the threshold's noise left out.
TEST(SparseMutants, TheEngineWithLessNoiseIsCaught) {
  mutants::SparseAttack attack = mutants::detail::see_saw(1, 2);
  attack.first[0] = -1;
  attack.second[0] = 0;
  const auto run_of = [](SparseVector spec) -> mutants::SparseRun {
    return [spec](std::span<const double> values, random::BitSource& bits) {
      ThresholdWatch watch(spec, bits);
      mutants::SparseTranscript told;
      for (const double value : values) {
        told.verdicts.push_back(watch.ask(static_cast<Int128>(value), 0).verdict);
      }
      return told;
    };
  };
  const SparseGoal goal{
      .epsilon = Epsilon(2), .hits = 2, .sensitivity = {Sensitivity(1), ScoreChange::two_sided}};
  const SparseVector honest = calibrate_sparse(goal);
  EXPECT_LE(audited(run_of(honest), attack, 960, kEngineDraws), 2);
  SparseVector half = honest;
  half.query_scale /= 2;
  half.threshold_scale /= 2;
  EXPECT_GT(audited(run_of(half), attack, 961, kEngineDraws), 2);
  SparseVector one_sided = honest;  // the price of monotone values for those that are not
  one_sided.query_scale /= 2;
  EXPECT_GT(audited(run_of(one_sided), attack, 962, kEngineDraws), 2);
}

}  // namespace
}  // namespace shoal::mechanism
