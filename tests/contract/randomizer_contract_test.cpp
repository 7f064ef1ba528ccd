// What every local randomizer in the registry must hold, run over all of them at several
// parameters, and what their mutants must not get away with. A new one adds its specs to
// all_specs() and, for a new kind of event, its claim to StatedClaim.
//
// That bits and time do not depend on the truth needs no run: sample() has no truth to see, and
// respond() no bits. That they do not depend on the draw either is in the unit tests.
#include "mutants/randomizer_mutants.hpp"
#include "support/chi_square.hpp"
#include "support/seeded_source.hpp"

#include <shoal/audit/empirical.hpp>
#include <shoal/base/error.hpp>
#include <shoal/mechanism/randomizer_registry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::mechanism {
namespace {

constexpr double kFalseAlarm = 1e-6;
constexpr int kDraws = 200000;
// Truths looked at; the first kReports reports hold all that they can become.
constexpr std::uint64_t kTruths = 4;
constexpr std::uint64_t kReports = 128;

std::vector<AnyRandomizer> all_specs() {
  return {RandomizedResponse{0, 2},
          RandomizedResponse{1, 2},
          RandomizedResponse{0.1, 3},
          RandomizedResponse{1, 4},
          RandomizedResponse{2.5, 100},
          RandomizedResponse{40, 5},
          LeakyRandomizedResponse{1, 0.01},
          LeakyRandomizedResponse{0, 0.25},
          LeakyRandomizedResponse{0.5, 0},
          LeakyRandomizedResponse{2, 1},
          LeakyRandomizedResponse{3, 0.0001},
          NameAndShame{0.05},
          NameAndShame{0.5},
          NameAndShame{0},
          NameAndShame{1}};
}

std::uint64_t truths_of(const AnyRandomizer& spec) { return std::min(truth_count(spec), kTruths); }
std::uint64_t reports_of(const AnyRandomizer& spec) {
  return std::min(report_count(spec), kReports);
}

double log_pmf_or_none(const AnyRandomizer& spec, std::uint64_t truth, Int128 report) {
  if (report < 0 || report >= static_cast<Int128>(report_count(spec))) {
    return -std::numeric_limits<double>::infinity();
  }
  return log_pmf(spec, truth, static_cast<std::uint64_t>(report));
}

// Sum of (P(report | first) - e^epsilon P(report | second)) where positive.
double hockey_stick(const AnyRandomizer& spec, TruthPair pair, double epsilon) {
  double sum = 0;
  for (std::uint64_t report = 0; report < reports_of(spec); ++report) {
    sum += std::max(0.0, std::exp(log_pmf(spec, pair.first, report)) -
                             std::exp(epsilon + log_pmf(spec, pair.second, report)));
  }
  return sum;
}

double worst(const AnyRandomizer& spec, TruthPair pair, double epsilon) {
  return std::max(hockey_stick(spec, pair, epsilon),
                  hockey_stick(spec, {pair.second, pair.first}, epsilon));
}

struct Claim {
  double epsilon;
  double delta;
};

struct StatedClaim {
  Claim operator()(const privacy::event::RandomizedResponse& e) const { return {e.epsilon, 0}; }
  Claim operator()(const privacy::event::LeakyRandomizedResponse& e) const {
    return {e.epsilon, e.delta};
  }
  Claim operator()(const privacy::event::NameAndShame& e) const { return {0, e.delta}; }
  template <class Other>
  Claim operator()(const Other&) const {
    ADD_FAILURE() << "state here what this event promises";
    return {0, 0};
  }
};

Claim claim_of(const AnyRandomizer& spec) {
  return std::visit(StatedClaim{}, privacy_event(spec).node());
}

mutants::Responder honest(const AnyRandomizer& spec) {
  return std::visit(
      [](const auto& member) -> mutants::Responder {
        return [member, sampler = prepare(member)](std::uint64_t truth, random::BitSource& bits) {
          return respond(member, truth, sampler.sample(bits));
        };
      },
      spec);
}

double p_value(const AnyRandomizer& spec, const mutants::Responder& responder,
               std::uint64_t truth) {
  test::SeededSource bits(40 + truth);
  return test::chi_square_p_value(
      [&](random::BitSource& source) { return static_cast<Int128>(responder(truth, source)); },
      [&](Int128 x) { return log_pmf_or_none(spec, truth, x); }, kReports, kDraws, bits);
}

// The epsilon that samples show of the worst pair, or of any other, at the claim's own delta.
double audited_epsilon(const AnyRandomizer& spec, const mutants::Responder& responder,
                       TruthPair pair) {
  test::SeededSource bits(50);
  std::vector<Int128> first;
  std::vector<Int128> second;
  for (int i = 0; i < kDraws; ++i) {
    first.push_back(static_cast<Int128>(responder(pair.first, bits)));
    second.push_back(static_cast<Int128>(responder(pair.second, bits)));
  }
  // Delta is below 1 by its type; at 1 there is nothing to refute.
  const double delta = std::min(claim_of(spec).delta, std::nextafter(1.0, 0.0));
  return audit::empirical_epsilon(first, second, Delta(delta), Confidence(1 - kFalseAlarm)).epsilon;
}

class RandomizerContract : public testing::TestWithParam<AnyRandomizer> {};

TEST_P(RandomizerContract, RoundTripsThroughJson) {
  const AnyRandomizer& spec = GetParam();
  EXPECT_NO_THROW(validate(spec));
  EXPECT_EQ(randomizer_from_json(to_json(spec)), spec);
  EXPECT_NE(to_json(spec).find(name(spec)), std::string::npos);
  EXPECT_FALSE(describe(spec).empty());
}

TEST_P(RandomizerContract, EventNamesItAndRoundTrips) {
  const privacy::Event event = privacy_event(GetParam());
  EXPECT_NE(privacy::to_json(event).find(name(GetParam())), std::string::npos);
  EXPECT_EQ(privacy::event_from_json(privacy::to_json(event)), event);
}

TEST_P(RandomizerContract, PmfSumsToOneForEachTruth) {
  const AnyRandomizer& spec = GetParam();
  for (std::uint64_t truth = 0; truth < truths_of(spec); ++truth) {
    double mass = 0;
    for (std::uint64_t report = 0; report < reports_of(spec); ++report) {
      mass += std::exp(log_pmf(spec, truth, report));
    }
    EXPECT_NEAR(mass, 1, 1e-12) << truth;
  }
}

TEST_P(RandomizerContract, SamplerFollowsThePmf) {
  // Seeded, so it either always passes or never; over seeds it would fail once in 250,000.
  const AnyRandomizer& spec = GetParam();
  for (std::uint64_t truth = 0; truth < truths_of(spec); ++truth) {
    EXPECT_GT(p_value(spec, honest(spec), truth), kFalseAlarm) << truth;
  }
}

TEST_P(RandomizerContract, UnpreparedSampleDrawsTheSame) {
  const AnyRandomizer& spec = GetParam();
  test::SeededSource bits(41);
  test::SeededSource same_bits(41);
  const mutants::Responder responder = honest(spec);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(respond(spec, 1, sample(spec, bits)), responder(1, same_bits));
  }
}

TEST_P(RandomizerContract, PmfKeepsTheClaimAndComesCloseToIt) {
  const AnyRandomizer& spec = GetParam();
  const Claim claim = claim_of(spec);
  const TruthPair pair = audit_target(spec);
  EXPECT_LE(worst(spec, pair, claim.epsilon), claim.delta + 1e-12);
  EXPECT_GE(worst(spec, pair, claim.epsilon), claim.delta - 1e-12);
  if (claim.epsilon > 0 && claim.delta < 1) {
    EXPECT_GT(worst(spec, pair, 0.99 * claim.epsilon), claim.delta + 1e-9);
  }
}

TEST_P(RandomizerContract, AuditTargetIsTheWorstPair) {
  const AnyRandomizer& spec = GetParam();
  for (const double epsilon : {0.0, 0.3, 1.0, 5.0}) {
    const double target = worst(spec, audit_target(spec), epsilon);
    for (std::uint64_t a = 0; a < truths_of(spec); ++a) {
      for (std::uint64_t b = 0; b < a; ++b) {
        EXPECT_LE(worst(spec, {a, b}, epsilon), target + 1e-14);
      }
    }
  }
}

TEST_P(RandomizerContract, RefusesTruthsDrawsAndReportsOutOfRange) {
  const AnyRandomizer& spec = GetParam();
  EXPECT_THROW(respond(spec, truth_count(spec), Draw{0}), Error);
  EXPECT_THROW(respond(spec, 0, Draw{report_count(spec)}), Error);
  EXPECT_THROW(log_pmf(spec, 0, report_count(spec)), Error);
  EXPECT_THROW(log_pmf(spec, truth_count(spec), 0), Error);
}

TEST_P(RandomizerContract, AuditPassesIt) {
  // False alarm: once in a million.
  const AnyRandomizer& spec = GetParam();
  EXPECT_LE(audited_epsilon(spec, honest(spec), audit_target(spec)), claim_of(spec).epsilon);
}

INSTANTIATE_TEST_SUITE_P(Registry, RandomizerContract, testing::ValuesIn(all_specs()),
                         [](const testing::TestParamInfo<AnyRandomizer>& parameter) {
                           std::string text = describe(parameter.param);
                           for (char& c : text)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return text;
                         });

TEST(RandomizerRegistry, EveryMemberIsUnderContract) {
  std::vector<bool> seen(std::variant_size_v<AnyRandomizer>, false);
  for (const AnyRandomizer& spec : all_specs()) seen[spec.index()] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

TEST(RandomizerMutants, ChiSquareCatchesEveryOne) {
  for (const mutants::RandomizerMutant& mutant : mutants::randomizer_mutants()) {
    double smallest = 1;
    for (std::uint64_t truth = 0; truth < truths_of(mutant.claimed); ++truth) {
      smallest = std::min(smallest, p_value(mutant.claimed, mutant.respond, truth));
    }
    EXPECT_LT(smallest, kFalseAlarm) << mutant.name;
  }
}

TEST(RandomizerMutants, AuditCatchesThoseThatBreakTheClaim) {
  for (const mutants::RandomizerMutant& mutant : mutants::randomizer_mutants()) {
    const double epsilon =
        audited_epsilon(mutant.claimed, mutant.respond, audit_target(mutant.claimed));
    EXPECT_EQ(epsilon > claim_of(mutant.claimed).epsilon, mutant.breaks_privacy)
        << mutant.name << " shows " << epsilon;
  }
}

}  // namespace
}  // namespace shoal::mechanism
