// One round of AIM, and one of our own, on a table so small that its whole law can be summed: which
// marginal is chosen, and every noisy count. The hockey-stick divergence of all neighbours stays
// within what its zCDP charge allows, or its Gaussian one, and a round with half the noise would
// not.
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

namespace shoal::synth {
namespace {

using Counts = std::array<std::int64_t, 4>;  // of two columns of two values

std::array<std::int64_t, 2> marginal(const Counts& counts, int column) {
  if (column == 0) return {counts[0] + counts[1], counts[2] + counts[3]};
  return {counts[0] + counts[2], counts[1] + counts[3]};
}

// Scores as the curator has them, for expected counts of 2 everywhere and weights 2 and 1.
std::vector<Int128> scores(const Counts& counts) {
  std::vector<Int128> result;
  for (const int column : {0, 1}) {
    const auto table = marginal(counts, column);
    const std::int64_t distance = std::abs(table[0] - 2) + std::abs(table[1] - 2);
    result.push_back((column == 0 ? 2 : 1) * distance * release::kExpectedSteps);
  }
  return result;
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

// The worst over a table's neighbours, both ways.
double worst(Round round, double epsilon) {
  double result = 0;
  for (const Counts& counts : {Counts{1, 0, 2, 1}, Counts{0, 0, 0, 1}, Counts{2, 2, 2, 2}}) {
    for (std::size_t cell = 0; cell < 4; ++cell) {
      Counts more = counts;
      ++more[cell];
      result = std::max({result, hockey_stick(counts, more, round, epsilon),
                         hockey_stick(more, counts, round, epsilon)});
    }
  }
  return result;
}

// The smallest delta for which the round's charge allows epsilon.
double allowed(Round round, double epsilon) {
  const release::MarginalUnit unit;
  const privacy::Charge charge =
      add(price(release::marginal_event(round.sigma, unit), unit.neighbors),
          price(release::choice_event(round.scale, 2, unit), unit.neighbors));
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

TEST(RoundAuditTest, TheHockeyStickStaysWithinTheCharge) {
  const Round round{2 * 2 * 256 / 0.5, 2};  // epsilon 0.5 for the choice
  for (const double epsilon : {0.25, 0.5, 1.0, 1.5}) {
    EXPECT_LE(worst(round, epsilon), allowed(round, epsilon)) << epsilon;
    EXPECT_GT(worst(round, epsilon), 0.0);
  }
}

TEST(RoundAuditTest, ARoundWithHalfTheNoiseIsCaught) {
  const Round charged{2 * 2 * 256 / 0.5, 2};
  const Round broken{2 * 2 * 256 / 0.5, 1};
  EXPECT_GT(worst(broken, 1.5), allowed(charged, 1.5));
}

// The same of a round that is charged as Gaussian.
double gaussian_allowed(Round round, double epsilon) {
  const release::MarginalUnit unit;
  const privacy::Charge charge =
      add(price(release::marginal_event(round.sigma, unit, round.noise), unit.neighbors),
          price(release::choice_event(round.scale, 2, unit), unit.neighbors));
  const double mu = std::sqrt(2e-15 * static_cast<double>(charge.gaussian_units.value()));
  return numeric::gaussian_delta_up(1, mu, epsilon) * (1 + 1e-12);
}

TEST(RoundAuditTest, TheHockeyStickOfAGaussianRoundStaysWithinItsMu) {
  const Round round{2 * 2 * 256 / 0.5, 2, release::MarginalNoise::rounded_gaussian};
  for (const double epsilon : {0.0, 0.25, 0.5, 1.0, 1.5}) {
    EXPECT_LE(worst(round, epsilon), gaussian_allowed(round, epsilon)) << epsilon;
    EXPECT_GT(worst(round, epsilon), 0.3 * gaussian_allowed(round, epsilon)) << epsilon;
  }
}

TEST(RoundAuditTest, AGaussianRoundWithLessNoiseIsCaught) {
  const auto rounded = release::MarginalNoise::rounded_gaussian;
  const Round charged{2 * 2 * 256 / 0.5, 2, rounded};
  EXPECT_GT(worst({charged.scale, 1, rounded}, 1.5), gaussian_allowed(charged, 1.5));
  EXPECT_GT(worst({charged.scale / 4, 2, rounded}, 0.5), gaussian_allowed(charged, 0.5));
}

}  // namespace
}  // namespace shoal::synth
