// One round of AIM, and one of our own, on a table so small that its whole law can be summed: which
// marginal is chosen, and every noisy count; and the distances that are measured at the end. Scores
// and distances are worked out by what the curator itself uses. The hockey-stick divergence of all
// neighbours, under either relation, stays within what its zCDP charge allows, or its Gaussian one,
// and a round with half the noise would not.
#include "release/marginal_scores.hpp"

#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/rounded_gaussian.hpp>
#include <shoal/numeric/gaussian_delta.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/release/marginal_curator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shoal::synth {
namespace {

using Counts = std::array<std::int64_t, 4>;  // of two columns of two values

std::array<std::int64_t, 2> marginal(const Counts& counts, int column) {
  if (column == 0) return {counts[0] + counts[1], counts[2] + counts[3]};
  return {counts[0] + counts[2], counts[1] + counts[3]};
}

// For expected counts of 2 everywhere, a penalty of half a row and weights 2 and 1.
std::vector<Int128> scores(const Counts& counts) {
  const std::vector<std::int64_t> expected(2, 2 * release::kExpectedSteps);
  std::vector<Int128> result;
  for (const int column : {0, 1}) {
    const release::MarginalCandidate candidate{
        data::AttributeSet::single(static_cast<std::size_t>(column)), expected,
        release::kExpectedSteps / 2, column == 0 ? 2 : 1};
    result.push_back(release::marginal_score(marginal(counts, column), candidate));
  }
  return result;
}

// Tables of a few rows, and those of everybody who comes, goes or is exchanged.
std::vector<std::pair<Counts, Counts>> neighbours(Neighbors relation) {
  std::vector<std::pair<Counts, Counts>> pairs;
  for (const Counts& counts : {Counts{1, 0, 2, 1}, Counts{0, 0, 0, 1}, Counts{2, 2, 2, 2}}) {
    for (std::size_t cell = 0; cell < 4; ++cell) {
      Counts more = counts;
      ++more[cell];
      if (relation == Neighbors::add_remove) pairs.emplace_back(counts, more);
      for (std::size_t left = 0; left < 4 && relation == Neighbors::replace_one; ++left) {
        Counts other = more;
        if (left != cell && other[left]-- > 0) pairs.emplace_back(counts, other);
      }
    }
  }
  return pairs;
}

struct Round {
  double scale;
  double sigma;
  release::MarginalNoise noise = release::MarginalNoise::discrete_gaussian;
};

// The logarithms of the noise's probabilities, worked out once.
class NoiseTable {
 public:
  explicit NoiseTable(const Round& round) : reach_(static_cast<std::int64_t>(12 * round.sigma)) {
    const mechanism::DiscreteGaussian discrete{round.sigma};
    const mechanism::RoundedGaussian rounded{round.sigma};
    for (std::int64_t x = -reach_ - 2; x <= reach_ + 2; ++x) {
      logs_.push_back(round.noise == release::MarginalNoise::discrete_gaussian
                          ? log_pmf(discrete, x)
                          : log_pmf(rounded, x));
    }
  }
  std::int64_t reach() const { return reach_; }
  double log(std::int64_t x) const { return logs_[static_cast<std::size_t>(x + reach_ + 2)]; }

 private:
  std::int64_t reach_;
  std::vector<double> logs_;
};

double hockey_stick(const Counts& first, const Counts& second, Round round, double epsilon) {
  const mechanism::ExponentialMechanism choice{round.scale};
  const NoiseTable noise(round);
  double sum = 0;
  for (std::size_t column = 0; column < 2; ++column) {
    const double p = log_probability(choice, scores(first), std::array{column});
    const double q = log_probability(choice, scores(second), std::array{column});
    const auto a = marginal(first, static_cast<int>(column));
    const auto b = marginal(second, static_cast<int>(column));
    for (std::int64_t x = -noise.reach(); x <= noise.reach(); ++x) {
      for (std::int64_t y = -noise.reach(); y <= noise.reach(); ++y) {
        const double log_p = p + noise.log(x) + noise.log(y);
        const double log_q = q + noise.log(x + a[0] - b[0]) + noise.log(y + a[1] - b[1]);
        sum += std::max(0.0, std::exp(log_p) - std::exp(epsilon + log_q));
      }
    }
  }
  return sum;
}

// The worst over all neighbours, both ways.
double worst(Round round, double epsilon, Neighbors relation) {
  double result = 0;
  for (const auto& [one, other] : neighbours(relation)) {
    result = std::max({result, hockey_stick(one, other, round, epsilon),
                       hockey_stick(other, one, round, epsilon)});
  }
  return result;
}

privacy::Charge charge_of(Round round, Neighbors relation) {
  const release::MarginalUnit unit{1, relation};
  return add(price(release::marginal_event(round.sigma, unit, round.noise), relation),
             price(release::choice_event(round.scale, 2, unit), relation));
}

// The smallest delta for which a zCDP charge allows epsilon.
double allowed(const privacy::Charge& charge, double epsilon) {
  const Rho rho(static_cast<double>(charge.rho_units) * 1e-15);
  double low = -40;  // logarithms
  double high = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    if (privacy::epsilon_of_rho_up(rho, Delta(std::exp(middle) * 0.999999)) <= epsilon) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return std::exp(high);
}

// The same of a charge as Gaussian.
double gaussian_allowed(const privacy::Charge& charge, double epsilon) {
  const double mu = std::sqrt(2e-15 * static_cast<double>(charge.gaussian_units.value()));
  return numeric::gaussian_delta_up(1, mu, epsilon) * (1 + 1e-12);
}

class RoundAuditTest : public testing::TestWithParam<Neighbors> {};

// epsilon 0.5 for the choice; an exchange moves a score twice as far.
double scale_for(Neighbors relation) {
  return (relation == Neighbors::add_remove ? 1 : 2) * 2 * 2 * 256 / 0.5;
}

TEST_P(RoundAuditTest, TheHockeyStickStaysWithinTheCharge) {
  const Round round{scale_for(GetParam()), 2};
  for (const double epsilon : {0.25, 0.5, 1.0, 1.5}) {
    const double found = worst(round, epsilon, GetParam());
    EXPECT_LE(found, allowed(charge_of(round, GetParam()), epsilon)) << epsilon;
    EXPECT_GT(found, 0.0);
  }
}

TEST_P(RoundAuditTest, ARoundWithHalfTheNoiseIsCaught) {
  const Round charged{scale_for(GetParam()), 2};
  const Round broken{charged.scale, 1};
  EXPECT_GT(worst(broken, 1.5, GetParam()), allowed(charge_of(charged, GetParam()), 1.5));
}

TEST_P(RoundAuditTest, TheHockeyStickOfAGaussianRoundStaysWithinItsMu) {
  const Round round{scale_for(GetParam()), 2, release::MarginalNoise::rounded_gaussian};
  for (const double epsilon : {0.0, 0.25, 0.5, 1.0, 1.5}) {
    const double found = worst(round, epsilon, GetParam());
    const double promised = gaussian_allowed(charge_of(round, GetParam()), epsilon);
    EXPECT_LE(found, promised) << epsilon;
    EXPECT_GT(found, 0.3 * promised) << epsilon;
  }
}

TEST_P(RoundAuditTest, AGaussianRoundWithLessNoiseIsCaught) {
  const auto rounded = release::MarginalNoise::rounded_gaussian;
  const Round charged{scale_for(GetParam()), 2, rounded};
  const privacy::Charge charge = charge_of(charged, GetParam());
  EXPECT_GT(worst({charged.scale, 1, rounded}, 1.5, GetParam()), gaussian_allowed(charge, 1.5));
  EXPECT_GT(worst({charged.scale / 4, 2, rounded}, 0.5, GetParam()), gaussian_allowed(charge, 0.5));
}

// How far the distances of both columns move from tables between whole rows, in steps, for every
// pair of neighbours.
std::set<std::array<std::int64_t, 2>> moves(Neighbors relation) {
  constexpr std::int64_t kRow = release::kComparedSteps;
  std::set<std::array<std::int64_t, 2>> found;
  for (const auto& [one, other] : neighbours(relation)) {
    std::array<std::int64_t, 2> move{};
    for (const int column : {0, 1}) {
      const auto place = static_cast<std::size_t>(column);
      const release::ComparedTable table{data::AttributeSet::single(place),
                                         {kRow + kRow / 3, 2 * kRow - 7}};
      move[place] =
          static_cast<std::int64_t>(release::marginal_distance(marginal(one, column), table) -
                                    release::marginal_distance(marginal(other, column), table));
    }
    found.insert(move);
  }
  return found;
}

// Of noise in steps, against itself moved by so many: all of its law.
double moved_noise(double sigma, release::MarginalNoise noise, std::int64_t move, double epsilon) {
  const auto reach = static_cast<std::int64_t>(9 * sigma);
  const auto pmf = [&](std::int64_t x) {
    return noise == release::MarginalNoise::discrete_gaussian
               ? std::exp(log_pmf(mechanism::DiscreteGaussian{sigma}, x))
               : std::exp(log_pmf(mechanism::RoundedGaussian{sigma}, x));
  };
  std::vector<double> law;
  for (std::int64_t x = -reach - move; x <= reach; ++x) law.push_back(pmf(x));
  const auto shift = static_cast<std::size_t>(move);
  double sum = 0;
  for (std::size_t i = 0; i + shift < law.size(); ++i)
    sum += std::max(0.0, law[i + shift] - std::exp(epsilon) * law[i]);
  return sum;
}

// One distance: its whole law, for the furthest that any neighbour moves it. Two: the squares of
// what they move by add up to no more than is charged.
TEST_P(RoundAuditTest, DistancesStayWithinTheirCharge) {
  constexpr double kSigma = 0.5;  // rows
  constexpr double kSteps = release::kComparedSteps;
  const release::MarginalUnit unit{1, GetParam()};
  std::int64_t furthest = 0;
  double squares = 0;
  for (const auto& [first, second] : moves(GetParam())) {
    furthest = std::max({furthest, std::abs(first), std::abs(second)});
    const auto a = static_cast<double>(first) / kSteps;
    const auto b = static_cast<double>(second) / kSteps;
    squares = std::max(squares, a * a + b * b);
  }
  using enum release::MarginalNoise;
  for (const release::MarginalNoise noise : {discrete_gaussian, rounded_gaussian}) {
    const auto charged = [&](double sigma, std::int64_t count) {
      return price(release::distances_event(sigma, count, unit, noise), GetParam());
    };
    EXPECT_LE(squares / (2 * kSigma * kSigma),
              static_cast<double>(charged(kSigma, 2).rho_units) * 1e-15);
    for (const double epsilon : {1.0, 4.0, 12.0}) {
      const double found = moved_noise(kSigma * kSteps, noise, furthest, epsilon);
      const double promised = noise == discrete_gaussian
                                  ? allowed(charged(kSigma, 1), epsilon)
                                  : gaussian_allowed(charged(kSigma, 1), epsilon);
      EXPECT_LE(found, promised) << epsilon;
      EXPECT_GT(found, 0.0) << epsilon;
      // Charged for twice the noise it would not do.
      const double less = noise == discrete_gaussian
                              ? allowed(charged(2 * kSigma, 1), epsilon)
                              : gaussian_allowed(charged(2 * kSigma, 1), epsilon);
      EXPECT_GT(found, less) << epsilon;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, RoundAuditTest,
                         testing::Values(Neighbors::add_remove, Neighbors::replace_one),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace shoal::synth
