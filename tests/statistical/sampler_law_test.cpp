// The samplers against their laws on a hundred million draws each, or a thousand million if
// SHOAL_DRAWS asks for it (`make nightly`). Exactness rests on the tests
// of every word and threshold in tests/unit/random; this sees what those could share with the code.
//
// Seeded, so each test either always passes or never; over seeds it would fail once in a million.
#include "support/seeded_source.hpp"

#include <shoal/mechanism/registry.hpp>
#include <shoal/numeric/binomial.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>
#include <shoal/random/rounded_normal.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace shoal::random {
namespace {

std::int64_t draws() {
  const char* asked = std::getenv("SHOAL_DRAWS");
  return asked != nullptr ? std::atoll(asked) : 100'000'000;
}

// Counts of values, by cells of neighbours and by residue, against their probabilities.
class Tally {
 public:
  Tally(const std::function<double(Int128)>& log_pmf, std::int64_t radius, std::int64_t width)
      : radius_(radius), width_(width), cells_(static_cast<std::size_t>(2 * radius / width) + 2) {
    expected_.resize(cells_ + 1);
    observed_.resize(cells_ + 1);
    for (std::int64_t x = -radius; x <= radius; ++x) {
      const double p = std::exp(log_pmf(x));
      expected_[cell(x)] += p;
      expected_residue_[static_cast<std::size_t>(x & 63)] += p;
    }
  }

  void add(std::int64_t x) {
    ++observed_[cell(x)];
    ++observed_residue_[static_cast<std::size_t>(x & 63)];
  }

  double p_value(std::int64_t count) const {
    return 2 * std::min(p_value_of(expected_, observed_, count),
                        p_value_of(expected_residue_, observed_residue_, count));
  }

 private:
  std::size_t cell(std::int64_t x) const {
    return x < -radius_ || x > radius_ ? cells_ : static_cast<std::size_t>((x + radius_) / width_);
  }

  template <class Expected, class Observed>
  static double p_value_of(const Expected& expected, const Observed& observed, std::int64_t count) {
    double statistic = 0;
    double rest = 0;
    double rest_observed = 0;
    int cells = -1;
    const auto term = [](double e, double o) { return (o - e) * (o - e) / e; };
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double mean = expected[i] * static_cast<double>(count);
      const auto seen = static_cast<double>(observed[i]);
      if (mean < 50) {
        rest += mean;
        rest_observed += seen;
      } else {
        statistic += term(mean, seen);
        ++cells;
      }
    }
    if (rest > 5) {
      statistic += term(rest, rest_observed);
      ++cells;
    } else if (rest_observed > 60) {
      return 0;  // what all but never happens happened
    }
    return numeric::chi_square_tail(statistic, cells);
  }

  std::int64_t radius_;
  std::int64_t width_;
  std::size_t cells_;
  std::vector<double> expected_;
  std::vector<std::int64_t> observed_;
  std::array<double, 64> expected_residue_{};
  std::array<std::int64_t, 64> observed_residue_{};
};

template <class Sampler>
double law_p_value(const Sampler& sampler, const mechanism::AnyMechanism& spec, double scale,
                   double widths, std::uint64_t seed) {
  const auto radius = static_cast<std::int64_t>(widths * scale) + 8;
  const auto width = std::max<std::int64_t>(1, radius / 2000);
  Tally tally([&](Int128 x) { return mechanism::log_pmf(spec, x); }, radius, width);
  test::SeededSource bits(seed);
  std::vector<std::int64_t> values(1 << 14);
  const std::int64_t count = draws() / (1 << 14) * (1 << 14);
  for (std::int64_t done = 0; done < count; done += 1 << 14) {
    sampler.fill(values, bits);
    for (const std::int64_t x : values) tally.add(x);
  }
  return tally.p_value(count);
}

TEST(SamplerLaw, DiscreteLaplace) {
  for (const double scale : {1.0, 10.0, 1000.1, 3000.1}) {
    EXPECT_GT(law_p_value(DiscreteLaplaceSampler(scale), mechanism::DiscreteLaplace{scale}, scale,
                          45, 60),
              1e-6)
        << scale;
  }
}

TEST(SamplerLaw, DiscreteGaussian) {
  for (const double sigma : {1.0, 10.0, 1000.1}) {
    EXPECT_GT(law_p_value(DiscreteGaussianSampler(sigma), mechanism::DiscreteGaussian{sigma}, sigma,
                          9, 61),
              1e-6)
        << sigma;
  }
}

TEST(SamplerLaw, SeesASmallError) {
  // A scale that is wrong by one part in a thousand.
  EXPECT_LT(law_p_value(DiscreteLaplaceSampler(10.01), mechanism::DiscreteLaplace{10}, 10, 45, 62),
            1e-6);
}

}  // namespace
}  // namespace shoal::random
