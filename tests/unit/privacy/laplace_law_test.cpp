// The loss of Laplace noise, sampled or not, in either direction: against the law itself, summed in
// long double.
#include "privacy/laplace_law.hpp"

#include "support/loss_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

namespace shoal::privacy {
namespace {

using test::Long;

// The law by its definition: noise of scale 1 at 0 and at epsilon.
struct Definition {
  Long epsilon;
  Long rate;
  bool added;

  Long sampled(Long base) const {
    const Long loss = rate == 1 ? base : log1pl(rate * expm1l(base));
    return added ? -loss : loss;
  }
  Long mass(Long plain, Long moved) const {
    return added ? plain : (1 - rate) * plain + rate * moved;
  }

  // Calls visit(loss, mass of P, mass of Q) for both ends, where e^base is the ratio of the moved
  // density to the plain one, and for the middle in short pieces: at their middles with all of
  // their mass, or at the five nodes of Gauss and Legendre.
  template <class Visit>
  void visit(int pieces, bool gauss, Visit visit) const {
    const auto one = [&](Long base, Long plain, Long moved) {
      const Long mixed = (1 - rate) * plain + rate * moved;
      added ? visit(sampled(base), plain, mixed) : visit(sampled(base), mixed, plain);
    };
    one(epsilon, expl(-epsilon) / 2, 0.5L);
    one(-epsilon, 0.5L, expl(-epsilon) / 2);
    constexpr Long kNodes[] = {0, 0.538469310105683091036L, 0.906179845938663992798L};
    constexpr Long kWeights[] = {0.568888888888888888889L, 0.478628670499366468041L,
                                 0.236926885056189087514L};
    const Long step = 2 * epsilon / pieces;
    for (int i = 0; i < pieces; ++i) {
      const Long middle = -epsilon + (i + 0.5L) * step;
      if (!gauss) {
        const Long plain = expl(-(middle + epsilon) / 2) * sinhl(step / 4);
        one(middle, plain, plain * expl(middle));
        continue;
      }
      for (int k = -2; k <= 2; ++k) {
        const Long base = middle + (k < 0 ? -1 : 1) * kNodes[std::abs(k)] * step / 2;
        const Long plain = kWeights[std::abs(k)] * step / 8 * expl(-(base + epsilon) / 2);
        one(base, plain, plain * expl(base));
      }
    }
  }

  Long delta(Long at) const {
    Long sum = 0;
    visit(4000, false, [&](Long, Long p, Long q) { sum += std::max(Long(0), p - expl(at) * q); });
    return sum;
  }

  std::complex<Long> moment(Long tilt, Long frequency) const {
    std::complex<Long> sum = 0;
    visit(400, true, [&](Long loss, Long p, Long) {
      sum += std::polar(p * expl(tilt * loss), frequency * loss);
    });
    return sum;
  }
};

std::vector<Definition> definitions() {
  return {{1, 1, false},    {0.25L, 1, false},    {4, 1, false},       {1, 0.25L, false},
          {1, 0.25L, true}, {0.5L, 0.875L, true}, {3, 0.0625L, false}, {3, 0.0625L, true}};
}

LaplaceLaw law_of(const Definition& d) {
  return {static_cast<double>(d.epsilon), static_cast<double>(d.rate), d.added};
}

std::string name(const Definition& d) {
  return "epsilon " + std::to_string(d.epsilon) + " rate " + std::to_string(d.rate) +
         (d.added ? " added" : "");
}

TEST(LaplaceLaw, DeltaIsTheDefinition) {
  for (const Definition& d : definitions()) {
    const LaplaceLaw law = law_of(d);
    for (const double at : {-5.0, -1.0, -0.1, 0.0, 0.03, 0.125, 0.5, 0.9, 2.5}) {
      const auto bounds = law.delta(at);
      ASSERT_TRUE(bounds);
      EXPECT_LE(bounds->lower, bounds->upper);
      const auto exact = static_cast<double>(d.delta(at));
      // The definition's middle is a sum of 4000 pieces: right to their square.
      EXPECT_NEAR(bounds->lower, exact, 2e-6) << name(d) << " at " << at;
      EXPECT_NEAR(bounds->upper, exact, 2e-6) << name(d) << " at " << at;
    }
  }
}

TEST(LaplaceLaw, DeltaBracketsTheFormula) {
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const LaplaceLaw law(epsilon, 1, false);
    for (double at = 0; at < epsilon; at += epsilon / 17) {
      const Long exact = -expm1l((Long(at) - epsilon) / 2);
      const auto bounds = law.delta(at);
      EXPECT_LE(bounds->lower, exact);
      EXPECT_GE(bounds->upper, exact);
      EXPECT_LE(bounds->upper - bounds->lower, 1e-12);
    }
  }
}

// The largest loss is known up to rounding only: above it by a few of them, delta may not be
// claimed to be nothing.
TEST(LaplaceLaw, DeltaNearTheLargestLossAllowsForItsRounding) {
  for (double rate = 0.05; rate < 1; rate += 0.01) {
    for (const double epsilon : {0.3, 0.7, 1.1, 2.3}) {
      const LaplaceLaw law(epsilon, rate, false);
      const Long top = log1pl(Long(rate) * expm1l(Long(epsilon)));
      double at = law.atoms().back();
      for (int step = 0; step < 4; ++step, at = std::nextafter(at, 10)) {
        const auto bounds = law.delta(at);
        // P has half of its moved mass there.
        const Long least = Long(at) < top ? -(Long(rate) / 2) * expm1l(Long(at) - top) : 0;
        EXPECT_GE(bounds->upper, least) << rate << " " << epsilon << " step " << step;
      }
    }
  }
}

TEST(LaplaceLaw, NodesGiveTheMomentAtComplexTilts) {
  for (const Definition& d : definitions()) {
    for (const double largest_tilt : {1.0, 10.0}) {
      const NodeTable table = law_of(d).nodes(largest_tilt, 20, 1e-14);
      for (const double tilt : {0.25 * largest_tilt, largest_tilt}) {
        const Long whole = d.moment(tilt, 0).real();
        for (const double frequency : {0.0, 3.0, 20.0}) {
          std::complex<Long> sum = 0;
          for (std::size_t i = 0; i < table.size(); ++i) {
            sum += std::polar(expl(table.log_mass[i] + Long(tilt) * table.loss[i]),
                              Long(frequency) * table.loss[i]);
          }
          EXPECT_LE(std::abs(sum - d.moment(tilt, frequency)), 1e-11L * whole)
              << name(d) << " tilt " << tilt << " frequency " << frequency;
        }
      }
    }
  }
}

// Without sampling the moment has a formula, so the claimed tolerance itself can be seen.
TEST(LaplaceLaw, NodesKeepTheirToleranceAgainstTheFormula) {
  for (const double epsilon : {0.1, 1.0, 5.0}) {
    const NodeTable table = LaplaceLaw(epsilon, 1, false).nodes(8, 30, 1e-15);
    for (const double tilt : {0.5, 8.0}) {
      for (const double frequency : {0.0, 7.0, 30.0}) {
        const std::complex<Long> t(tilt, frequency);
        const auto moment = [&](std::complex<Long> at) {
          return ((at + Long(1)) * std::exp(at * Long(epsilon)) +
                  at * std::exp(-(at + Long(1)) * Long(epsilon))) /
                 (Long(2) * at + Long(1));
        };
        std::complex<Long> sum = 0;
        Long rounding = 0;
        for (std::size_t i = 0; i < table.size(); ++i) {
          const Long size = expl(table.log_mass[i] + Long(tilt) * table.loss[i]);
          sum += std::polar(size, Long(frequency) * table.loss[i]);
          rounding += size * (table.mass_error[i] + 3 * std::abs(table.log_mass[i]) +
                              (tilt + frequency) * table.loss_error[i]);
        }
        EXPECT_LE(std::abs(sum - moment(t)), 1e-15L * moment(tilt).real() + kRounding * rounding)
            << epsilon << " " << tilt << " " << frequency;
      }
    }
  }
}

TEST(LaplaceLaw, DecayBoundsTheMoment) {
  for (const Definition& d : definitions()) {
    const LaplaceLaw law = law_of(d);
    for (const double tilt : {0.5, 4.0}) {
      const NodeTable table = law.nodes(tilt, 60, 1e-14);
      std::vector<double> weight(table.size());
      double sum = 0;
      for (std::size_t i = 0; i < table.size(); ++i) {
        sum += weight[i] = std::exp(table.log_mass[i] + tilt * table.loss[i]);
      }
      for (double& w : weight) w /= sum;
      const auto size_at = [&](double s) {
        std::complex<double> total = 0;
        for (std::size_t i = 0; i < table.size(); ++i) {
          total += std::polar(weight[i], s * table.loss[i]);
        }
        return std::abs(total);
      };
      for (double s = 0.5; s < 60; s *= 1.4) {
        const double bound = law.decay(tilt, s, table, weight);
        EXPECT_LE(bound, 1);
        for (double higher = s; higher < 60; higher *= 1.07) {
          EXPECT_GE(bound, size_at(higher) * (1 - 1e-10)) << name(d) << " " << tilt << " " << s;
        }
      }
    }
  }
}

TEST(LaplaceLaw, SharesKeepTheMassesOfBothSides) {
  for (const Definition& d : definitions()) {
    const LaplaceLaw law = law_of(d);
    const std::vector<double> atoms = law.atoms();
    // A lattice that covers the range and meets neither end.
    const double step = (atoms.back() - atoms.front()) / 17.3;
    std::vector<double> boundaries;
    for (int i = 0; i <= 20; ++i) boundaries.push_back(atoms.front() - 0.6 * step + step * i);
    const CellShares shares = law.split(boundaries);
    std::vector<Long> with(20, 0);
    std::vector<Long> without(20, 0);
    d.visit(100000, false, [&](Long loss, Long p, Long q) {
      const auto cell = static_cast<std::size_t>((loss - boundaries.front()) / step);
      with[cell] += p;
      without[cell] += q;
    });
    EXPECT_EQ(shares.below, 0) << name(d);
    EXPECT_EQ(shares.above, 0) << name(d);
    Long total = 0;
    for (std::size_t cell = 0; cell < 20; ++cell) {
      const Long low = shares.low[cell];
      const Long high = shares.high[cell];
      EXPECT_GE(low, 0);
      EXPECT_GE(high, 0);
      total += low + high;
      // The definition's pieces may fall on either side of a boundary.
      EXPECT_NEAR(static_cast<double>(low + high), static_cast<double>(with[cell]), 1e-4)
          << name(d);
      EXPECT_NEAR(
          static_cast<double>(low * expl(-boundaries[cell]) + high * expl(-boundaries[cell + 1])),
          static_cast<double>(without[cell]), 1e-4)
          << name(d) << " cell " << cell;
    }
    EXPECT_NEAR(static_cast<double>(total), 1, 1e-13) << name(d);
  }
}

TEST(LaplaceLaw, MassesAtTheEndsSitOnALatticeThatMeetsThem) {
  const LaplaceLaw law(1, 1, false);
  const CellShares shares = law.split({-1, -0.5, 0, 0.5, 1});
  EXPECT_NEAR(shares.at.front(), std::exp(-1) / 2, 1e-15);
  EXPECT_NEAR(shares.at.back(), 0.5, 1e-15);
  // A lattice that ends inside: what is over it is counted, and lowered to the last point.
  const CellShares inside = law.split({-0.5, 0, 0.5});
  EXPECT_GE(inside.above, 0.5);
  EXPECT_LE(inside.above_lowered, 0.5 * std::exp(-0.5) + 0.25);
}

}  // namespace
}  // namespace shoal::privacy
